package tensor

import (
	"maps"
	"slices"
	"strings"
)

// DType is a number format, by its name in kernel definitions.
type DType string

// The formats. Float4E2M1 packs two numbers into a byte, the first in the low
// half; all others take whole bytes, little endian.
const (
	Float64      DType = "float64"
	Float32      DType = "float32"
	F16          DType = "float16"
	BF16         DType = "bfloat16"
	Float8E4M3FN DType = "float8_e4m3fn"
	Float8E5M2   DType = "float8_e5m2"
	Float4E2M1   DType = "float4_e2m1"
	Int64        DType = "int64"
	Int32        DType = "int32"
	Int16        DType = "int16"
	Int8         DType = "int8"
	Uint8        DType = "uint8"
	Bool         DType = "bool"
)

type kind uint8

const (
	float kind = iota + 1
	integer
	truth
)

type format struct {
	bits        int
	kind        kind
	safetensors string
}

// formats has the names that safetensors files use. They have no packed
// numbers under our name for them: Float4E2M1 travels as bytes.
var formats = map[DType]format{
	Float64:      {64, float, "F64"},
	Float32:      {32, float, "F32"},
	F16:          {16, float, "F16"},
	BF16:         {16, float, "BF16"},
	Float8E4M3FN: {8, float, "F8_E4M3"},
	Float8E5M2:   {8, float, "F8_E5M2"},
	Float4E2M1:   {4, float, "U8"},
	Int64:        {64, integer, "I64"},
	Int32:        {32, integer, "I32"},
	Int16:        {16, integer, "I16"},
	Int8:         {8, integer, "I8"},
	Uint8:        {8, integer, "U8"},
	Bool:         {8, truth, "BOOL"},
}

// Valid reports whether d is one of the formats above.
func (d DType) Valid() bool { return d.Bits() > 0 }

// Bits returns the bits of a number, 0 if d is unknown.
func (d DType) Bits() int { return formats[d].bits }

// IsFloat reports whether d holds floating point numbers.
func (d DType) IsFloat() bool { return formats[d].kind == float }

// IsInteger reports whether d holds integers; truth values are none.
func (d DType) IsInteger() bool { return formats[d].kind == integer }

// Size returns the bytes that n elements take, n being what [Tensor.Elements]
// returned. A last half byte counts as a whole one.
func (d DType) Size(n int) int { return (n*d.Bits() + 7) / 8 }

// Safetensors returns the format's name in safetensors files, empty if d is
// unknown. Float4E2M1 travels as U8, two numbers per byte along the last axis;
// [Tensor.AsFloat4] makes it what it was.
func (d DType) Safetensors() string { return formats[d].safetensors }

// FromSafetensors returns the format of a name in safetensors files, and
// whether there is one: some formats occur in no kernel definition.
func FromSafetensors(name string) (DType, bool) {
	for d, f := range formats {
		if f.safetensors == name && d != Float4E2M1 {
			return d, true
		}
	}
	return "", false
}

func known() string {
	var names []string
	for _, d := range slices.Sorted(maps.Keys(formats)) {
		names = append(names, string(d))
	}
	return strings.Join(names, ", ")
}
