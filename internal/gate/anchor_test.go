package gate_test

import (
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
)

// pinned is a baseline of one cell with one metric, whose anchor is known.
func pinned(m bench.Metric, median, anchor float64) *bench.Run {
	r := run(bench.Result{Cell: bench.Cell{Raw: "a"}, Outcome: bench.Passed,
		Anchored: bench.Point{At: time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC), Revision: "89abdef0123456789"},
		Samples:  []bench.Sample{{Metric: m.Name, Summary: &bench.Summary{Median: median, N: 5}, Anchor: anchor}}})
	r.Metrics = []bench.Metric{m}
	return r
}

func measured(m bench.Metric, values ...float64) *bench.Run {
	r := run(bench.Result{Cell: bench.Cell{Raw: "a"}, Outcome: bench.Passed, Samples: []bench.Sample{{Metric: m.Name, Values: values}}})
	r.Metrics = []bench.Metric{m}
	return r
}

// TestAnchor: what is within the limit of the baseline is judged by the anchor,
// too, in either direction, strictly.
func TestAnchor(t *testing.T) {
	t.Parallel()
	tps, ms := bench.Metric{Name: "tps", Better: bench.Higher}, bench.Metric{Name: "ms", Better: bench.Lower}
	exact := bench.Metric{Name: "n", Better: bench.Higher, Exact: true}
	drift := gate.Policy{Threshold: 10, Drift: 10}
	for _, tt := range []struct {
		name   string
		metric bench.Metric
		median float64
		anchor float64
		value  float64
		policy gate.Policy
		want   string // classes of the verdicts
	}{
		{"beyond the limit since the anchor", tps, 92, 100, 89, drift, "unchanged drifted"},
		{"exactly the limit", tps, 92, 100, 90, drift, "unchanged"},
		{"a time", ms, 108, 100, 111, drift, "unchanged drifted"},
		{"a time, exactly the limit", ms, 108, 100, 110, drift, "unchanged"},
		{"faster than the anchor", tps, 150, 100, 149, drift, "unchanged"},
		{"improved and still far below the anchor", tps, 60, 100, 80, drift, "improved drifted"},
		{"regressed already", tps, 95, 100, 80, drift, "regressed"},
		{"another limit", tps, 92, 100, 89, gate.Policy{Threshold: 10, Drift: 20}, "unchanged"},
		{"switched off", tps, 50, 100, 50, gate.Policy{Threshold: 10}, "unchanged"},
		{"no anchor", tps, 50, 0, 50, drift, "unchanged"},
		{"exact", exact, 50, 100, 50, drift, "unchanged"},
	} {
		c := gate.Compare("base", pinned(tt.metric, tt.median, tt.anchor), measured(tt.metric, tt.value), tt.policy)
		var got []string
		for _, v := range c.Verdicts {
			got = append(got, string(v.Finding))
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %v, want %s", tt.name, got, tt.want)
		}
		failed := gate.Decide([]gate.Comparison{c}, tt.policy).Status == gate.StatusFailed
		if want := strings.Contains(tt.want, "drifted") || tt.want == "regressed"; failed != want {
			t.Errorf("%s: failed is %v, want %v", tt.name, failed, want)
		}
	}
}

func TestAnchorSaysSinceWhenAndWhatToDo(t *testing.T) {
	t.Parallel()
	tps := bench.Metric{Name: "tps", Better: bench.Higher}
	c := gate.Compare("base", pinned(tps, 92, 100), measured(tps, 89, 89.5, 88), gate.Policy{Threshold: 10, Drift: 10})
	v := c.Verdicts[1]
	if v.Reference != gate.AnchorReference || v.Old != 100 || v.New != 89 || v.Delta != -11 || v.Evidence.Limit != 10 {
		t.Errorf("verdict %+v", v)
	}
	for _, want := range []string{"2026-01-05", "89abdef01234…", "accelgate history", "accelgate baseline anchor"} {
		if !strings.Contains(v.Reason, want) {
			t.Errorf("reason %q does not state %q", v.Reason, want)
		}
	}
	if strings.Contains(v.Reason, "single") {
		t.Errorf("three values are reported as one: %s", v.Reason)
	}
}

