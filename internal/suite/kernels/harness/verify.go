package harness

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strconv"

	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/suite/kernels/evaluator"
	"github.com/accelgate/accelgate/internal/tensor"
	"github.com/accelgate/accelgate/internal/tensor/safetensors"
)

const (
	// remarkable is the speedup from which on a solution must also be right for
	// inputs of other sizes.
	remarkable = 10
	// scaledBytes bounds the inputs of a set that are scaled.
	scaledBytes = 256 << 20
)

// scales multiply random inputs, whose variance is 1.
var scales = []float64{1e-3, 3, 1e3}

// verify has solutions with a remarkable speedup compute from inputs of other
// magnitudes and of odd shapes: a result that holds only where the variance is 1,
// or the sizes are even, is wrong. A single magnitude decides nothing, because
// functions saturate.
func (p *trialProtocol) verify(ctx context.Context) error {
	if p.NoBaseline || p.callTime(p.reference) < remarkable*p.callTime(p.solution) {
		return nil
	}
	original := p.Case
	defer func() { p.Case, p.scale = original, 0 }()
	for _, c := range original.Odd {
		p.Case = c
		p.Case.Secret = original.Secret
		if err := p.setUpAnew(ctx); err != nil {
			return err
		}
		if err := p.again(ctx); err != nil || p.Status != "" {
			p.explain("with the shapes %v", c.shapes())
			return err
		}
	}
	p.Case = original
	if len(original.Odd) > 0 {
		if err := p.setUpAnew(ctx); err != nil {
			return err
		}
	}
	return p.verifyScales(ctx)
}

func (p *trialProtocol) verifyScales(ctx context.Context) error {
	wrong, status, at := 0, evaluator.Status(""), 0.0
	for _, p.scale = range scales {
		if !p.scalable() {
			continue
		}
		if err := p.again(ctx); err != nil {
			p.explain("with inputs times %g", p.scale)
			return err
		}
		if p.Status != "" {
			wrong, status, at = wrong+1, p.Status, p.scale
		}
		p.Status = ""
	}
	if wrong > 1 {
		p.Status = status
		p.explain("with inputs times %g", at)
	}
	return nil
}

func (p *trialProtocol) explain(format string, what any) {
	if p.Status != "" && p.Status != evaluator.Passed {
		p.Reason = fmt.Sprintf(
			"it is more than %d times as fast as the reference, and wrong "+format+": compute from the inputs as they are", remarkable,
			what)
	}
}

// again has both sides compute new inputs, and judges them.
func (p *trialProtocol) again(ctx context.Context) error {
	trial := p.content()
	wanted, err := p.compute(ctx, p.reference, trial)
	if err != nil || p.scale != 0 && !ordinary(wanted) {
		return err
	}
	got, err := p.compute(ctx, p.solution, trial)
	for set := 0; err == nil && set < len(got); set++ {
		err = p.judge(Pair{Trial: trial, Set: set, Other: true, Reference: wanted[set], Solution: got[set]})
	}
	return err
}

// scalable reports whether inputs of this case can be other than they are.
func (p *trialProtocol) scalable() bool {
	bytes, floats := 0, false
	for _, in := range p.Inputs {
		if !in.random() || !in.DType.IsFloat() {
			continue
		}
		if in.Dist != ByDType || in.DType.Bits() < 16 {
			return false
		}
		floats = true
		bytes += in.DType.Size(max(0, tensor.Tensor{Shape: in.Shape}.Elements()))
	}
	return floats && bytes <= scaledBytes
}

// ordinary reports whether outputs are finite, and large enough for their format
// to hold them with all its digits.
func ordinary(sets [][]evaluator.Output) bool {
	for _, set := range sets {
		for _, o := range set {
			if !o.Tensor.DType.IsFloat() {
				continue
			}
			values := make([]float64, o.Tensor.Elements())
			o.Tensor.Floats64(values, 0)
			for i, v := range values {
				values[i] = math.Abs(v)
			}
			if m := stats.Median(values); !(m <= math.MaxFloat32) || o.Tensor.DType == tensor.F16 && m < 0x1p-8 ||
				o.Tensor.DType.Bits() < 16 {
				return false
			}
			for _, v := range values {
				if !(v <= math.MaxFloat64) {
					return false
				}
			}
		}
	}
	return true
}

// scaledFile writes a random input times the scale to a file.
func (p *trialProtocol) scaledFile(s *side, in Input, trial, set int) (Tensor, error) {
	t, err := p.Random(in, trial, set)
	if err != nil {
		return Tensor{}, err
	}
	values := make([]float64, t.Elements())
	t.Floats64(values, 0)
	for i := range values {
		values[i] *= p.scale
	}
	t.SetFloats64(values, 0)
	s.files++
	path := filepath.Join(s.dir, "in"+strconv.Itoa(s.files)+".safetensors")
	q := Tensor{Name: nameOf(in, set), DType: in.DType, Shape: in.Shape, File: &File{Path: path, Key: "x"}}
	return q, safetensors.Write(path, []safetensors.Named{{Name: "x", Tensor: t}})
}

func (c Case) shapes() map[string][]int {
	shapes := map[string][]int{}
	for _, in := range c.Inputs {
		if in.Shape != nil {
			shapes[in.Name] = in.Shape
		}
	}
	return shapes
}
