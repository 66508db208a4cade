package kernels

import (
	"context"
	"fmt"

	"github.com/accelgate/accelgate/internal/suite/kernels/evalconfig"
	"github.com/accelgate/accelgate/internal/suite/kernels/evaluator"
	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
	"github.com/accelgate/accelgate/internal/suite/kernels/harness"
	"github.com/accelgate/accelgate/internal/tensor"
)

// judge judges the outputs of one case as they come, and keeps the results.
type judge struct {
	ctx       context.Context // of the measurement that it is part of
	suite     *Suite
	point     *point
	kase      harness.Case
	evaluator string
	command   []string // of an external one
	params    evaluator.Params
	results   []evaluator.Result
	failed    *evaluator.Result // the first that did not pass
}

func (s *Suite) newJudge(ctx context.Context, p *point, c harness.Case) (*judge, error) {
	name, command, err := evaluator.Choose(*p.definition, rules(p))
	if err != nil {
		return nil, err
	}
	return &judge{ctx: ctx, suite: s, point: p, kase: c, evaluator: name, command: command, params: Params(p.definition, p.settings)}, nil
}

// rules is the user's choice of the evaluator, if there is one.
func rules(p *point) []evaluator.Rule {
	e := p.settings.Evaluator.V
	if e.Name == "" && len(e.Command) == 0 {
		return nil
	}
	return []evaluator.Rule{{Glob: "*", Evaluator: e.Name, Command: e.Command}}
}

// Params are the settings for a definition as its evaluator takes them.
func Params(d *flashinfer.Definition, r evalconfig.Resolved) evaluator.Params {
	threshold, _ := r.TVDThreshold()
	own := map[string]evaluator.Tolerance{}
	for name, o := range r.Outputs {
		own[name] = evaluator.Tolerance{Rtol: o.Rtol.V, Atol: o.Atol.V, RequiredMatchedRatio: o.RequiredMatchedRatio.V}
	}
	return evaluator.Params{Mode: evaluator.Mode(r.Mode.V), Rtol: r.Rtol.V, Atol: r.Atol.V, RequiredMatchedRatio: r.RequiredMatchedRatio.V,
		Reduction: d.Reduction(), TVDThreshold: threshold, Outputs: own}
}

// judge implements [harness.Settings.Judge].
func (j *judge) judge(pair harness.Pair) (evaluator.Status, error) {
	r, err := j.evaluate(pair)
	if err != nil {
		return "", inputProblem{fmt.Errorf("its outputs cannot be judged: %w", err)}
	}
	if r.Status != evaluator.Passed && j.failed == nil {
		j.failed = &r
	}
	j.results = append(j.results, r)
	return r.Status, nil
}

func (j *judge) evaluate(pair harness.Pair) (evaluator.Result, error) {
	elementwise := j.evaluator == evaluator.NameElementwise || j.evaluator == evaluator.NameLowBit
	switch {
	case pair.Other && !elementwise: // it needs the inputs
		return evaluator.Result{Status: evaluator.Passed}, nil
	case j.evaluator == evaluator.NameExternal:
		return j.external(pair)
	case j.evaluator == evaluator.NameSampling && !pair.Draws:
		return j.tokens(pair)
	}
	return j.evidence(pair).Judge(j.evaluator)
}

// evidence is what a pair is judged by.
func (j *judge) evidence(pair harness.Pair) Evidence {
	return Evidence{Definition: j.point.definition, Reference: pair.Reference, Candidate: pair.Solution, Params: j.params,
		Trials: j.point.settings.SamplingTrials(),
		Input:  func(name string) (tensor.Tensor, error) { return j.input(name, pair.Trial, pair.Set) }}
}

// combined is the verdict over all pairs; ok is false if none was judged.
func (j *judge) combined() (evaluator.Result, bool) {
	if len(j.results) == 0 {
		return evaluator.Result{}, false
	}
	return evaluator.Combine(j.params.Mode, j.results...), true
}

// input returns the contents of an input, which workers had as well.
func (j *judge) input(name string, trial, set int) (t tensor.Tensor, err error) {
	for _, in := range j.kase.Inputs {
		switch {
		case in.Name != name:
		case in.Scalar != "":
			return scalar(in)
		case in.File != nil:
			from := j.point.workload.Inputs[name]
			err := j.suite.withBlob(from, func(found tensor.Tensor) error {
				t = found
				t.Data = append([]byte(nil), found.Data...) // which is unmapped
				return nil
			})
			return t, err
		default:
			return j.kase.Random(in, trial, set)
		}
	}
	return t, fmt.Errorf("the definition has no input %s, which its evaluator needs: name another evaluator for it", name)
}

// scalar is a number as a tensor without axes: int64 where the definition has
// whole numbers or truth values, float64 elsewhere.
func scalar(in harness.Input) (tensor.Tensor, error) {
	f, err := in.Scalar.Float64()
	t := tensor.Tensor{DType: tensor.Float64, Shape: []int{}, Data: make([]byte, 8)}
	if !in.DType.IsFloat() {
		t.DType = tensor.Int64
		t.SetInts([]int64{int64(f)}, 0)
		return t, err
	}
	t.SetFloats64([]float64{f}, 0)
	return t, err
}
