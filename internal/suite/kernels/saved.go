package kernels

import (
	"fmt"
	"slices"
	"sync"

	"github.com/accelgate/accelgate/internal/suite/kernels/evaluator"
	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
	"github.com/accelgate/accelgate/internal/tensor"
	"github.com/accelgate/accelgate/internal/tensor/safetensors"
)

const (
	maxTensors = 8 << 30 // bytes of a file, which is held in memory
	maxDraws   = 1 << 30 // bytes of samples
)

// Saved names safetensors files: a kernel's outputs, and the ones that judge them.
type Saved struct {
	Reference string // outputs of the reference; not read for samples
	Candidate string // outputs to judge, from anywhere
	Inputs    string // for the evaluators that need them; "" elsewhere
}

// Judge reads the files and has the evaluator of that name judge them by params.
func (s Saved) Judge(d *flashinfer.Definition, name string, params evaluator.Params) (r evaluator.Result, err error) {
	evidence := Evidence{Definition: d, Params: params, Input: inputsOf(d, s.Inputs)}
	if name == evaluator.NameSampling { // a single draw of the reference says nothing of samples
		evidence.Candidate, err = readDraws(d, s.Candidate)
	} else if evidence.Reference, err = readReference(d, s.Reference); err == nil {
		evidence.Candidate, err = readCandidate(s.Candidate, evidence.Reference)
	}
	if err != nil {
		return r, err
	}
	return evidence.Judge(name)
}

// readReference returns the outputs of the reference in the definition's
// order. They must be those of the definition.
func readReference(d *flashinfer.Definition, path string) ([]evaluator.Output, error) {
	file, err := safetensors.Read(path, maxTensors)
	if err != nil {
		return nil, fmt.Errorf("reference: %w", err)
	}
	sizes := axisSizes{}
	outputs := make([]evaluator.Output, 0, len(d.Outputs))
	for _, o := range d.Outputs {
		t, err := typed(file, o)
		if err == nil {
			err = sizes.fit(d, o, t)
		}
		if err != nil {
			return nil, fmt.Errorf("reference %s: output %q: %w", path, o.Name, err)
		}
		outputs = append(outputs, evaluator.Output{Name: o.Name, Tensor: t})
	}
	for _, name := range file.Names() {
		if !slices.ContainsFunc(d.Outputs, func(o flashinfer.Tensor) bool { return o.Name == name }) {
			return nil, fmt.Errorf(
				"reference %s: %.80q is not an output of the definition %s: save its outputs only, or name the right definition", path,
				name, d.Name)
		}
	}
	return outputs, nil
}

// typed returns a tensor of a file as the definition's. Numbers of four bits
// travel as bytes.
func typed(file *safetensors.File, want flashinfer.Tensor) (tensor.Tensor, error) {
	t, err := file.Tensor(want.Name)
	if err == nil && want.DType == tensor.Float4E2M1 && t.DType == tensor.Uint8 {
		t, err = t.AsFloat4()
	}
	return t, err
}

// axisSizes are the sizes of axes as far as tensors have shown them.
type axisSizes map[string]int

// fit checks a tensor by the definition: its format, and its shape by constant
// axes and by those that earlier tensors have.
func (s axisSizes) fit(d *flashinfer.Definition, want flashinfer.Tensor, got tensor.Tensor) error {
	if got.DType != want.DType {
		return fmt.Errorf("it is %s, and the definition %s has %s: name the right definition, or save it as that", got.DType, d.Name,
			want.DType)
	}
	if len(got.Shape) != len(want.Shape) {
		return fmt.Errorf("it has %d axes, and the definition %s has %d: name the right definition", len(got.Shape), d.Name,
			len(want.Shape))
	}
	for i, axis := range want.Shape {
		size, known := s[axis]
		for _, a := range d.Axes {
			if a.Name == axis && a.Const {
				size, known = a.Value, true
			}
		}
		if known && size != got.Shape[i] {
			return fmt.Errorf("its axis %d has the size %d, and %s is %d: name the right definition, or run the reference again", i,
				got.Shape[i], axis, size)
		}
		s[axis] = got.Shape[i]
	}
	return nil
}

// readCandidate returns all tensors of a file that anybody may have written.
// One of unknown number format is judged by that.
func readCandidate(path string, reference []evaluator.Output) ([]evaluator.Output, error) {
	size := int64(0)
	for _, o := range reference {
		size += int64(len(o.Tensor.Data))
	}
	return readOutputs(path, min(8*size+safetensors.MaxHeader+1<<20, maxTensors), reference)
}

// readDraws is readCandidate for one output of many calls, which no reference
// bounds.
func readDraws(d *flashinfer.Definition, path string) ([]evaluator.Output, error) {
	var unknown []evaluator.Output
	for _, o := range d.Outputs {
		unknown = append(unknown, evaluator.Output{Name: o.Name})
	}
	return readOutputs(path, maxDraws, unknown)
}

func readOutputs(path string, limit int64, reference []evaluator.Output) ([]evaluator.Output, error) {
	file, err := safetensors.Read(path, limit)
	if err != nil {
		return nil, fmt.Errorf("candidate: %w", err)
	}
	var outputs []evaluator.Output
	for _, name := range file.Names() {
		t, err := file.Tensor(name)
		if i := slices.IndexFunc(reference, func(o evaluator.Output) bool { return o.Name == name }); i >= 0 {
			want := reference[i].Tensor
			if four, err4 := t.AsFloat4(); err4 == nil && want.DType == tensor.Float4E2M1 {
				t = four
			}
			if err != nil {
				t = tensor.Tensor{DType: "unknown", Shape: want.Shape}
			}
		}
		outputs = append(outputs, evaluator.Output{Name: name, Tensor: t})
	}
	return outputs, nil
}

// inputsOf returns what finds inputs in a file, which is read when the first one
// is asked for.
func inputsOf(d *flashinfer.Definition, path string) func(name string) (tensor.Tensor, error) {
	read := sync.OnceValues(func() (map[string]tensor.Tensor, error) { return inputTensors(d, path) })
	return func(name string) (tensor.Tensor, error) {
		inputs, err := read()
		if err != nil {
			return tensor.Tensor{}, err
		}
		t, ok := inputs[name]
		if !ok {
			return t, fmt.Errorf("inputs %s: %.80q is missing: save all inputs of the definition %s, or name the right one", path, name,
				d.Name)
		}
		return t, nil
	}
}

// inputTensors returns the inputs of a file that a definition has; those that
// the file has not are absent.
func inputTensors(d *flashinfer.Definition, path string) (map[string]tensor.Tensor, error) {
	file, err := safetensors.Read(path, maxTensors)
	if err != nil {
		return nil, fmt.Errorf("inputs: %w", err)
	}
	sizes, inputs := axisSizes{}, map[string]tensor.Tensor{}
	for _, in := range d.Inputs {
		if !slices.Contains(file.Names(), in.Name) {
			continue
		}
		t, err := typed(file, in)
		if err == nil {
			err = sizes.fit(d, in, t)
		}
		if err != nil {
			return nil, fmt.Errorf("inputs %s: %q: %w", path, in.Name, err)
		}
		inputs[in.Name] = t
	}
	return inputs, nil
}
