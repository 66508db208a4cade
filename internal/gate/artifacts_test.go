package gate_test

import (
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
)

// TestSameArtifacts: what has not changed cannot be slower, whatever the numbers
// say, but it can be wrong, unequal or incomplete, or of another host.
func TestSameArtifacts(t *testing.T) {
	t.Parallel()
	judge := func(old, now string, change func(ref, got *bench.Run)) gate.Verdict {
		t.Helper()
		ref, got := run(cell("a", "decode_tps", 100.0)), run(cell("a", "decode_tps", 50.0))
		ref.Results[0].Artifacts, got.Results[0].Artifacts = old, now
		ref.Results[0].Samples[0].Anchor = 1000
		if change != nil {
			change(ref, got)
		}
		p := gate.DefaultPolicy()
		p.Drift = 10
		verdicts := gate.Compare("base", ref, got, p).Verdicts
		return verdicts[len(verdicts)-1]
	}
	v := judge("d", "d", nil)
	if v.Listed() || v.Evidence.Method != "digest" || v.Old != 100 || v.New != 50 || v.Delta != 0 {
		t.Errorf("the same artifacts: %+v", v)
	}
	for name, v := range map[string]gate.Verdict{
		"others":         judge("d", "e", nil),
		"not declared":   judge("", "", nil),
		"not said":       judge("d", "", nil),
		"not known":      judge("", "d", nil),
		"a wrong answer": judge("d", "d", func(_, got *bench.Run) { got.Results[0].Outcome = bench.Incorrect }),
		"a lost metric":  judge("d", "d", func(_, got *bench.Run) { got.Results[0].Samples[0].Metric = "ttft_ms" }),
		"an unequal number": judge("d", "d", func(ref, got *bench.Run) {
			ref.Results[0].Samples[0].Metric, got.Results[0].Samples[0].Metric = "checksum", "checksum"
		}),
	} {
		if v.Finding == gate.Unchanged || v.Evidence.Method == "digest" {
			t.Errorf("%s: %+v", name, v)
		}
	}
	v = judge("d", "d", func(ref, _ *bench.Run) { ref.Host.CPU = "another" })
	if v.Finding != gate.Untracked {
		t.Errorf("another host: %+v", v)
	}
}

// TestSameArtifactsAreJudged: a run of nothing but unchanged cells was judged.
func TestSameArtifactsAreJudged(t *testing.T) {
	t.Parallel()
	ref, got := run(cell("a", "decode_tps", 100.0)), run(cell("a", "decode_tps", 50.0))
	ref.Results[0].Artifacts, got.Results[0].Artifacts = "d", "d"
	p := gate.DefaultPolicy()
	p.RequireBaseline = true
	c := gate.Compare("base", ref, got, p)
	if d := gate.Decide([]gate.Comparison{c}, p); d.Status != gate.StatusPassed || d.Judged != 1 || c.Unjudged != "" {
		t.Errorf("decision %+v, unjudged %q", d, c.Unjudged)
	}
}
