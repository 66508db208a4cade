package gate_test

import (
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
)

// FuzzRun feeds run documents of strangers to the gate: whatever decodes is
// judged without a panic, every cell is accounted for, and a run that holds a
// cell which did not pass never passes.
func FuzzRun(f *testing.F) {
	f.Add([]byte(`{"schema": 1, "tool": "x", "host": {"label": "h", "cpu": "c", "cores": 2}, "started": "2026-01-01T00:00:00Z",
		"metrics": [{"name": "decode_tps", "better": "higher"}, {"name": "p", "better": "lower", "fallback_for": "decode_tps"}],
		"results": [{"cell": {"id": "a"}, "outcome": "passed", "samples": [{"metric": "decode_tps", "values": [1, 2]}]},
		            {"cell": {"params": [{"key": "m", "value": "b"}]}, "outcome": "incorrect", "reason": "no"}]}`))
	f.Add([]byte(`{"schema": 1, "tool": "", "host": {"label": ""}, "started": "2026-01-01T00:00:00Z", "metrics": [], "results": [{}]}`))
	ref := run(cell("a", "decode_tps", 100.0, "checksum", 1.0), cell("b!failed"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := bench.DecodeRun(data)
		if err != nil {
			return
		}
		for _, ref := range []*bench.Run{nil, ref, got} {
			c := gate.Compare("base", ref, got, gate.DefaultPolicy())
			judged := map[string]bool{}
			for _, v := range c.Verdicts {
				judged[v.Cell] = true
			}
			failed := false
			for _, r := range got.Results {
				if !judged[r.Cell.ID()] {
					t.Errorf("cell %q has no verdict", r.Cell.ID())
				}
				failed = failed || r.Outcome != bench.Passed && r.Outcome != bench.Skipped
			}
			if d := gate.Decide([]gate.Comparison{c}, gate.DefaultPolicy()); failed && ref == nil && d.Status != gate.StatusFailed {
				t.Errorf("a run with a cell that did not pass is %s", d.Status)
			}
		}
	})
}
