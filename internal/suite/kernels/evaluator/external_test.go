package evaluator_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/suite/kernels/evaluator"
)

func TestParseVerdict(t *testing.T) {
	t.Parallel()
	const text = `{"status": "INCORRECT_NUMERICAL", "max_absolute_error": "Infinity", "max_relative_error": 0.5, "log": "bad",
		"outputs": [{"name": "y", "max_absolute_error": 1, "max_relative_error": 2, "matched_ratio": 0.25, "worst_index": [3, 4]}, {"name": "z"}]}` + "\n"
	got, err := evaluator.ParseVerdict([]byte(text))
	want := evaluator.Result{
		Status: evaluator.IncorrectNumerical, MaxAbsoluteError: evaluator.Number(math.Inf(1)), MaxRelativeError: 0.5, Log: "bad",
		Outputs: []evaluator.OutputResult{
			{Name: "y", Status: evaluator.IncorrectNumerical, MaxAbsoluteError: 1, MaxRelativeError: 2, MatchedRatio: 0.25, WorstIndex: []int{3, 4}, WorstFlat: -1},
			{Name: "z", Status: evaluator.IncorrectNumerical, WorstFlat: -1},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
}

func TestParseVerdictComplains(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{``, "not a verdict (EOF)"},
		{`PASSED`, "not a verdict"},
		{`{}`, `status "" is not for an evaluator to give`},
		{`{"status": "RUNTIME_ERROR"}`, `status "RUNTIME_ERROR" is not`},
		{`{"status": "SUSPECT"}`, `status "SUSPECT" is not`},
		{`{"status": "PASSED"} {}`, "more than one value"},
		{`{"status": "PASSED"} x`, "more than one value"},
		{`{"status": "PASSED", "max_error": 1}`, `unknown field "max_error"`},
		{`{"status": "PASSED", "max_absolute_error": -1}`, "a negative error"},
		{`{"status": "PASSED", "max_absolute_error": "-Infinity"}`, "a negative error"},
		{`{"status": "PASSED", "max_absolute_error": "big"}`, "not a verdict"},
		{`{"status": "PASSED", "outputs": [{"name": "y", "matched_ratio": 1.5}]}`, `output "y" has the matched ratio 1.5`},
		{`{"status": "PASSED", "outputs": [{"name": "y", "max_relative_error": -3}]}`, `output "y" has a negative error`},
		{`{"status": "PASSED", "log": "` + "\xff" + `"}`, "not UTF-8"},
		{`{"status": "PASSED", "log": "` + strings.Repeat("x", evaluator.MaxVerdictBytes) + `"}`, "more than 1048576 bytes"},
		{`{"status": "PASSED", "outputs": [` + strings.Repeat(`{},`, 2000) + `{}]}`, "more than 1024 outputs"},
		{`{"status": "PASSED", "outputs": [{"worst_index": [` + strings.Repeat(`1,`, 40) + `1]}]}`, "more than 32 axes"},
	} {
		if _, err := evaluator.ParseVerdict([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60s: got %v, want %q", c.text, err, c.want)
		}
	}
}

// FuzzParseVerdict demands that what is accepted can be written and has a
// status that an evaluator may give.
func FuzzParseVerdict(f *testing.F) {
	f.Add([]byte(`{"status": "PASSED"}`))
	f.Add([]byte(`{"status": "INCORRECT_NUMERICAL", "max_absolute_error": "NaN", "outputs": [{"name": "y", "worst_index": [0, -9]}]}`))
	f.Add([]byte(`{"status": "PASSED", "outputs": null} {}`))
	f.Add([]byte(`[[[[`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := evaluator.ParseVerdict(text)
		if err != nil {
			if !strings.Contains(err.Error(), "write one JSON object") {
				t.Errorf("no next step in %v", err)
			}
			return
		}
		switch r.Status {
		case evaluator.Passed, evaluator.IncorrectShape, evaluator.IncorrectDType, evaluator.IncorrectNumerical:
		default:
			t.Errorf("status %q", r.Status)
		}
		if _, err := json.Marshal(r); err != nil {
			t.Error(err)
		}
	})
}

func TestNumbersSurviveJSON(t *testing.T) {
	t.Parallel()
	for _, n := range []evaluator.Number{0, -1.5, 1e-300, evaluator.Number(math.Inf(1)), evaluator.Number(math.Inf(-1)), evaluator.Number(math.NaN())} {
		var back evaluator.Number
		text, err := json.Marshal(n)
		if err == nil {
			err = json.Unmarshal(text, &back)
		}
		if err != nil || !same(n, back) {
			t.Errorf("%v became %s and %v: %v", n, text, back, err)
		}
	}
}
