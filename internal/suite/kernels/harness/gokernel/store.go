package gokernel

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"

	"github.com/accelgate/accelgate/internal/suite/kernels/harness"
	"github.com/accelgate/accelgate/internal/tensor"
	"github.com/accelgate/accelgate/internal/tensor/safetensors"
)

var dtypes = []tensor.DType{
	tensor.Float64, tensor.Float32, tensor.F16, tensor.BF16, tensor.Float8E4M3FN, tensor.Float8E5M2, tensor.Float4E2M1,
	tensor.Int64, tensor.Int32, tensor.Int16, tensor.Int8, tensor.Uint8, tensor.Bool,
}

// store holds tensors by name.
type store map[string]tensor.Tensor

func (s store) make(q harness.Tensor) (r harness.TensorReply, err error) {
	t, err := s.place(q)
	if err != nil {
		return r, err
	}
	if err := fill(t, q); err != nil {
		delete(s, q.Name) // half of it may be written
		return r, err
	}
	r.Bytes = int64(len(t.Data))
	if q.Digest {
		sum := sha256.Sum256(t.Data)
		r.Digest = hex.EncodeToString(sum[:])
	}
	return r, nil
}

// place returns the tensor that a request means, which keeps its memory if it
// was there.
func (s store) place(q harness.Tensor) (tensor.Tensor, error) {
	t := tensor.Tensor{DType: q.DType, Shape: q.Shape}
	n := t.Elements()
	if n < 0 || !q.DType.Valid() {
		return t, fmt.Errorf("no tensor of %.20q has the shape %v", q.DType, q.Shape)
	}
	if old, ok := s[q.Name]; ok && old.DType == t.DType && slices.Equal(old.Shape, t.Shape) {
		return old, nil
	}
	t.Data = make([]byte, t.DType.Size(n))
	s[q.Name] = t
	return t, nil
}

func fill(t tensor.Tensor, q harness.Tensor) error {
	switch {
	case q.Random != nil:
		return random(t, *q.Random)
	case q.File != nil:
		return load(t, *q.File)
	case q.Scalar != "":
		return setScalar(t, string(q.Scalar))
	case q.Alloc != nil:
		if q.Alloc.Poison {
			poison(t.Data)
		}
		return nil
	}
	return errors.New("a tensor has no contents: set one of random, file, scalar and alloc")
}

func random(t tensor.Tensor, r harness.Random) error {
	switch {
	case r.Dist == harness.ByDType:
		return tensor.Random(t.Data, t.DType, r.Seed, 0)
	case r.Dist != harness.Probabilities || t.DType != tensor.Float32 || len(t.Shape) == 0:
		return fmt.Errorf("no random %s of shape %v has the distribution %.40q", t.DType, t.Shape, r.Dist)
	}
	p := make([]float32, t.Elements())
	if err := tensor.Probabilities(p, r.Seed, 0, t.Shape[len(t.Shape)-1]); err != nil {
		return err
	}
	t.SetFloats(p, 0)
	return nil
}

func load(t tensor.Tensor, f harness.File) error {
	file, err := safetensors.Open(f.Path)
	if err != nil {
		return err
	}
	defer file.Close()
	got, err := file.Tensor(f.Key)
	if err != nil {
		return err
	}
	if t.DType == tensor.Float4E2M1 && got.DType == tensor.Uint8 {
		if got, err = got.AsFloat4(); err != nil {
			return err
		}
	}
	if got.DType != t.DType || !slices.Equal(got.Shape, t.Shape) {
		return fmt.Errorf("%q of the file is %s%v and not %s%v", f.Key, got.DType, got.Shape, t.DType, t.Shape)
	}
	copy(t.Data, got.Data)
	return nil
}

func setScalar(t tensor.Tensor, text string) error {
	if t.Elements() != 1 {
		return fmt.Errorf("the number %.40q for a tensor of shape %v", text, t.Shape)
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && !t.DType.IsFloat() {
		t.SetInts([]int64{n}, 0)
		return nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return err
	}
	if t.DType.IsFloat() {
		t.SetFloats64([]float64{v}, 0)
		return nil
	}
	if v != math.Trunc(v) || math.Abs(v) > 1<<53 {
		return fmt.Errorf("the number %.40q for a tensor of %s", text, t.DType)
	}
	t.SetInts([]int64{int64(v)}, 0)
	return nil
}

// poisoned is what outputs are filled with. Copying is faster than a loop.
var poisoned = sync.OnceValue(func() []byte { return bytes.Repeat([]byte{0xff}, 64<<10) })

func poison(data []byte) {
	for len(data) > 0 {
		data = data[copy(data, poisoned()):]
	}
}

func (s store) get(names []string) ([]tensor.Tensor, error) {
	tensors := make([]tensor.Tensor, len(names))
	for i, name := range names {
		t, ok := s[name]
		if !ok {
			return nil, fmt.Errorf("no tensor is named %.80q", name)
		}
		tensors[i] = t
	}
	return tensors, nil
}

func (s store) release(q harness.Release) (any, error) {
	for _, name := range q.Names {
		delete(s, name)
	}
	return nil, nil
}
