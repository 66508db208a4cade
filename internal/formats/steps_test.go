package formats_test

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/formats"
)

// within is a tolerance for tests.
type within float64

func (w within) Holds(got, want float64) bool { return math.Abs(got-want) <= float64(w) }

func tolerance(text string) (formats.Tolerance, error) {
	v, err := strconv.ParseFloat(text, 64)
	return within(v), err
}

// number reads a metric by a path and the words of its steps.
func number(t *testing.T, path, words, output, record string) (float64, bool, error) {
	t.Helper()
	reduction, err := formats.ParseSteps(strings.Split(words, ", "), tolerance)
	if err != nil {
		return 0, false, err
	}
	x, err := formats.Compile([]formats.Spec{{Metric: "m", JSON: path, Steps: reduction}})
	if err != nil {
		return 0, false, err
	}
	if err := x.Record(func(string) ([]byte, error) { return []byte(record), nil }); err != nil {
		return 0, false, err
	}
	values, _, err := x.Extract(formats.NewDocument([]byte(output)))
	if len(values) == 0 {
		return 0, false, err
	}
	return values[0].Value, true, err
}

const (
	steps = `log
{"step": 1, "ms": 90, "kind": "train"}
{"step": 2, "ms": 20, "kind": "train"}
{'loss': 3}
{"step": 3, "ms": 21, "kind": "train"}
{"step": 4, "ms": 105, "kind": "train"}
{"done": true}`
	object = `{"loss": {"10": 3.5, "2": 4, "1": 5}, "ms": [1, 2, 3, 4, 5], "layers": {"a": [{"t": 1}, {"t": 2}], "b": [{"t": 3}]}}`
)

func TestSteps(t *testing.T) {
	for _, test := range []struct {
		path, words, output string
		want                float64
	}{
		{"lines[step].ms", "skip 1, median", steps, 21},
		{"lines[step].ms", "last 3, first 2, mean", steps, 20.5},
		{"lines[step].ms", "from 2, to 3, sum", steps, 41},
		{"lines[step].ms", "at 4", steps, 105},
		{"lines[step].ms", "skip 1, outliers 5, count", steps, 0},
		{"lines[step].ms", "skip 1, outliers 4.999, count", steps, 1},
		{"lines[step].ms", "outliers 1.5, share", steps, 0.5},
		{"lines[kind=train, step].ms", "max", steps, 105},
		{"lines[step].ms", "p50", steps, 55.5},
		{"loss", "at 10", object, 3.5},
		{"loss", "last 1, max", object, 3.5}, // in the order of the steps
		{"loss", "first 1, max", object, 5},
		{"ms", "p90", object, 4.6},
		{"ms", "min", object, 1},
		{"ms[*]", "at 0", object, 1},
		{"layers[*][*].t", "sum", object, 6},
		{"layers[*][*].t", "at b/0", object, 3},
		{"loss", "count", `{"loss": {"1": 5}}`, 1},
		{"$.lines[*].a", "sum", `{"lines": [{"a": 1}, {"a": 2}]}`, 3},
		{"lines[*].a", "sum", `{"a": 7}`, 7}, // a run of one step
	} {
		if got, ok, err := number(t, test.path, test.words, test.output, ""); err != nil || !ok || math.Abs(got-test.want) > 1e-12 {
			t.Errorf("%s %s: %v, %v, %v, want %v", test.path, test.words, got, ok, err, test.want)
		}
	}
}

// TestStepsNames finds that what is missing or wrong is named, and that absent steps are no number.
func TestStepsNames(t *testing.T) {
	for _, test := range []struct{ path, words, output, want string }{
		{"lines[step].ms", "at 60", steps, "there is no step 60, only 4 steps from 1 to 4"},
		{"lines[step].ms", "skip 4, mean", steps, "skip 4 of 4 steps"},
		{"lines[step].ms", "last 5, mean", steps, "last 5 of 4 steps"},
		{"lines[step].ms", "from 2, to 9, mean", steps, "there is no step 9"},
		{"lines[*].ms", "mean", steps, "step 4 has no number"},
		{"lines[step].ms", "mean", `{"step": 1, "ms": 1}` + "\n" + `{"step": 2}`, "step 2 has no number"},
		{"lines[step].ms", "mean", `{"step": 1, "ms": 1}` + "\n" + `{"step": 2, "ms": null}`, "step 2 has no number"},
		{"lines[step].ms", "mean", `{"step": 1, "ms": 1}` + "\n" + `{"step": 2, "ms": NaN}`, "step 2: value at lines[step].ms: it is NaN"},
		{"lines[step].ms", "mean", `{"step": 1, "ms": 1}` + "\n" + `{"step": 1, "ms": 1}`, "step 1 occurs twice"},
		{"lines[step].ms", "mean", `{"step": 1, "ms": 1}` + "\n" + `{"step": 2, "ms": 1`, "line 2 of the output is no JSON object"},
		{"lines[step, rank].ms", "mean", `{"step": 1, "ms": 1}`, "element 0 has step and no rank"},
		{"loss", "mean", `{"loss": {"1": 1, "2": 1, "3": 1, "5": 1, "6": 1}}`, "step 4 is missing between 3 and 5"},
		{"loss", "mean", `{"loss": 3}`, ""},
		{"loss", "outliers 5, max", `{"loss": {"1": 1}}`, "no step is left for max"},
		{"absent", "mean", object, ""},
		{"lines[step].ms", "mean", "no JSON", ""},
	} {
		got, ok, err := number(t, test.path, test.words, test.output, "")
		switch {
		case ok:
			t.Errorf("%s %s: a number %v", test.path, test.words, got)
		case test.want == "" && err != nil, test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s %s: %v, want %q", test.path, test.words, err, test.want)
		}
	}
	for _, gap := range []string{`{"1": 1, "5": 1, "10": 1, "15": 1, "20": 1}`, `{"1": 1, "2": 1, "3": 1, "10": 1, "20": 1, "30": 1}`} {
		if _, ok, err := number(t, "loss", "mean", `{"loss": `+gap+`}`, ""); !ok || err != nil {
			t.Errorf("%s: %v", gap, err)
		}
	}
}

