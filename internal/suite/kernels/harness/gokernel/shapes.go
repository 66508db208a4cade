package gokernel

import (
	"slices"

	"github.com/accelgate/accelgate/internal/tensor"
)

// norm returns the parts of a norm, the weight as numbers.
func (c call) norm() (x tensor.Tensor, weight []float32, out tensor.Tensor, err error) {
	x, w, out := c.in[0], c.in[len(c.in)-1], c.out[0]
	ok := len(x.Shape) > 0 && len(w.Shape) == 1 && x.Shape[len(x.Shape)-1] == w.Shape[0] &&
		slices.Equal(x.Shape, c.in[len(c.in)-2].Shape) && slices.Equal(x.Shape, out.Shape) && floats(append(c.in, out)...)
	if !ok {
		return x, nil, out, misfit("a norm", append(c.in, c.out...)...)
	}
	return x, all(w), out, nil
}

func (c call) product() (p product, err error) {
	a, b, out := c.in[0], c.in[1], c.out[0]
	if len(a.Shape) != 2 || len(b.Shape) != 2 || a.Shape[1] != b.Shape[1] || !slices.Equal(out.Shape, []int{a.Shape[0], b.Shape[0]}) ||
		!floats(a, b, out) {
		return p, misfit("gemm", a, b, out)
	}
	return product{m: a.Shape[0], n: b.Shape[0], k: a.Shape[1], a: all(a), b: b, c: out}, nil
}

func floats(tensors ...tensor.Tensor) bool {
	return !slices.ContainsFunc(tensors, func(t tensor.Tensor) bool { return !t.DType.IsFloat() })
}

// all returns the numbers of a tensor of floating point numbers.
func all(t tensor.Tensor) []float32 {
	numbers := make([]float32, t.Elements())
	t.Floats(numbers, 0)
	return numbers
}

// whole returns the numbers of a tensor of integers.
func whole(t tensor.Tensor) []int64 {
	numbers := make([]int64, t.Elements())
	t.Ints(numbers, 0)
	return numbers
}

func isVector(t tensor.Tensor, n int) bool { return len(t.Shape) == 1 && t.Shape[0] == n }
