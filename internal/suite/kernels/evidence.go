package kernels

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/accelgate/accelgate/internal/suite/kernels/evaluator"
	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
	"github.com/accelgate/accelgate/internal/tensor"
)

// Evidence is what a verdict rests on: what both sides computed, from what, and
// by which settings it is judged.
type Evidence struct {
	Definition *flashinfer.Definition
	// Reference holds the outputs of the reference and Candidate those to judge.
	// For [evaluator.NameSampling] Candidate holds one output of many calls,
	// [draws, rows], and the reference, a single draw, is not looked at.
	Reference, Candidate []evaluator.Output
	// Input returns the contents of an input of the definition. Only evaluators
	// of samples and of the indexer ask for any.
	Input  func(name string) (tensor.Tensor, error)
	Params evaluator.Params
	// Trials are the calls whose samples mode fib looks at for tokens that are
	// not allowed; 0 is upstream's 100. Mode strict looks at all.
	Trials int
}

// validationTrials is upstream's default of sampling_validation_trials.
const validationTrials = 100

// Judge has the evaluator of a name, one of [evaluator.Names], judge. An error
// says that the evidence is unusable, whoever computed it.
func (e Evidence) Judge(name string) (evaluator.Result, error) {
	switch name {
	case evaluator.NameSampling:
		return e.sampling()
	case evaluator.NameLowBit:
		return evaluator.LowBit(e.Reference, e.Candidate, e.Params)
	case evaluator.NameSparseAttention:
		return evaluator.SparseAttention(e.Reference, e.Candidate, e.Params)
	case evaluator.NameIndexer:
		in, err := e.indexer()
		if err != nil {
			return evaluator.Result{}, err
		}
		return evaluator.Indexer(in, e.Reference, e.Candidate, e.Params)
	}
	return evaluator.Elementwise(e.Reference, e.Candidate, e.Params)
}

// indexer gathers the inputs that scores are computed from again, which are all
// of them, in the order of the definition.
func (e Evidence) indexer() (in evaluator.IndexerInputs, err error) {
	targets := []*tensor.Tensor{&in.Query, &in.Cache, &in.Weights, &in.SeqLens, &in.BlockTable}
	if len(e.Definition.Inputs) != len(targets) {
		return in, fmt.Errorf("the definition %s has %d inputs, and a top-k indexer has %d: name the right definition or another evaluator",
			e.Definition.Name, len(e.Definition.Inputs), len(targets))
	}
	for i, from := range e.Definition.Inputs {
		if *targets[i], err = e.Input(from.Name); err != nil {
			return in, err
		}
	}
	return in, nil
}

// sampling judges draws by the probabilities that they were drawn with.
func (e Evidence) sampling() (evaluator.Result, error) {
	if len(e.Definition.Outputs) != 1 {
		return evaluator.Result{}, fmt.Errorf(
			"the definition %s has %d outputs, and samples are one: name the right definition or another evaluator", e.Definition.Name,
			len(e.Definition.Outputs))
	}
	rows, err := e.rows()
	if err != nil {
		return evaluator.Result{}, err
	}
	want := e.Definition.Outputs[0]
	if o, ok := e.deal(want, rows); !ok {
		return evaluator.Result{
			Status:  o.Status,
			Outputs: []evaluator.OutputResult{o},
			Log:     fmt.Sprintf("output %q: %s", want.Name, o.Message),
		}, nil
	}
	if e.Params.Mode == evaluator.Fib {
		for i := range rows {
			rows[i].Checked = rows[i].Samples[:min(cmp.Or(e.Trials, validationTrials), len(rows[i].Samples))]
		}
	}
	r, err := evaluator.Sampling(e.method(), rows, e.Params)
	for i := range r.Outputs {
		r.Outputs[i].Name = want.Name
	}
	return r, err
}

func (e Evidence) method() evaluator.Method { return evaluator.MethodOf(e.Definition.Name) }

// deal gives each row what was drawn of it, and says what is wrong with the
// candidate if that cannot be done.
func (e Evidence) deal(want flashinfer.Tensor, rows []evaluator.Row) (o evaluator.OutputResult, ok bool) {
	wrong := func(status evaluator.Status, format string, args ...any) (evaluator.OutputResult, bool) {
		return evaluator.OutputResult{Name: want.Name, Status: status, Message: fmt.Sprintf(format, args...), WorstFlat: -1}, false
	}
	if len(e.Candidate) != 1 || e.Candidate[0].Name != want.Name {
		return wrong(evaluator.IncorrectShape, "%d outputs, and samples are one: save %q alone", len(e.Candidate), want.Name)
	}
	t := e.Candidate[0].Tensor
	if t.DType != want.DType || !t.DType.IsInteger() {
		return wrong(evaluator.IncorrectDType, "want %s: convert before saving", want.DType)
	}
	n := t.Elements()
	if len(t.Shape) == 0 || t.Shape[len(t.Shape)-1] != len(rows) || n <= 0 {
		return wrong(evaluator.IncorrectShape, "want [draws, %d], got %d elements: save many draws of each row", len(rows), n)
	}
	flat := make([]int64, n)
	t.Ints(flat, 0)
	for i, token := range flat {
		row := &rows[i%len(rows)]
		row.Samples = append(row.Samples, token)
	}
	return o, true
}

// rows are what each row of a sampling kernel was given.
func (e Evidence) rows() ([]evaluator.Row, error) {
	probs, err := e.Input("probs")
	if err != nil {
		return nil, err
	}
	if len(probs.Shape) != 2 || probs.Shape[0] < 1 || !probs.DType.IsFloat() {
		return nil, fmt.Errorf("the input probs is %s %v, and sampling needs rows of probabilities, [batch_size, vocab_size]: "+
			"correct the workload, or name another evaluator", probs.DType, probs.Shape)
	}
	rows := make([]evaluator.Row, probs.Shape[0])
	for i := range rows {
		rows[i].Probs = make([]float32, probs.Shape[1])
		probs.Floats(rows[i].Probs, i*probs.Shape[1])
	}
	return rows, errors.Join(e.limits(rows, evaluator.TopK, func(r *evaluator.Row, x float64) { r.TopK = int(x) }),
		e.limits(rows, evaluator.TopP, func(r *evaluator.Row, x float64) { r.TopP = x }))
}

// limits reads what the method limits draws by: one number for all rows, or one
// for each.
func (e Evidence) limits(rows []evaluator.Row, of evaluator.Method, put func(*evaluator.Row, float64)) error {
	if m := e.method(); m != of && m != evaluator.TopKTopP {
		return nil
	}
	t, err := e.Input(string(of))
	if err != nil {
		return err
	}
	values := numbers(t)
	if len(values) != 1 && len(values) != len(rows) {
		return fmt.Errorf("the input %s holds %d numbers for %d rows: correct the workload", of, len(values), len(rows))
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