// TestStepsMisses compares with recorded steps by the rule of Megatron's golden values.
func TestStepsMisses(t *testing.T) {
	const golden = `{"loss": {"values": {"1": 10, "5": 9, "10": 8}}}`
	const path, words = "loss.values", "misses 0.1 golden.json, count"
	for _, test := range []struct {
		output string
		want   float64
		named  string
	}{
		{`{"loss": {"values": {"1": 10.1, "5": 9, "10": 8}}}`, 0, ""},
		{`{"loss": {"values": {"1": 10.2, "5": 9, "10": 8}}}`, 1, ""},
		{`{"loss": {"values": {"1": 10.2, "5": 8.8, "10": 0}}}`, 3, ""},
		{`{"loss": {"values": {"1": 10, "5": 9}}}`, 0, "step 10 of golden.json is missing"},
		{`{"loss": {"values": {"1": 10, "5": 9, "10": 8, "15": 7}}}`, 0, "step 15 is not in golden.json"},
	} {
		got, ok, err := number(t, path, words, test.output, golden)
		if test.named == "" && (got != test.want || !ok || err != nil) ||
			test.named != "" && (ok || err == nil || !strings.Contains(err.Error(), test.named)) {
			t.Errorf("%s: %v, %v, %v", test.output, got, ok, err)
		}
	}
	if _, _, err := number(t, path, words, golden, `{"loss": {}}`); err == nil || !strings.Contains(err.Error(), "has no such steps") {
		t.Errorf("a recorded output without the steps: %v", err)
	}
}

func TestStepsWords(t *testing.T) {
	for words, want := range map[string]string{
		"skip 3":                "add a word such as median or count after it",
		"median, skip 3":        "write it last",
		"avg":                   `unknown word "avg": use skip, first`,
		"skip -1, mean":         "write for example skip 3",
		"skip x, mean":          "write for example skip 3",
		"p101":                  "unknown word",
		"outliers 1, count":     "write for example outliers 5",
		"misses 1, count":       "write for example misses 1% golden.json",
		"share":                 "share is of outliers or misses",
		"mean of all":           "write for example mean",
		"first 1000000000, max": "write for example first 3",
	} {
		if _, err := formats.ParseSteps(strings.Split(words, ", "), tolerance); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", words, err, want)
		}
	}
	for path, want := range map[string]string{"steps[*].ms": "add steps", "steps[].ms": "in brackets", "steps[a b].ms": "in brackets"} {
		if _, err := formats.Compile([]formats.Spec{{Metric: "m", JSON: path}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

// TestPatternsReadTheLog finds numbers on standard error where the output has none, alone and for each step.
func TestPatternsReadTheLog(t *testing.T) {
	const expression = `step (?P<step>\d+): (?P<value>[\d.]+) ms`
	reduction, err := formats.ParseSteps([]string{"skip 1", "max"}, tolerance)
	if err != nil {
		t.Fatal(err)
	}
	x, err := formats.Compile([]formats.Spec{{Metric: "first", Regexp: expression}, {Metric: "max", Regexp: expression, Steps: reduction}})
	if err != nil {
		t.Fatal(err)
	}
	const lines = "step 1: 9 ms\nstep 2: 3 ms\nstep 3: 4 ms\n"
	for output, log := range map[string]string{lines: "step 1: 70 ms", "done": lines} {
		d := formats.NewDocument([]byte(output))
		d.Log = []byte(log)
		values, missing, err := x.Extract(d)
		if err != nil || len(missing) > 0 || values[0].Value != 9 || values[1].Value != 4 {
			t.Errorf("%q: %v, %v, %v", output, values, missing, err)
		}
	}
}
