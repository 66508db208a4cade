package gate_test

import (
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/gate/compat"
	"github.com/accelgate/accelgate/internal/reference/waiver"
	"github.com/accelgate/accelgate/internal/testing/operatortest"
)

// FuzzRun feeds run documents of strangers to the gate: whatever decodes is
// judged without a panic, every cell is accounted for, and a run that holds a
// cell which did not pass never passes.
func FuzzRun(f *testing.F) {
	f.Add([]byte(`{"schema": 1, "tool": "x", "host": {"label": "h", "cpu": "c", "cores": 2}, "started": "2026-01-01T00:00:00Z",
		"metrics": [{"name": "decode_tps", "better": "higher"}, {"name": "p", "better": "lower", "fallback_for": "decode_tps"}],
		"results": [{"cell": {"id": "a"}, "outcome": "passed", "samples": [{"metric": "decode_tps", "values": [1, 2]}]},
		            {"cell": {"params": [{"key": "m", "value": "b"}]}, "outcome": "incorrect", "reason": "no"}]}`))
	f.Add([]byte(`{"schema": 1, "tool": "x", "host": {"label": "h", "cpu": "c", "cores": 2, "accelerators": [{"vendor": "v",
		"model": "m"}]},
		"started": "2026-01-01T00:00:00Z", "metrics": [{"name": "decode_tps", "better": "higher", "resolution": 0.1}],
		"results": [{"cell": {"id": "a"}, "outcome": "passed", "aa_partner": "b", "samples": [{"metric": "decode_tps", "values": [0.4]}]},
		            {"cell": {"id": "b"}, "outcome": "failed", "cause": "oom", "retries": 1, "aa_partner": "a"}],
		"left_out": [{"cell": "a", "reason": "x"}, {"cell": "c", "reason": "over"}]}`))
	f.Add([]byte(`{"schema": 1, "tool": "x", "host": {"label": "h", "cpu": "c", "cores": 2}, "started": "2026-01-01T00:00:00Z",
		"metrics": [{"name": "total_time_s", "unit": "s", "better": "lower"}],
		"results": [{"cell": {"id": "a"}, "outcome": "passed", "samples": [{"metric": "total_time_s", "values": [1.5]}],
			"breakdowns": [{"unit": "ms", "entries": [{"name": "mm", "total": 1400, "calls": 3}, {"name": "new", "total": -1e300,
				"calls": 9}]}]}]}`))
	f.Add([]byte(`{"schema": 1, "tool": "x", "host": {"label": "h", "cpu": "c", "cores": 2}, "started": "2026-01-01T00:00:00Z",
		"metrics": [{"name": "decode_tps", "better": "higher"}, {"name": "p", "better": "lower"}],
		"results": [{"cell": {"id": "a"}, "outcome": "passed", "samples": [{"metric": "decode_tps", "values": [1, 2], "base": [2, 2]}, {"metric": "p", "values": [1, 2], "base": [5, 5]}]},
		            {"cell": {"id": "bb"}, "outcome": "passed", "samples": [{"metric": "decode_tps", "values": [1e300, 3], "base": [4, 1]}]},
		            {"cell": {"id": "cccc"}, "outcome": "passed", "samples": [{"metric": "decode_tps", "values": [5, 7], "base": [9, 1]}]}]}`))
	f.Add([]byte(`{"schema": 1, "tool": "", "host": {"label": ""}, "started": "2026-01-01T00:00:00Z", "metrics": [], "results": [{}]}`))
	ref := run(cell("a", "decode_tps", 100.0, "checksum", 1.0), cell("b!failed"))
	expected := expect("a", bench.InitialReference, 1.0, 0.1, bench.BaselineReference, 1.2, 0.2)
	expected.Operators = bench.ExpectedOperators{Entries: entries("mm", 0.9, 3, "add", 0.05, 1), TopN: 2, Tolerance: 0.1, MinShare: 0.01}
	byCase := policy(expected, expect("b"), expect("c"))
	byCase.Waivers, byCase.Today = []waiver.Entry{waive("a", 20), waive("a", 500, of("total_time_s")), waive("b", 1, until(0))}, today
	limited := gate.DefaultPolicy()
	limited.Rules = []gate.Rule{
		&gate.Fit{Scope: gate.Scope{Metric: "decode_tps"}, Over: "context", Per: 1,
			Slope: gate.FitLimit{Change: new(5.0), Min: new(-1.0)}, Intercept: gate.FitLimit{Change: new(5.0), Max: new(3.0)},
			At: func(c bench.Cell) (string, float64, bool) { return "", float64(len(c.ID())), true }},
		&gate.Limit{Scope: gate.Scope{Metric: "decode_tps"}, Change: &gate.Change{Noise: &gate.NoiseLimit{Floor: 1, Ceiling: 9}},
			Trade: &gate.Trade{Loss: 60, For: "p", Gain: 1}},
		&gate.Limit{Scope: gate.Scope{Metric: "decode_tps"}, Force: gate.Advisory, Change: &gate.Change{Percent: 1}, Min: &gate.Bound{Value: 2, Sure: 0.9}},
		&gate.Limit{Scope: gate.Scope{Metric: "decode_tps"}, Force: gate.Required, Change: &gate.Change{Percent: 50, Absolute: 1, Sum: true}},
		&gate.Limit{Scope: gate.Scope{Metric: "p"}, Change: &gate.Change{Percent: 1, Absolute: 0.5, Both: true, From: 2}},
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := bench.DecodeRun(data)
		if err != nil {
			return
		}
		for _, ref := range []*bench.Run{nil, ref, got} {
			for _, p := range []gate.Policy{{Compat: compat.TensorSharp}, {Fingerprint: gate.FingerprintIgnore, LeftOut: gate.LeftOutWarn}} {
				checkAccounts(t, got, gate.Compare("base", ref, got, p))
			}
			for _, tool := range []compat.Tool{compat.None, compat.MSModeling, compat.TensorSharp} {
				byCase.Compat = tool
				c := gate.Compare("base", ref, got, byCase)
				checkAccounts(t, got, c)
				for _, check := range c.Checks {
					if tool == "" {
						operatortest.CheckAddsUp(t, check.Operators)
					}
				}
			}
			for _, method := range []gate.Method{"", gate.MethodThreshold} {
				p := limited
				p.Method = method
				c := gate.Compare("base", ref, got, p)
				checkAccounts(t, got, c)
				gate.Pairs(c)
				gate.CellLimits(ref, got, p)
			}
			c := gate.Compare("base", ref, got, gate.DefaultPolicy())
			checkAccounts(t, got, c)
			failed := false
			for _, r := range got.Results {
				failed = failed || r.Outcome != bench.Passed && r.Outcome != bench.Skipped
			}
			if d := gate.Decide([]gate.Comparison{c}, gate.DefaultPolicy()); failed && ref == nil && d.Status != gate.StatusFailed {
				t.Errorf("a run with a cell that did not pass is %s", d.Status)
			}
		}
	})
}

// checkAccounts: each cell has a verdict, those of one cell are adjacent, and
// those on the host come first.
func checkAccounts(t *testing.T, run *bench.Run, c gate.Comparison) {
	t.Helper()
	judged := map[string]bool{}
	for i, v := range c.Verdicts {
		if (judged[v.Cell] || v.Cell == "") && i > 0 && c.Verdicts[i-1].Cell != v.Cell {
			t.Errorf("verdict %d on %q stands apart from the others on it", i, v.Cell)
		}
		judged[v.Cell] = true
	}
	for i := range run.Results {
		if id := run.Results[i].Cell.ID(); !judged[id] {
			t.Errorf("cell %q has no verdict", id)
		}
	}
}