// TestAnchorAndNoise: where the noise is known, it must not explain the loss.
func TestAnchorAndNoise(t *testing.T) {
	t.Parallel()
	tps := bench.Metric{Name: "tps", Better: bench.Higher}
	policy := gate.Policy{Threshold: 10, Drift: 10}
	judged := func(noise float64, p gate.Policy, got *bench.Run) gate.Verdict {
		t.Helper()
		ref := pinned(tps, 92, 100)
		ref.Results[0].Samples[0].Summary.Noise = noise
		c := gate.Compare("base", ref, got, p)
		if len(c.Verdicts) != 2 {
			t.Fatalf("verdicts %+v, want two", c.Verdicts)
		}
		return c.Verdicts[1]
	}
	got := measured(tps, 88, 89, 87)
	if v := judged(0.01, policy, got); v.Finding != gate.Drifted || !v.Blocks {
		t.Errorf("a quiet cell: %+v", v)
	}
	v := judged(0.15, policy, got)
	if !v.Undecided() || !v.Reserved() || !strings.Contains(v.Reason, "15 %") || !strings.Contains(v.Reason, "--repeats") {
		t.Errorf("a noisy cell: %+v", v)
	}
	policy.Inconclusive = "fail"
	if v := judged(0.15, policy, got); !v.Blocks {
		t.Errorf("a noisy cell where open questions fail: %+v", v)
	}

	// Without any of that, what the values differ by is better than nothing.
	if v := judged(0, policy, measured(tps, 89, 70, 113)); !v.Undecided() {
		t.Errorf("values all over the place: %+v", v)
	}
	if v := judged(0, policy, got); v.Finding != gate.Drifted {
		t.Errorf("values close together: %+v", v)
	}

	ref := pinned(tps, 92, 100)
	for i := range 20 { // earlier runs say it as well
		ref.Results[0].Samples[0].History = append(ref.Results[0].Samples[0].History, []float64{80 + 25*float64(i%2)})
	}
	if v := gate.Compare("base", ref, got, policy).Verdicts[1]; !v.Undecided() {
		t.Errorf("earlier runs that differ by 25 %%: %+v", v)
	}
}

// TestAnchorOfAnUnhealthyHost: what a sick machine measured says nothing of many
// small losses.
func TestAnchorOfAnUnhealthyHost(t *testing.T) {
	t.Parallel()
	tps := bench.Metric{Name: "tps", Better: bench.Higher}
	policy := gate.Policy{Threshold: 10, Drift: 10}
	drifted := func() bool {
		got := measured(tps, 89)
		got.Results[0].Health = &bench.Health{Status: bench.Unhealthy, Reasons: []string{"throttled"}}
		for _, v := range gate.Compare("base", pinned(tps, 92, 100), got, policy).Verdicts {
			if v.Finding == gate.Drifted {
				return v.Blocks
			}
		}
		t.Error("the drift vanished")
		return false
	}
	if drifted() {
		t.Error("what a throttled host measured blocks as drift")
	}
	policy.Unhealthy = gate.UnhealthyIgnore
	if !drifted() {
		t.Error("health counts although it is to be ignored")
	}
}

// TestAnchorNeedsConfirmation: a ratio that its own confirming metric does not
// follow is the host's drift.
func TestAnchorNeedsConfirmation(t *testing.T) {
	t.Parallel()
	latency := bench.Metric{Name: "ms", Better: bench.Lower, ConfirmedBy: "speedup"}
	speedup := bench.Metric{Name: "speedup", Better: bench.Higher}
	for _, tt := range []struct {
		speedup float64
		want    int
	}{{2, 0}, {1.7, 2}} {
		ref, got := pinned(latency, 110, 100), measured(latency, 115)
		ref.Metrics, got.Metrics = append(ref.Metrics, speedup), append(got.Metrics, speedup)
		ref.Results[0].Samples = append(ref.Results[0].Samples, bench.Sample{Metric: "speedup", Summary: &bench.Summary{Median: 1.8, N: 5}, Anchor: 2})
		got.Results[0].Samples = append(got.Results[0].Samples, bench.Sample{Metric: "speedup", Values: []float64{tt.speedup}})
		drifted := 0
		for _, v := range gate.Compare("base", ref, got, gate.Policy{Threshold: 20, Drift: 10}).Verdicts {
			if v.Finding == gate.Drifted {
				drifted++
			}
		}
		if drifted != tt.want {
			t.Errorf("speedup %v: %d metrics drifted, want %d", tt.speedup, drifted, tt.want)
		}
	}
}

// TestDriftedCellsAreOpen: one value is no evidence of many small losses.
func TestDriftedCellsAreOpen(t *testing.T) {
	t.Parallel()
	tps := bench.Metric{Name: "tps", Better: bench.Higher}
	c := gate.Compare("base", pinned(tps, 92, 100), measured(tps, 89), gate.Policy{Threshold: 10, Drift: 10})
	if got, _ := gate.Open(c); len(got) != 1 || got[0] != "a" {
		t.Errorf("open %v, want a", got)
	}
}
