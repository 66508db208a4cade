package models_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite"
)

// TestAbsent: a gated metric that the output does not hold is named with what the
// output holds, unless it is of other cells, or another one stands in.
func TestAbsent(t *testing.T) {
	t.Parallel()
	const printed = `"print", "{\"perf\": {\"tokens_per_second\": 5, \"runs\": [{\"a b\": 1}]}, \"text\": \"x\"}"`
	const main = "{name: rate, json: perf.tokens_per_second, unit: tok/s, better: higher}, "
	missing := []bench.Absent{{Metric: "tps", At: "json: perf.tokens_per_sec", Near: "perf.tokens_per_second"}}
	for _, c := range []struct {
		name, metrics string
		want          []bench.Absent
	}{
		{"a typo", main + "{name: tps, json: perf.tokens_per_sec, better: higher}", missing},
		{"optional", main + "{name: tps, json: perf.tokens_per_sec, better: higher, optional: true}",
			[]bench.Absent{{Metric: "tps", At: "json: perf.tokens_per_sec", Near: "perf.tokens_per_second", Optional: true}}},
		{"of this feature", main + "{name: tps, json: perf.tokens_per_sec, better: higher, when: {feature: f}}", missing},
		{"of another feature", main + "{name: tps, json: perf.tokens_per_sec, better: higher, when: {feature: g}}", nil},
		{"informational", main + "{name: tps, json: perf.tokens_per_sec, better: higher, informational: true}", nil},
		{"a fallback reports", "{name: tps, json: perf.tokens_per_sec, better: higher}, {name: rate, json: perf.tokens_per_second, better: higher, fallback_for: tps}", nil},
		{"no fallback is needed", main + "{name: tps, json: perf.tokens_per_sec, better: higher, fallback_for: rate}", nil},
	} {
		s, err := open(t, frame[:len(frame)-len(tail)]+"    metrics: ["+c.metrics+"]\n    features: [{id: f, args: ["+printed+"]}, {id: g, args: ["+printed+"]}]\n", suite.Env{})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		result, err := s.Measure(t.Context(), s.Plan().Cells[0], bench.Device{})
		if err != nil || result.Outcome != bench.Passed {
			t.Fatalf("%s: %s %s, %v", c.name, result.Outcome, result.Reason, err)
		}
		if diff := cmp.Diff(c.want, result.Absent); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
		var keys []string
		if c.want != nil {
			keys = []string{`perf.runs[0]["a b"]`, "perf.tokens_per_second"}
		}
		if diff := cmp.Diff(keys, result.Keys); diff != "" {
			t.Errorf("%s: keys (-want +got):\n%s", c.name, diff)
		}
	}
}

// tail is the end of the frame from its metrics on.
const tail = `    metrics: [{name: tps, json: tps, unit: tok/s, better: higher}]
    answer: {json: text}
    tokens: ids
    operators: ops
`
