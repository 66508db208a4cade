package kernels

import (
	"maps"
	"slices"

	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
	"github.com/accelgate/accelgate/internal/suite/kernels/harness"
	"github.com/accelgate/accelgate/internal/tensor"
)

// traffic returns how many bytes a call reads and writes at least: all inputs and
// outputs. It is 0 where whole numbers among the inputs may choose what is read,
// or where nothing says that all of it is.
func traffic(c harness.Case) (n int) {
	for _, in := range c.Inputs {
		if in.Shape != nil && (!in.DType.IsFloat() || in.Dist != harness.ByDType) {
			return 0
		}
		n += size(in.DType, in.Shape)
	}
	for _, out := range c.Outputs {
		n += size(out.DType, out.Shape)
	}
	return n
}

func size(d tensor.DType, shape []int) int {
	if shape == nil {
		return 0
	}
	return d.Size(max(0, tensor.Tensor{Shape: shape}.Elements()))
}

const (
	oddCases    = 2
	oddElements = 1 << 22 // of all inputs and outputs
)

// odd returns cases of other shapes, within the constraints of the definition:
// each axis that is variable has an odd size, or 1. There are none if tensors come
// from files, whose shapes are given.
func (s *Suite) odd(p *point, c harness.Case) (cases []harness.Case) {
	d := p.definition
	if slices.ContainsFunc(c.Inputs, func(in harness.Input) bool {
		return in.File != nil || in.Dist != harness.ByDType || in.Shape != nil && !in.DType.IsFloat()
	}) {
		return nil
	}
	for _, size := range []int{37, 13, 1, 3, 5, 7, 111, 129} {
		w := *p.workload
		w.Axes = maps.Clone(w.Axes)
		for name := range w.Axes {
			w.Axes[name] = size
		}
		if maps.Equal(w.Axes, p.workload.Axes) || len(cases) == oddCases {
			continue
		}
		if other, ok := s.reshaped(d, &w, c); ok {
			cases = append(cases, other)
		}
	}
	return cases
}

// reshaped is a case at other sizes, if the definition allows them.
func (s *Suite) reshaped(d *flashinfer.Definition, w *flashinfer.Workload, c harness.Case) (harness.Case, bool) {
	shapes, err := d.Shapes(w)
	if err != nil || d.CheckConstraints(w.Axes, shapes, func(string) (int64, error) { return 0, nil }) != nil {
		return c, false
	}
	c.Inputs, c.Outputs, c.Odd, c.Bytes = slices.Clone(c.Inputs), slices.Clone(c.Outputs), nil, 0
	elements := 0
	for i := range c.Inputs {
		if c.Inputs[i].Shape != nil {
			c.Inputs[i].Shape = shapes[c.Inputs[i].Name]
			elements += max(0, tensor.Tensor{Shape: c.Inputs[i].Shape}.Elements())
		}
	}
	for i, out := range d.Outputs {
		if !out.Scalar {
			c.Outputs[i].Shape = shapes[out.Name]
			elements += max(0, tensor.Tensor{Shape: c.Outputs[i].Shape}.Elements())
		}
	}
	return c, elements <= oddElements
}
