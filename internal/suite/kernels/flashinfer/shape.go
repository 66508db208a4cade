package flashinfer

import (
	"fmt"
	"math"
)

// sizes returns the sizes of all axes of the definition, and complains about
// an axis that the workload does not give.
func (d *Definition) sizes(axes map[string]int) (map[string]int, error) {
	all := make(map[string]int, len(d.Axes))
	for _, a := range d.Axes {
		size, given := axes[a.Name]
		switch {
		case a.Const:
			size = a.Value
		case !given:
			return nil, fmt.Errorf("the workload does not give the axis %s of %s: add it to the workload's axes", quote(a.Name),
				quote(d.Name))
		case size < 0:
			return nil, fmt.Errorf("the workload gives the axis %s of %s as %d: write a number above 0", quote(a.Name), quote(d.Name), size)
		}
		all[a.Name] = size
	}
	return all, nil
}

// Shapes returns the sizes of all inputs and outputs with the sizes that the
// workload gives to the axes. A scalar's shape is nil, that of a tensor of one
// element empty. It is an error if an axis is not given, or if a tensor has
// more elements than can be counted.
func (d *Definition) Shapes(w *Workload) (map[string][]int, error) {
	sizes, err := d.sizes(w.Axes)
	if err != nil {
		return nil, err
	}
	shapes := make(map[string][]int, len(d.Inputs)+len(d.Outputs))
	for _, tensors := range [][]Tensor{d.Inputs, d.Outputs} {
		for _, t := range tensors {
			if shapes[t.Name], err = t.resolve(sizes); err != nil {
				return nil, fmt.Errorf("%s of %s: %w", quote(t.Name), quote(d.Name), err)
			}
		}
	}
	return shapes, nil
}

// maxElements leaves room for eight bytes each.
const maxElements = math.MaxInt64 / 8

func (t *Tensor) resolve(sizes map[string]int) ([]int, error) {
	if t.Scalar {
		return nil, nil
	}
	shape, elements := make([]int, len(t.Shape)), 1
	for i, axis := range t.Shape {
		size, ok := sizes[axis]
		if !ok {
			return nil, fmt.Errorf("%s is none of the axes: add it to the definition", quote(axis))
		}
		shape[i] = size
		if size > 0 && elements > maxElements/size {
			return nil, fmt.Errorf("has more elements than can be counted: make the workload's axes smaller")
		}
		elements *= max(size, 1)
	}
	return shape, nil
}

// Reduction is the number of terms in the longest sum that the definition may
// hold, as far as it says: its largest constant axis. A definition does not
// tell which axes are contracted.
func (d *Definition) Reduction() (n int) {
	for _, a := range d.Axes {
		if a.Const {
			n = max(n, a.Value)
		}
	}
	return n
}
