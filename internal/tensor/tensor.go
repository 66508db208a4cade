// Package tensor holds the number formats that tensors are stored in: their
// sizes, their values, and the random numbers that they are filled with. It
// converts single numbers, whole runs of a [Tensor], and blocks of eight-bit
// integers; it computes nothing with them and opens no files.
//
// Everything here gives the same bits on every platform.
package tensor

import (
	"fmt"
	"math"
	"slices"
)

// Tensor is an array of numbers, contiguous, the last axis running fastest. A
// nil Shape is a scalar of Python; an empty one a tensor of one element.
//
// A tensor that came from outside is checked by [Tensor.Validate] first. The
// other methods never read or write beyond Data, whatever Shape says. They may
// be called concurrently unless one of the calls writes.
type Tensor struct {
	DType DType
	Shape []int
	Data  []byte // little endian
}

// Elements returns the number of elements, 1 if there are no axes, and -1 if
// an axis is negative or the number so large that its bits cannot be counted.
func (t Tensor) Elements() int {
	if slices.ContainsFunc(t.Shape, func(size int) bool { return size < 0 }) {
		return -1
	}
	if slices.Contains(t.Shape, 0) {
		return 0
	}
	n := 1
	for _, size := range t.Shape {
		if size > maxElements/n {
			return -1
		}
		n *= size
	}
	return n
}

const maxElements = math.MaxInt / 64 // the bits of so many float64 can be counted

// Validate returns an error unless Data has the size that Shape and DType ask
// for.
func (t Tensor) Validate() error {
	n := t.Elements()
	switch want := t.DType.Size(n); {
	case !t.DType.Valid():
		return fmt.Errorf("unknown number format %.20q: use one of %s", t.DType, known())
	case n < 0:
		return fmt.Errorf("%s %s has a negative axis or too many elements: correct its shape", t.DType, brief(t.Shape))
	case len(t.Data) != want:
		return fmt.Errorf("%s %s has %d bytes of data, not %d: write all of it, and nothing else", t.DType, brief(t.Shape), len(t.Data),
			want)
	}
	return nil
}

// brief prints a shape; one from outside may have thousands of axes.
func brief(shape []int) string {
	if len(shape) > 8 {
		return fmt.Sprintf("of %d axes", len(shape))
	}
	return fmt.Sprint(shape)
}

// AsFloat4 returns a tensor of bytes as the numbers of [Float4E2M1] that are
// packed in them, two per byte along the last axis. It shares Data.
func (t Tensor) AsFloat4() (Tensor, error) {
	last := len(t.Shape) - 1
	if t.DType != Uint8 || last < 0 {
		return Tensor{}, fmt.Errorf("%s %s does not hold float4_e2m1: pack it two per byte along the last axis, as uint8", t.DType,
			brief(t.Shape))
	}
	packed := Tensor{Float4E2M1, slices.Clone(t.Shape), t.Data}
	packed.Shape[last] = min(packed.Shape[last], maxElements) * 2
	return packed, packed.Validate()
}

// stored returns how many elements Shape promises and Data holds.
func (t Tensor) stored() int {
	width := t.DType.Bits()
	if width == 0 {
		return 0
	}
	return min(max(t.Elements(), 0), len(t.Data)*8/width)
}

// run returns the part of n elements that starts at from and is in t: its
// bytes, which begin with the element from, and its length. Of Float4E2M1 the
// byte that holds the element from may have the element before it as well.
func (t Tensor) run(from, n int) ([]byte, int) {
	n = min(n, t.stored()-from)
	if from < 0 || n <= 0 {
		return nil, 0
	}
	width := t.DType.Bits()
	return t.Data[from*width/8 : t.DType.Size(from+n)], n
}
