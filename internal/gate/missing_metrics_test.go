package gate_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/gate/compat"
)

// TestUnreportedMetricBlocks: a gated metric that no cell reports is missing, with
// and without a baseline, and the verdict says what the output holds.
func TestUnreportedMetricBlocks(t *testing.T) {
	t.Parallel()
	typo := cell("a", "decode_tps", 5.0)
	typo.Absent = []bench.Absent{{Metric: "ttft_ms", At: "json: perf.ttf", Near: "perf.ttft"}}
	typo.Keys = []string{"perf.ttft", "load\x1b[31m"}
	for name, ref := range map[string]*bench.Run{"no baseline": nil, "a baseline without it": run(cell("a", "decode_tps", 5.0)), "no such cell": run(cell("b"))} {
		c := gate.Compare("base", ref, run(typo), gate.DefaultPolicy())
		i := strings.Index(strings.Join(lines(c), "\n"), "a ttft_ms missing blocks")
		if i < 0 {
			t.Errorf("%s: %v, want a missing metric", name, lines(c))
		}
		for _, v := range c.Verdicts {
			if v.Metric == "ttft_ms" && (!strings.Contains(v.Reason, "did you mean perf.ttft?") || strings.Contains(v.Reason, "\x1b")) {
				t.Errorf("%s: reason is %q", name, v.Reason)
			}
		}
	}
	ref := run(cell("a", "decode_tps", 5.0, "ttft_ms", 9.0))
	if diff := cmp.Diff([]string{"a decode_tps unchanged 0", "a ttft_ms missing blocks -100"}, lines(gate.Compare("base", ref, run(typo), gate.DefaultPolicy()))); diff != "" {
		t.Errorf("a baseline that has it (-want +got):\n%s", diff)
	}
	hidden := cell("a", "decode_tps", 5.0)
	demanding := gate.DefaultPolicy()
	demanding.Demands = func(bench.Cell) []bench.Demand {
		return []bench.Demand{{Metrics: []string{"ttft_ms", "first_ms"}}, {Metrics: []string{"image_ms"}, Optional: true}}
	}
	if diff := cmp.Diff([]string{"a decode_tps unchanged 0", "a ttft_ms missing blocks -100", "a image_ms missing rule 0"}, lines(gate.Compare("base", ref, run(hidden), demanding))); diff != "" {
		t.Errorf("a run that dropped its list (-want +got):\n%s", diff)
	}
	p := gate.DefaultPolicy()
	p.Compat = compat.TensorSharp
	if d := gate.Decide([]gate.Comparison{gate.Compare("base", ref, run(typo), p)}, p); d.Status != gate.StatusPassed {
		t.Errorf("by TensorSharp's rules: %s", d.Status)
	}
}
