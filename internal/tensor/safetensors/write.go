package safetensors

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/accelgate/accelgate/internal/atomicfile"
	"github.com/accelgate/accelgate/internal/tensor"
)

// Named is a tensor of a file.
type Named struct {
	Name   string
	Tensor tensor.Tensor
}

// order has the formats as the original orders them: those of large numbers
// first, so that all are aligned.
var order = []string{"I64", "F64", "F32", "I32", "BF16", "F16", "I16", "F8_E4M3", "F8_E5M2", "I8", "U8", "BOOL"}

// Write replaces the file at path as a whole, as [atomicfile.Write] does. While
// it runs it holds a second copy of the data.
func Write(path string, tensors []Named) error {
	var file bytes.Buffer
	size := 0
	for _, t := range tensors {
		size += len(t.Tensor.Data) + 256 // and its part of the header
	}
	file.Grow(size)
	if err := Encode(&file, tensors); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return atomicfile.Write(path, file.Bytes())
}

// Encode writes a file to w without copying the data. The same tensors give the
// same bytes, in whatever order they come: they are sorted by format and name,
// as in the original. Float4E2M1 is written as bytes, see [tensor.DType.Safetensors].
// Tensors that are not valid, names that are no UTF-8 or occur twice are errors,
// and then nothing is written.
func Encode(w io.Writer, tensors []Named) error {
	sorted, err := prepare(tensors)
	if err != nil {
		return err
	}
	header, err := encodeHeader(sorted)
	if err != nil {
		return err
	}
	if _, err := w.Write(header); err != nil {
		return err
	}
	for _, t := range sorted {
		if _, err := w.Write(t.Tensor.Data); err != nil {
			return err
		}
	}
	return nil
}

func prepare(tensors []Named) ([]Named, error) {
	sorted := slices.Clone(tensors)
	names := map[string]bool{"__metadata__": true}
	for i := range sorted {
		t := &sorted[i]
		err := t.Tensor.Validate()
		switch {
		case !utf8.ValidString(t.Name):
			err = errors.New("its name is not UTF-8: rename it")
		case names[t.Name]:
			err = errors.New("its name is taken: rename it")
		case err == nil && t.Tensor.DType == tensor.Float4E2M1:
			t.Tensor, err = packed(t.Tensor)
		}
		if err != nil {
			return nil, fmt.Errorf("tensor %.80q: %w", t.Name, err)
		}
		names[t.Name] = true
	}
	slices.SortFunc(sorted, func(a, b Named) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Name, b.Name))
	})
	return sorted, nil
}

func rank(t Named) int { return slices.Index(order, t.Tensor.DType.Safetensors()) }

// packed returns numbers of four bits as the bytes that hold them.
func packed(t tensor.Tensor) (tensor.Tensor, error) {
	last := len(t.Shape) - 1
	if last < 0 || t.Shape[last]%2 != 0 {
		return tensor.Tensor{}, errors.New("float4_e2m1 is saved two per byte along the last axis: make that even")
	}
	shape := slices.Clone(t.Shape)
	shape[last] /= 2
	return tensor.Tensor{DType: tensor.Uint8, Shape: shape, Data: t.Data}, nil
}

// info is a tensor's part of the header.
type info struct {
	DType   string `json:"dtype"`
	Shape   []int  `json:"shape"`
	Offsets [2]int `json:"data_offsets"`
}

// encodeHeader returns the header with its length, padded with spaces so that
// the data begins at a multiple of eight bytes.
func encodeHeader(sorted []Named) ([]byte, error) {
	header := bytes.NewBuffer(make([]byte, lengthSize))
	at := 0
	for i, t := range sorted {
		begin := at
		at += len(t.Tensor.Data)
		shape := append([]int{}, t.Tensor.Shape...) // never null
		entry, err := json.Marshal(map[string]info{t.Name: {t.Tensor.DType.Safetensors(), shape, [2]int{begin, at}}})
		if err != nil {
			return nil, err
		}
		entry[0] = "{,"[min(i, 1)] // of the object with one member the members of one with all
		header.Write(entry[:len(entry)-1])
	}
	if len(sorted) == 0 {
		header.WriteByte('{')
	}
	header.WriteByte('}')
	header.WriteString(strings.Repeat(" ", -header.Len()&7))
	size := header.Len() - lengthSize
	if size > MaxHeader {
		return nil, fmt.Errorf("the header would have %d bytes, of which at most %d are read: write several files", size, MaxHeader)
	}
	binary.LittleEndian.PutUint64(header.Bytes(), uint64(size))
	return header.Bytes(), nil
}
