package flashinfer

import "github.com/accelgate/accelgate/internal/tensor"

// Definition describes what a kernel computes.
type Definition struct {
	Name        string
	OpType      string
	Description string
	Axes        []Axis   // in the file's order
	Inputs      []Tensor // in call order
	Outputs     []Tensor
	Reference   string // Python text with a top-level def run
	Tags        []string
	Constraints []string // see [Definition.CheckConstraints]

	Place Place // of the file; zero if it was not read from one
}

// Axis is a named size: constant, or given by each workload.
type Axis struct {
	Name        string
	Const       bool
	Value       int // if Const
	Description string
}

// Tensor is an input or an output. Scalar is a Python scalar, whose shape is
// null in the file; an empty Shape is a tensor of one element.
type Tensor struct {
	Name        string
	Scalar      bool
	Shape       []string // names of axes
	DType       tensor.DType
	Description string
	Optional    bool // an input that may be None; some files say so, upstream ignores it
}

// Solution is an implementation of a definition.
type Solution struct {
	Name, Definition, Author, Description string
	Language                              string // python, triton, cpp, cuda, tilelang, and our own: c, go, cutedsl, hip
	TargetHardware                        []string
	EntryPoint                            string // "<file>::<symbol>"
	Dependencies                          []string
	DestinationPassing                    bool // outputs are allocated by the caller and come last
	Binding                               string
	Sources                               []Source

	Place Place // of the file; zero if it was not read from one
}

// Source is a file of a solution.
type Source struct{ Path, Content string }

// Workload is one point of a definition: sizes and inputs.
type Workload struct {
	UUID   string
	Axes   map[string]int
	Inputs map[string]Input
}

// Input describes where an input comes from.
type Input struct {
	Type      string  // [Random], [Scalar] or [Safetensors]
	Value     float64 // scalar
	Bool      bool    // scalar that is a truth value, then Value is 0 or 1
	Path      string  // safetensors: relative to the dataset's root
	TensorKey string
}

// The types of [Input].
const (
	Random      = "random"
	Scalar      = "scalar"
	Safetensors = "safetensors"
)

// axis returns the named axis, or nil.
func (d *Definition) axis(name string) *Axis {
	for i := range d.Axes {
		if d.Axes[i].Name == name {
			return &d.Axes[i]
		}
	}
	return nil
}

// tensor returns the named input or output, or nil.
func (d *Definition) tensor(name string) *Tensor {
	for _, list := range [][]Tensor{d.Inputs, d.Outputs} {
		for i := range list {
			if list[i].Name == name {
				return &list[i]
			}
		}
	}
	return nil
}
