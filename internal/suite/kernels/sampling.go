package kernels

import (
	"errors"
	"fmt"

	"github.com/accelgate/accelgate/internal/evaluator"
	"github.com/accelgate/accelgate/internal/kernel"
	"github.com/accelgate/accelgate/internal/tensor"
)

// sampling judges what was drawn in many calls; a single call says nothing.
func (j *judge) sampling(pair kernel.Pair) (evaluator.Result, error) {
	if !pair.Draws {
		return j.tokens(pair)
	}
	rows, err := j.rows(pair.Trial, pair.Set)
	if err != nil {
		return evaluator.Result{}, err
	}
	samples, err := draws(pair.Solution, len(rows))
	if err != nil {
		return evaluator.Result{Status: evaluator.IncorrectShape, Log: err.Error()}, nil
	}
	for i := range rows {
		rows[i].Samples = samples[i]
		if j.params.Mode == evaluator.Fib { // which looks at some of them alone
			rows[i].CheckFirst()
		}
	}
	return evaluator.Sampling(evaluator.MethodOf(j.point.definition.Name), rows, j.params)
}

// tokens only looks whether what a call drew are tokens.
func (j *judge) tokens(pair kernel.Pair) (evaluator.Result, error) {
	shape := j.shape("probs") // alone: to make the numbers again in each trial costs more than to draw
	if len(shape) != 2 {
		return evaluator.Result{}, fmt.Errorf("probs has %d axes, and sampling needs two: correct the definition", len(shape))
	}
	r := evaluator.Result{Status: evaluator.Passed}
	for _, out := range pair.Solution {
		drawn := make([]int64, max(out.Tensor.Elements(), 0))
		out.Tensor.Ints(drawn, 0)
		for i, token := range drawn {
			if token < 0 || token >= int64(shape[1]) {
				r.Status = evaluator.IncorrectNumerical
				r.Log = fmt.Sprintf("row %d drew %d, which is no token of %d", i, token, shape[1])
			}
		}
	}
	return r, nil
}

// shape returns that of an input; nil if there is none.
func (j *judge) shape(name string) []int {
	for _, in := range j.kase.Inputs {
		if in.Name == name {
			return in.Shape
		}
	}
	return nil
}

// draws splits stacked outputs [draws, rows] into rows.
func draws(outputs []evaluator.Output, rows int) ([][]int64, error) {
	if len(outputs) != 1 || len(outputs[0].Tensor.Shape) != 2 || outputs[0].Tensor.Shape[1] != rows {
		return nil, fmt.Errorf("the solution drew no table of %d columns", rows)
	}
	t := outputs[0].Tensor
	flat := make([]int64, t.Elements())
	if t.Ints(flat, 0) != len(flat) {
		return nil, fmt.Errorf("the solution drew no whole numbers but %s", t.DType)
	}
	samples := make([][]int64, rows)
	for i, token := range flat {
		samples[i%rows] = append(samples[i%rows], token)
	}
	return samples, nil
}

// rows are what each row of a sampling kernel was given.
func (j *judge) rows(trial, set int) ([]evaluator.Row, error) {
	probs, err := j.input("probs", trial, set)
	if err != nil {
		return nil, err
	}
	if len(probs.Shape) != 2 || probs.Shape[0] < 1 {
		return nil, fmt.Errorf("probs has the shape %v, and sampling needs rows of probabilities: correct the workload", probs.Shape)
	}
	rows := make([]evaluator.Row, probs.Shape[0])
	for i := range rows {
		rows[i].Probs = make([]float32, probs.Shape[1])
		probs.Floats(rows[i].Probs, i*probs.Shape[1])
	}
	return rows, errors.Join(j.perRow("top_k", trial, set, rows, func(r *evaluator.Row, x float64) { r.TopK = int(x) }),
		j.perRow("top_p", trial, set, rows, func(r *evaluator.Row, x float64) { r.TopP = x }))
}

// perRow reads a parameter that is one number for all rows, or one for each; a
// definition may lack it.
func (j *judge) perRow(name string, trial, set int, rows []evaluator.Row, put func(*evaluator.Row, float64)) error {
	has := false
	for _, in := range j.kase.Inputs {
		has = has || in.Name == name
	}
	if !has {
		return nil
	}
	t, err := j.input(name, trial, set)
	if err != nil {
		return err
	}
	values := numbers(t)
	if len(values) != 1 && len(values) != len(rows) {
		return fmt.Errorf("%s holds %d numbers for %d rows: correct the workload", name, len(values), len(rows))
	}
	for i := range rows {
		put(&rows[i], values[min(i, len(values)-1)])
	}
	return nil
}

func numbers(t tensor.Tensor) []float64 {
	values := make([]float64, max(t.Elements(), 0))
	if t.DType.IsFloat() {
		t.Floats64(values, 0)
		return values
	}
	whole := make([]int64, len(values))
	t.Ints(whole, 0)
	for i, x := range whole {
		values[i] = float64(x)
	}
	return values
}

// needed is how many calls a sampling case takes; 0 for others.
func (j *judge) needed() (int, error) {
	if j.evaluator != evaluator.NameSampling {
		return 0, nil
	}
	rows, err := j.rows(0, 0)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, row := range rows {
		n = max(n, evaluator.SamplesNeeded(evaluator.MethodOf(j.point.definition.Name), row))
	}
	return n, nil
}
