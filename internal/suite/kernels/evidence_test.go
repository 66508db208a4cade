package kernels_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/kernels"
	"github.com/accelgate/accelgate/internal/suite/kernels/evaluator"
	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
	"github.com/accelgate/accelgate/internal/tensor"
)

func tensorOf(d tensor.DType, shape []int, value func(i int) float64) tensor.Tensor {
	t := tensor.Tensor{DType: d, Shape: shape}
	t.Data = make([]byte, d.Size(t.Elements()))
	for i := range t.Elements() {
		if d.IsFloat() {
			t.SetFloats64([]float64{value(i)}, i)
		} else {
			t.SetInts([]int64{int64(value(i))}, i)
		}
	}
	return t
}

// evidence is of 6,000 draws of two rows with four tokens, of which the second
// half is not allowed. One draw, number 49 of row 1, is forbidden.
func evidence(mode evaluator.Mode, topK tensor.Tensor) kernels.Evidence {
	samples := tensorOf(tensor.Int64, []int{6000, 2}, func(i int) float64 {
		if i == 2*49+1 {
			return 3
		}
		return float64(i / 2 % 2)
	})
	inputs := map[string]tensor.Tensor{"top_k": topK,
		"probs": tensorOf(tensor.Float32, []int{2, 4}, func(i int) float64 { return []float64{0.4, 0.4, 0.1, 0.1}[i%4] })}
	return kernels.Evidence{
		Definition: &flashinfer.Definition{Name: "top_k_sampling_from_probs_v4", Outputs: []flashinfer.Tensor{{Name: "drawn", DType: tensor.Int64}}},
		Candidate:  []evaluator.Output{{Name: "drawn", Tensor: samples}}, Params: evaluator.Params{Mode: mode},
		Input: func(name string) (tensor.Tensor, error) {
			t, ok := inputs[name]
			if !ok {
				return t, fmt.Errorf("no input %s: save it", name)
			}
			return t, nil
		},
	}
}

// TestValidationTrials: mode fib looks for tokens that are not allowed among the
// first calls, as many as sampling_validation_trials says; strict among all.
func TestValidationTrials(t *testing.T) {
	t.Parallel()
	both := tensorOf(tensor.Int32, []int{2}, func(int) float64 { return 2 })
	for _, c := range []struct {
		mode   evaluator.Mode
		trials int
		want   evaluator.Status
	}{
		{evaluator.Fib, 0, evaluator.IncorrectNumerical}, {evaluator.Fib, 49, evaluator.Passed}, {evaluator.Fib, 50, evaluator.IncorrectNumerical},
		{evaluator.Fib, 1_000_000, evaluator.IncorrectNumerical}, {evaluator.Strict, 1, evaluator.IncorrectNumerical},
	} {
		e := evidence(c.mode, both)
		e.Trials = c.trials
		if r, err := e.Judge(evaluator.NameSampling); err != nil || r.Status != c.want || r.Outputs[0].Name != "drawn" {
			t.Errorf("%s, %d trials: %v %+v, want %s", c.mode, c.trials, err, r, c.want)
		}
	}
}

// TestSamplingEvidence: limits are one number for all rows or one for each, and
// candidates that are no draws are judged as such.
func TestSamplingEvidence(t *testing.T) {
	t.Parallel()
	two := func(int) float64 { return 2 }
	for _, c := range []struct {
		name  string
		alter func(*kernels.Evidence)
		topK  tensor.Tensor
		want  string
	}{
		{"one limit", func(*kernels.Evidence) {}, tensorOf(tensor.Int64, []int{}, two), "PASSED"},
		{"limits for each row", func(*kernels.Evidence) {}, tensorOf(tensor.Int32, []int{2}, two), "PASSED"},
		{"limits for other rows", func(*kernels.Evidence) {}, tensorOf(tensor.Int32, []int{3}, two), "top_k holds 3 numbers for 2 rows: correct the workload"},
		{"no such output", func(e *kernels.Evidence) { e.Candidate[0].Name = "x" }, tensorOf(tensor.Int32, []int{2}, two), "INCORRECT_SHAPE"},
		{"another format", func(e *kernels.Evidence) { e.Candidate[0].Tensor.DType = tensor.Float64 }, tensorOf(tensor.Int32, []int{2}, two), "INCORRECT_DTYPE"},
		{"other rows", func(e *kernels.Evidence) { e.Candidate[0].Tensor.Shape = []int{4000, 3} }, tensorOf(tensor.Int32, []int{2}, two), "INCORRECT_SHAPE"},
		{"no draws", func(e *kernels.Evidence) { e.Candidate[0].Tensor.Shape = []int{0, 2} }, tensorOf(tensor.Int32, []int{2}, two), "INCORRECT_SHAPE"},
		{"another method", func(e *kernels.Evidence) { e.Definition.Name = "top_p_sampling" }, tensorOf(tensor.Int32, []int{2}, two), "no input top_p: save it"},
		{"two outputs", func(e *kernels.Evidence) {
			e.Definition.Outputs = append(e.Definition.Outputs, e.Definition.Outputs...)
		},
			tensorOf(tensor.Int32, []int{2}, two), "2 outputs, and samples are one"},
	} {
		e := evidence(evaluator.Fib, c.topK)
		e.Trials = 1
		c.alter(&e)
		r, err := e.Judge(evaluator.NameSampling)
		if got := string(r.Status); err == nil && got != c.want || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v %s, want %s", c.name, err, got, c.want)
		}
	}
}
