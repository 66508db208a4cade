package flashinfer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/accelgate/accelgate/internal/text"
)

// ordered is a JSON object that keeps the order of its members.
type ordered []field

type field struct {
	key   string
	value any
}

// MarshalJSON writes the members in order.
func (o ordered) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, f := range o {
		if i > 0 {
			b = append(b, ',')
		}
		key, err := compact(f.key)
		if err != nil {
			return nil, err
		}
		value, err := compact(f.value)
		if err != nil {
			return nil, err
		}
		b = append(append(append(b, key...), ':'), value...)
	}
	return append(b, '}'), nil
}

// add appends a member that is not empty.
func (o *ordered) add(key, text string) {
	if text != "" {
		*o = append(*o, field{key, text})
	}
}

func (o *ordered) addList(key string, list []string) {
	if len(list) > 0 {
		*o = append(*o, field{key, list})
	}
}

// compact writes JSON without spaces, and <, > and & as they are.
func compact(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), newline), nil
}

// indented writes a file as upstream does: two spaces, and only what is set.
func indented(o ordered) ([]byte, error) {
	text, err := compact(o)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

// EncodeDefinition returns the file of a definition, which [ParseDefinition]
// reads back as the same. It is an error if that would refuse it.
func EncodeDefinition(d *Definition) ([]byte, error) {
	o := ordered{{"name", d.Name}, {"op_type", d.OpType}}
	o.add("description", d.Description)
	o.addList("tags", d.Tags)
	var axes ordered
	for _, a := range d.Axes {
		axes = append(axes, field{a.Name, a.fields()})
	}
	o = append(o, field{"axes", axes})
	o.addList("constraints", d.Constraints)
	o = append(o, field{"inputs", tensorFields(d.Inputs)}, field{"outputs", tensorFields(d.Outputs)}, field{"reference", d.Reference})
	text, err := indented(o)
	if err == nil {
		_, err = ParseDefinition("definition "+d.Name, text)
	}
	return text, err
}

func (a *Axis) fields() ordered {
	o := ordered{{"type", "var"}}
	if a.Const {
		o = ordered{{"type", "const"}, {"value", a.Value}}
	}
	o.add("description", a.Description)
	return o
}

func tensorFields(tensors []Tensor) ordered {
	all := ordered{}
	for _, t := range tensors {
		o := ordered{{"shape", nil}, {"dtype", t.DType}}
		if !t.Scalar {
			o[0].value = append([]string{}, t.Shape...)
		}
		o.add("description", t.Description)
		if t.Optional {
			o = append(o, field{"optional", true})
		}
		all = append(all, field{t.Name, o})
	}
	return all
}

// maxLog is how much of a log upstream keeps.
const maxLog = 5 << 20

// EncodeTrace returns one line of a workload or trace file, without a line
// break: compact, with all fields, readable by upstream. Suspect and Inconclusive are
// written as a runtime error, whose reason the log must hold already. It is an error to
// write a skipped case, or what [ParseTrace] would refuse.
func EncodeTrace(t *Trace) ([]byte, error) {
	o := ordered{{"definition", t.Definition}, {"workload", t.Workload.fields()}, {"solution", nil}, {"evaluation", nil}}
	if t.Solution != "" {
		o[2].value = t.Solution
	}
	if t.Evaluation != nil {
		if t.Evaluation.Status == Skipped {
			return nil, errors.New("encode trace: a skipped case has no trace: report it elsewhere")
		}
		o[3].value = t.Evaluation.fields()
	}
	line, err := compact(o)
	if err == nil {
		_, err = ParseTrace(Place{Path: fmt.Sprintf("trace of %s, %s, %s", t.Definition, t.Solution, t.Workload.UUID)}, line)
	}
	if err != nil {
		return nil, fmt.Errorf("encode trace: %w", err)
	}
	return line, nil
}

func (w *Workload) fields() ordered {
	inputs := make(map[string]ordered, len(w.Inputs))
	for name, in := range w.Inputs {
		inputs[name] = in.fields()
	}
	axes := w.Axes
	if axes == nil {
		axes = map[string]int{}
	}
	return ordered{{"axes", axes}, {"inputs", inputs}, {"uuid", w.UUID}}
}

func (in Input) fields() ordered {
	o := ordered{{"type", in.Type}}
	switch {
	case in.Type == Scalar && in.Bool:
		o = append(o, field{"value", in.Value != 0})
	case in.Type == Scalar:
		o = append(o, field{"value", in.Value})
	case in.Type == Safetensors:
		o = append(o, field{"path", in.Path}, field{"tensor_key", in.TensorKey})
	}
	return o
}

func (e *Evaluation) fields() ordered {
	status, gate := e.Status, e.Gate
	if status == Suspect || status == Inconclusive {
		marked := Gate{}
		if gate != nil {
			marked = *gate
		}
		marked.Status = e.Status
		status, gate = RuntimeError, &marked
	}
	libs := e.Environment.Libs
	if libs == nil {
		libs = map[string]string{}
	}
	o := ordered{
		{"status", status},
		{"environment", ordered{{"hardware", e.Environment.Hardware}, {"libs", libs}}},
		{"timestamp", e.Timestamp}, {"log", cut(e.Log)}, {"correctness", nil}, {"performance", nil},
	}
	if c := e.Correctness; c != nil {
		o[4].value = ordered{
			{"max_relative_error", number(c.MaxRelativeError)},
			{"max_absolute_error", number(c.MaxAbsoluteError)},
			{"extra", c.Extra},
		}
	}
	if p := e.Performance; p != nil {
		o[5].value = ordered{
			{"latency_ms", p.LatencyMS},
			{"reference_latency_ms", p.ReferenceLatencyMS},
			{"speedup_factor", p.SpeedupFactor},
		}
	}
	if gate != nil {
		o = append(o, field{"gate", gate})
	}
	return o
}

// number writes what JSON has no number for as pydantic does.
func number(v float64) any {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 1):
		return "Infinity"
	}
	return v
}

// cut keeps the beginning of a log, as upstream does.
func cut(log string) string {
	if len(log) <= maxLog {
		return log
	}
	return text.Cut(log, maxLog) + "\n[log truncated]"
}
