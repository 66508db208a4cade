package cli

import (
	"fmt"

	"github.com/accelgate/accelgate/internal/evaluator"
	"github.com/accelgate/accelgate/internal/flashinfer"
	"github.com/accelgate/accelgate/internal/safetensors"
	"github.com/accelgate/accelgate/internal/tensor"
)

// judgeSamples judges draws by the probabilities that they were drawn with. A
// reference is a single draw, which says nothing of them.
func (e *evaluation) judgeSamples(d *flashinfer.Definition, p evaluator.Params) (evaluator.Result, error) {
	if len(d.Outputs) != 1 {
		return evaluator.Result{}, fmt.Errorf("the definition %s has %d outputs, and samples are one: name the right definition or --evaluator",
			d.Name, len(d.Outputs))
	}
	method := evaluator.MethodOf(d.Name)
	rows, err := samplingRows(d, method, e.inputs)
	if err != nil {
		return evaluator.Result{}, err
	}
	draws, wrong, err := readDraws(d.Outputs[0], e.candidate, len(rows))
	if err != nil || wrong != nil {
		return wrongSamples(d.Outputs[0].Name, wrong), err
	}
	for i, token := range draws {
		row := &rows[i%len(rows)]
		row.Samples = append(row.Samples, token)
	}
	if p.Mode == evaluator.Fib {
		for i := range rows {
			rows[i].CheckFirst()
		}
	}
	r, err := evaluator.Sampling(method, rows, p)
	for i := range r.Outputs {
		r.Outputs[i].Name = d.Outputs[0].Name
	}
	return r, err
}

// samplingRows returns the rows of probabilities with their limits.
func samplingRows(d *flashinfer.Definition, method evaluator.Method, path string) ([]evaluator.Row, error) {
	inputs, err := inputTensors(d, path)
	if err != nil {
		return nil, err
	}
	probs, ok := inputs["probs"]
	if !ok || len(probs.Shape) != 2 || probs.Shape[0] == 0 || !probs.DType.IsFloat() {
		return nil, fmt.Errorf("inputs %s: no probabilities: save the input probs, [batch_size, vocab_size]", path)
	}
	n, vocabulary := probs.Shape[0], probs.Shape[1]
	rows := make([]evaluator.Row, n)
	for i := range rows {
		rows[i].Probs = make([]float32, vocabulary)
		probs.Floats(rows[i].Probs, i*vocabulary)
	}
	return rows, limits(rows, method, inputs, path)
}

// limits fills in top_k and top_p, which are one per row.
func limits(rows []evaluator.Row, method evaluator.Method, inputs map[string]tensor.Tensor, path string) error {
	for _, name := range []evaluator.Method{evaluator.TopK, evaluator.TopP} {
		if method != name && method != evaluator.TopKTopP {
			continue
		}
		t, ok := inputs[string(name)]
		integer := name == evaluator.TopK
		if !ok || len(t.Shape) != 1 || t.Shape[0] != len(rows) || t.DType.IsInteger() != integer {
			return fmt.Errorf("inputs %s: no %s for each of %d rows: save the input %[2]s, [batch_size]", path, name, len(rows))
		}
		for i := range rows {
			if integer {
				k := make([]int64, 1)
				t.Ints(k, i)
				rows[i].TopK = int(k[0])
				continue
			}
			p := make([]float32, 1)
			t.Floats(p, i)
			rows[i].TopP = float64(p[0])
		}
	}
	return nil
}

// finding is what is wrong with a candidate.
type finding struct {
	status  evaluator.Status
	message string
}

// readDraws returns the draws in a candidate, those of all rows next to each
// other.
func readDraws(want flashinfer.Tensor, path string, rows int) ([]int64, *finding, error) {
	file, err := safetensors.Read(path, maxDraws)
	if err != nil {
		return nil, nil, fmt.Errorf("candidate: %w", err)
	}
	names := file.Names()
	if len(names) != 1 || names[0] != want.Name {
		return nil, &finding{evaluator.IncorrectShape, fmt.Sprintf("%d outputs, and samples are one: save %q alone", len(names), want.Name)}, nil
	}
	t, err := file.Tensor(want.Name)
	if err != nil || t.DType != want.DType {
		return nil, &finding{evaluator.IncorrectDType, fmt.Sprintf("want %s: convert before saving", want.DType)}, nil
	}
	n := t.Elements()
	if len(t.Shape) == 0 || t.Shape[len(t.Shape)-1] != rows || n == 0 {
		return nil, &finding{evaluator.IncorrectShape, fmt.Sprintf("want [draws, %d], got %d elements: save many draws of each row", rows, n)}, nil
	}
	draws := make([]int64, n)
	t.Ints(draws, 0)
	return draws, nil, nil
}

func wrongSamples(name string, wrong *finding) evaluator.Result {
	if wrong == nil {
		return evaluator.Result{}
	}
	o := evaluator.OutputResult{Name: name, Status: wrong.status, Message: wrong.message, WorstFlat: -1}
	return evaluator.Result{Status: wrong.status, Outputs: []evaluator.OutputResult{o}, Log: fmt.Sprintf("output %q: %s", name, wrong.message)}
}
