package safetensors

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/accelgate/accelgate/internal/tensor"
)

// entry is a tensor of the header; its DType is empty if there is none for its
// format.
type entry struct {
	tensor.Tensor
	format     string
	begin, end int
}

// header has the tensors of a file by their names.
type header map[string]entry

// split cuts a file into its header, without the spaces that pad it, and data.
func split(file []byte) (header, data []byte, err error) {
	if len(file) < lengthSize {
		return nil, nil, fmt.Errorf("%d bytes are no safetensors file: write all of it", len(file))
	}
	size := binary.LittleEndian.Uint64(file)
	file = file[lengthSize:]
	switch {
	case size > MaxHeader:
		return nil, nil, fmt.Errorf("a header of %d bytes, of which at most %d are read: if this is a safetensors file, split it", size,
			MaxHeader)
	case size > uint64(len(file)):
		return nil, nil, fmt.Errorf("a header of %d bytes in a file that has %d: write all of it", size, len(file))
	}
	header, data = bytes.TrimRight(file[:size], " "), file[size:]
	if !bytes.HasPrefix(header, []byte("{")) || !json.Valid(header) || !utf8.Valid(header) {
		return nil, nil, errors.New("the header is not a JSON object in UTF-8: write the file with a safetensors library")
	}
	return header, data, nil
}

// parser walks the tokens of a header, which is valid JSON: encoding/json's own
// decoding takes any case for a key, and the last of two equal ones.
type parser struct{ *json.Decoder }

func parseHeader(text []byte) (header, error) {
	p := parser{json.NewDecoder(bytes.NewReader(text))}
	p.UseNumber()
	h := header{}
	err := p.object(func(name string) (err error) {
		if name == "__metadata__" {
			_, err = p.texts()
			return err
		}
		h[name], err = p.entry()
		return err
	})
	return h, err
}

// object calls member for each of an object's keys, which must differ. Errors
// name the keys that lead to them.
func (p parser) object(member func(key string) error) error {
	if token, err := p.Token(); err != nil || token != json.Delim('{') {
		return errors.New("not a JSON object: write the file with a safetensors library")
	}
	seen := map[string]bool{}
	for p.More() {
		key, err := p.text()
		if err != nil {
			return err
		}
		if seen[key] {
			return fmt.Errorf("%.80q occurs twice: give each a name of its own", key)
		}
		seen[key] = true
		if err := member(key); err != nil {
			return fmt.Errorf("%.80q: %w", key, err)
		}
	}
	_, err := p.Token()
	return err
}

func (p parser) texts() (map[string]string, error) {
	texts := map[string]string{}
	err := p.object(func(key string) (err error) {
		texts[key], err = p.text()
		return err
	})
	return texts, err
}

func (p parser) text() (string, error) {
	token, err := p.Token()
	text, ok := token.(string)
	if err != nil || !ok {
		return "", errors.New("no text: write the file with a safetensors library")
	}
	return text, nil
}

func (p parser) entry() (e entry, err error) {
	var offsets []int
	err = p.object(func(key string) (err error) {
		switch key {
		case "dtype":
			e.format, err = p.text()
		case "shape":
			e.Shape, err = p.numbers()
		case "data_offsets":
			offsets, err = p.numbers()
		default:
			err = errors.New("no part of a tensor: use dtype, shape and data_offsets")
		}
		return err
	})
	if err == nil && (e.format == "" || e.Shape == nil || len(offsets) != 2) {
		err = errors.New("dtype, shape or one of two data_offsets is missing: write the file with a safetensors library")
	}
	if err != nil {
		return entry{}, err
	}
	e.begin, e.end = offsets[0], offsets[1]
	e.DType, _ = tensor.FromSafetensors(e.format)
	if e.format == "F4" {
		e.DType = tensor.Float4E2M1
	}
	return e, nil
}

// numbers reads an array of integers that are not negative.
func (p parser) numbers() ([]int, error) {
	wrong := errors.New("no list of sizes: write integers from 0 on that fit into 63 bits")
	if token, err := p.Token(); err != nil || token != json.Delim('[') {
		return nil, wrong
	}
	list := []int{}
	for p.More() {
		token, err := p.Token()
		digits, ok := token.(json.Number)
		n, parseErr := strconv.ParseUint(string(digits), 10, strconv.IntSize-1)
		if err != nil || !ok || parseErr != nil {
			return nil, wrong
		}
		list = append(list, int(n))
	}
	_, err := p.Token()
	return list, err
}

// place gives the tensors their data, all of which must be used, in order and
// once. Tensors without elements may stand anywhere in that order.
func (h header) place(data []byte) error {
	names := slices.SortedFunc(maps.Keys(h), func(a, b string) int {
		x, y := h[a], h[b]
		return cmp.Or(cmp.Compare(x.begin, y.begin), cmp.Compare(x.end, y.end), cmp.Compare(a, b))
	})
	end := 0
	for _, name := range names {
		e := h[name]
		if e.begin != end || e.end < e.begin || e.end > len(data) {
			return fmt.Errorf(
				"tensor %.80q has the data [%d, %d) where [%d, ...) within %d bytes is next: leave no gaps, and overlap nothing", name,
				e.begin, e.end, end, len(data))
		}
		end = e.end
		e.Data = data[e.begin:e.end:e.end]
		if e.DType.Valid() {
			if err := e.Validate(); err != nil {
				return fmt.Errorf("tensor %.80q: %w", name, err)
			}
		}
		h[name] = e
	}
	if end != len(data) {
		return fmt.Errorf("%d bytes of data belong to no tensor: write nothing after the last one", len(data)-end)
	}
	return nil
}
