package gate_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
)

// oneMetric is a run of one cell with one value of a metric that is described so.
func oneMetric(m bench.Metric, value float64) *bench.Run {
	m.Name = "x"
	r := run(cell("a", "x", value))
	r.Metrics = []bench.Metric{m}
	return r
}

// TestImpossible: a cell with a number that its metric cannot have did not pass,
// and a change that no code makes blocks in both directions.
func TestImpossible(t *testing.T) {
	t.Parallel()
	rate := bench.Metric{Unit: "tok/s", Better: bench.Higher}
	latency := bench.Metric{Unit: "ms", Better: bench.Lower}
	unknown := bench.Metric{Better: bench.Higher}
	score := bench.Metric{Better: bench.Higher, Kind: bench.Score}
	for _, c := range []struct {
		name     string
		metric   bench.Metric
		old, new float64
		want     string
	}{
		{"negative rate", rate, 5, -5, "a crashed blocks -100"},
		{"negative time", latency, 5, -5, "a crashed blocks -100"},
		{"negative number of no known kind", unknown, 5, -5, "a crashed blocks -100"},
		{"half a call", bench.Metric{Better: bench.Lower, Kind: bench.Count}, 3, 2.5, "a crashed blocks -100"},
		{"from a negative rate", rate, -100.5, 100.5, "a x incomparable blocks 0"},
		{"from a negative number", unknown, -100.5, 100.5, "a x implausible blocks 200"},
		{"beyond all rates", rate, 100.5, 1e308, "a x implausible blocks 9.95e+307"},
		{"a factor of 100", rate, 1, 100, "a x improved 9900"},
		{"a factor of 101", rate, 1, 101, "a x implausible blocks 1e+04"},
		{"101 times as slow", latency, 1, 101, "a x implausible blocks -1e+04"},
		{"a score has no factor", score, 0.001, 1, "a x improved 9.99e+04"},
		{"a negative score", score, -2, -1, "a x improved 50"},
		{"informational", bench.Metric{Better: bench.Lower, Informational: true}, 5, -5, "a unchanged 0"},
	} {
		got := gate.Compare("base", oneMetric(c.metric, c.old), oneMetric(c.metric, c.new), gate.DefaultPolicy())
		if diff := cmp.Diff([]string{c.want}, lines(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	p := gate.DefaultPolicy()
	p.Implausible = 1000
	if got := lines(gate.Compare("base", oneMetric(rate, 1), oneMetric(rate, 500), p)); !strings.Contains(got[0], "improved") {
		t.Errorf("with a limit of 1000: %v", got)
	}
	// A metric that the run calls a score is what the baseline says.
	if got := lines(gate.Compare("base", oneMetric(rate, 1), oneMetric(bench.Metric{Unit: "tok/s", Better: bench.Higher, Kind: bench.Score}, 500), gate.DefaultPolicy())); !strings.Contains(got[0], "implausible") {
		t.Errorf("a run that changes the kind: %v", got)
	}
}
