package flashinfer

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
)

// ParseTrace reads one line of a workload or trace file. The place is what
// messages call it. An error is of type [Problems].
func ParseTrace(at Place, text []byte) (*Trace, error) {
	r := reader{path: at.Path}
	root, err := parse(text, at.Line)
	if err != nil {
		r.fail(value{Line: err.line}, "", "%s", err.message)
		return nil, errorOf(r.finish())
	}
	t := r.trace(root)
	return t, errorOf(r.finish())
}

// trace reads a line. A line is a workload if it has neither a solution nor an
// evaluation, and a result if it has both.
func (r *reader) trace(root value) *Trace {
	o := r.object(root, "", true, "definition", "workload", "solution", "evaluation")
	t := &Trace{Definition: o.name("definition"), Place: Place{r.path, root.Line}}
	solution, solved := o.given["solution"]
	evaluation, evaluated := o.given["evaluation"]
	if v, ok := o.required("workload"); ok {
		t.Workload = r.workload(v, evaluated)
	}
	old := false
	if solved && solution.Kind == '"' && solution.Text == "" {
		r.fail(solution, "solution", `"" is of the format of 2025-07, which is no longer read; write null`)
		old = true
	}
	if evaluated && evaluation.Kind == '{' && len(evaluation.Members) == 0 {
		r.fail(evaluation, "evaluation", "{} is of the format of 2025-07, which is no longer read; write null")
		old = true
	}
	switch {
	case old || !solved && !evaluated:
	case !solved || !evaluated:
		r.fail(root, "", "has one of solution and evaluation; write both, or null for both")
	default:
		t.Solution = o.name("solution")
		t.Evaluation = r.evaluation(evaluation)
	}
	return t
}

// evaluation reads a result. Keys that are not known are fine here: that is
// where tools keep what is theirs.
func (r *reader) evaluation(v value) *Evaluation {
	o := r.object(v, "evaluation", true, "status", "environment", "timestamp", "log", "correctness", "performance", "gate")
	e := &Evaluation{Timestamp: o.name("timestamp"), Log: o.text("log")}
	if v, ok := o.required("status"); ok {
		e.Status = Status(r.oneOf(v, "evaluation.status", upstreamStatuses))
	}
	if v, ok := o.required("environment"); ok {
		e.Environment = r.environment(v)
	}
	if v, ok := o.given["correctness"]; ok {
		e.Correctness = r.correctness(v)
	}
	if v, ok := o.given["performance"]; ok {
		e.Performance = r.performance(v)
	}
	if message := e.inconsistent(); message != "" && v.Kind == '{' {
		r.fail(v, "evaluation", "%s", message)
	}
	if v, ok := o.given["gate"]; ok {
		e.Gate = r.gate(v)
		if own := e.Gate.Status; e.Status == RuntimeError && (own == Suspect || own == Inconclusive) {
			e.Status = own
		}
	}
	return e
}

// inconsistent returns which part must be there, or must not, for the status.
func (e *Evaluation) inconsistent() string {
	if !slices.Contains(upstreamStatuses, string(e.Status)) {
		return "" // that is a complaint of its own
	}
	judged := e.Status == Passed || e.Status == IncorrectNumerical
	for _, part := range []struct {
		name        string
		want, given bool
	}{{"correctness", judged, e.Correctness != nil}, {"performance", e.Status == Passed, e.Performance != nil}} {
		switch {
		case part.want && !part.given:
			return "status " + quote(string(e.Status)) + " needs " + part.name + "; add it"
		case !part.want && part.given:
			return "status " + quote(string(e.Status)) + " has no " + part.name + "; write null for it"
		}
	}
	return ""
}

func (r *reader) environment(v value) Environment {
	o := r.object(v, "evaluation.environment", true, "hardware", "libs")
	e := Environment{Hardware: o.name("hardware")}
	if v, ok := o.given["libs"]; ok {
		e.Libs = map[string]string{}
		for _, m := range r.members(v, "evaluation.environment.libs") {
			e.Libs[m.Key] = r.text(m.Value, join("evaluation.environment.libs", m.Key))
		}
	}
	return e
}

func (r *reader) correctness(v value) *Correctness {
	const path = "evaluation.correctness"
	o := r.object(v, path, true, "max_relative_error", "max_absolute_error", "extra")
	c := &Correctness{MaxRelativeError: o.deviation("max_relative_error"), MaxAbsoluteError: o.deviation("max_absolute_error")}
	if extra, ok := o.given["extra"]; ok {
		r.members(extra, path+".extra")
		c.Extra = json.RawMessage(extra.Text)
	}
	return c
}

// deviation reads a number of at least 0, or one of the words that stand for
// what JSON has no number for. Upstream's default is 0.
func (o object) deviation(key string) float64 {
	v, ok := o.given[key]
	switch {
	case !ok:
		return 0
	case v.Kind == '"' && v.Text == "Infinity":
		return math.Inf(1)
	case v.Kind == '"' && v.Text == "NaN":
		return math.NaN()
	}
	return o.r.amount(v, join(o.path, key), `, "Infinity" or "NaN"`)
}

// amount reads a finite number of at least 0.
func (r *reader) amount(v value, path, or string) float64 {
	n, err := strconv.ParseFloat(v.Text, 64)
	if v.Kind != '0' || err != nil || n < 0 {
		r.fail(v, path, "want a number from 0 on%s, got %s; write such a one", or, describe(v))
		return 0
	}
	return n
}

func (r *reader) performance(v value) *Performance {
	o := r.object(v, "evaluation.performance", true, "latency_ms", "reference_latency_ms", "speedup_factor")
	number := func(key string) float64 {
		if v, ok := o.given[key]; ok {
			return r.amount(v, join(o.path, key), "")
		}
		return 0 // upstream's default
	}
	return &Performance{number("latency_ms"), number("reference_latency_ms"), number("speedup_factor")}
}

// gate reads what this tool wrote itself.
func (r *reader) gate(v value) *Gate {
	g := new(Gate)
	if v.Kind != '{' {
		r.members(v, "evaluation.gate") // complains
	} else if err := json.Unmarshal([]byte(v.Text), g); err != nil {
		r.fail(v, "evaluation.gate", "is not what this tool writes (%s); remove it, and the case is measured again", plain(err.Error()))
	}
	return g
}
