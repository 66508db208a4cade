package kernels

import (
	"fmt"

	"github.com/accelgate/accelgate/internal/suite/kernels/evaluator"
	"github.com/accelgate/accelgate/internal/suite/kernels/harness"
)

// samplingOp is the op type whose outputs are drawn at random.
const samplingOp = "sampling"

// tokens only looks whether what a single call drew are tokens: it says nothing
// of how often each is drawn.
func (j *judge) tokens(pair harness.Pair) (evaluator.Result, error) {
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
				r.Log = fmt.Sprintf("row %d drew %d, which is not a token of %d", i, token, shape[1])
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

// minDraws is how many calls an evaluator of the user's gets where it is
// unknown how many tokens may be drawn.
const minDraws = 5000

// needed is how many calls a sampling case takes, 0 for others: as many as a
// verdict needs, and at least sampling_validation_trials.
func (j *judge) needed() (int, error) {
	external := j.evaluator == evaluator.NameExternal && j.point.definition.OpType == samplingOp
	if j.evaluator != evaluator.NameSampling && !external {
		return 0, nil
	}
	e := j.evidence(harness.Pair{})
	rows, err := e.rows()
	if err != nil && !external {
		return 0, err
	}
	n := e.Trials
	if err != nil { // such as for logits, which only the user's evaluator judges
		n = max(n, minDraws)
	}
	for _, row := range rows {
		n = max(n, evaluator.SamplesNeeded(e.method(), row))
	}
	return n, nil
}
