package tensor_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/tensor"
)

func TestFormats(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		d           tensor.DType
		bits        int
		safetensors string
		back        tensor.DType
	}{
		{tensor.Float64, 64, "F64", tensor.Float64},
		{tensor.Float32, 32, "F32", tensor.Float32},
		{tensor.F16, 16, "F16", tensor.F16},
		{tensor.BF16, 16, "BF16", tensor.BF16},
		{tensor.Float8E4M3FN, 8, "F8_E4M3", tensor.Float8E4M3FN},
		{tensor.Float8E5M2, 8, "F8_E5M2", tensor.Float8E5M2},
		{tensor.Float4E2M1, 4, "U8", tensor.Uint8},
		{tensor.Int64, 64, "I64", tensor.Int64},
		{tensor.Int32, 32, "I32", tensor.Int32},
		{tensor.Int16, 16, "I16", tensor.Int16},
		{tensor.Int8, 8, "I8", tensor.Int8},
		{tensor.Uint8, 8, "U8", tensor.Uint8},
		{tensor.Bool, 8, "BOOL", tensor.Bool},
	} {
		back, ok := tensor.FromSafetensors(c.d.Safetensors())
		if !c.d.Valid() || c.d.Bits() != c.bits || c.d.Safetensors() != c.safetensors || back != c.back || !ok || c.d.Size(3) != (3*c.bits+7)/8 {
			t.Errorf("%s: %d bits, %q, %q", c.d, c.d.Bits(), c.d.Safetensors(), back)
		}
		name := string(c.d)
		if c.d.IsFloat() != strings.Contains(name, "float") || c.d.IsInteger() != strings.Contains(name, "int") {
			t.Errorf("%s: float %t, integer %t", c.d, c.d.IsFloat(), c.d.IsInteger())
		}
	}
	unknown := tensor.DType("float128")
	if _, ok := tensor.FromSafetensors("U64"); ok || unknown.Valid() || unknown.Bits() != 0 || unknown.Size(4) != 0 || unknown.IsFloat() || unknown.IsInteger() {
		t.Error("an unknown format is known")
	}
}

func TestElementsAndValidate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		d        tensor.DType
		shape    []int
		bytes    int
		elements int
		refusal  string // part of it; empty if there is none
	}{
		{"scalar", tensor.Float32, nil, 4, 1, ""},
		{"no axes", tensor.Int64, []int{}, 8, 1, ""},
		{"matrix", tensor.BF16, []int{3, 5}, 30, 15, ""},
		{"nothing", tensor.F16, []int{4, 0, 2}, 0, 0, ""},
		{"nothing of a huge shape", tensor.F16, []int{math.MaxInt, math.MaxInt, 0}, 0, 0, ""},
		{"half a byte", tensor.Float4E2M1, []int{3}, 2, 3, ""},
		{"short", tensor.BF16, []int{3, 5}, 29, 15, "29 bytes of data, not 30"},
		{"long", tensor.Bool, []int{2}, 3, 2, "3 bytes of data, not 2"},
		{"negative", tensor.F16, []int{-1}, 0, -1, "negative axis"},
		{"twice negative", tensor.F16, []int{-1, -4}, 8, -1, "negative axis"},
		{"negative nothing", tensor.F16, []int{-1, 0}, 0, -1, "negative axis"},
		{"overflow to zero", tensor.Int8, []int{1 << 32, 1 << 32}, 0, -1, "too many elements"},
		{"overflow to one", tensor.Int8, []int{math.MaxInt, math.MaxInt}, 1, -1, "too many elements"},
		{"overflow of bits", tensor.Int64, []int{1 << 61}, 0, -1, "too many elements"},
		{"unknown", "complex64", []int{1}, 8, 1, "unknown number format"},
		{"many axes", tensor.Int8, slices.Repeat([]int{1}, 100), 2, 1, "of 100 axes"},
	} {
		x := tensor.Tensor{DType: c.d, Shape: c.shape, Data: make([]byte, c.bytes)}
		err := x.Validate()
		if got := x.Elements(); got != c.elements || (err == nil) != (c.refusal == "") {
			t.Errorf("%s: %d elements, %v", c.name, got, err)
		}
		if err != nil && (!strings.Contains(err.Error(), c.refusal) || !strings.Contains(err.Error(), ": ")) {
			t.Errorf("%s: %v, want %q and what to do", c.name, err, c.refusal)
		}
	}
}

func TestAsFloat4(t *testing.T) {
	t.Parallel()
	packed := tensor.Tensor{DType: tensor.Uint8, Shape: []int{2, 1}, Data: []byte{0x21, 0xf7}}
	got, err := packed.AsFloat4()
	if err != nil || got.DType != tensor.Float4E2M1 || !slices.Equal(got.Shape, []int{2, 2}) || !slices.Equal(packed.Shape, []int{2, 1}) {
		t.Fatalf("got %v, %v", got, err)
	}
	values := make([]float32, 4)
	if got.Floats(values, 0); !slices.Equal(values, []float32{0.5, 1, 6, -6}) {
		t.Errorf("values %v", values)
	}
	for _, x := range []tensor.Tensor{
		{DType: tensor.Uint8, Shape: []int{}, Data: []byte{1}},
		{DType: tensor.Int8, Shape: []int{1}, Data: []byte{1}},
		{DType: tensor.Uint8, Shape: []int{2}, Data: []byte{1}},
		{DType: tensor.Uint8, Shape: []int{math.MaxInt}, Data: []byte{1}},
	} {
		if got, err := x.AsFloat4(); err == nil {
			t.Errorf("%v becomes %v", x, got)
		}
	}
}

// FuzzTensor asks for any part of any tensor, valid or not: nothing panics,
// nothing is written where nothing was asked for, and no more than there is.
func FuzzTensor(f *testing.F) {
	f.Add("float32", 2, 3, 0, 4, make([]byte, 24))
	f.Add("float4_e2m1", 3, 1, 1, 9, []byte{1, 2})
	f.Add("bool", -1, -1, 0, 4, []byte{7})
	f.Add("int64", 1<<62, 4, -5, 4, make([]byte, 8))
	f.Add("nothing", 1, 1, math.MaxInt, 4, []byte{})
	f.Fuzz(func(t *testing.T, d string, rows, columns, from, n int, data []byte) {
		n &= 63
		x := tensor.Tensor{DType: tensor.DType(d), Shape: []int{rows, columns}, Data: data}
		valid := x.Validate() == nil
		floats, ints := make([]float32, n), make([]int64, n)
		for _, got := range []int{
			x.Floats(floats, from), x.Floats64(make([]float64, n), from), x.Ints(ints, from),
			x.SetFloats(floats, from), x.SetFloats64(make([]float64, n), from), x.SetInts(ints, from),
		} {
			if got < 0 || got > n || valid && got > max(0, x.Elements()-max(from, 0)) {
				t.Errorf("%d of %d elements from %d of %s %v", got, n, from, d, x.Shape)
			}
		}
		_, _ = x.AsFloat4()
		_ = tensor.Random(data, tensor.DType(d), uint64(rows), from)
		_ = tensor.Probabilities(floats, uint64(rows), from, columns)
	})
}
