package gate_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
)

// The tests of this file are named after the ways in which
// TensorSharp.TestMatrix is green when it should not be, or red for nothing.

// decided judges one run under the default policy.
func decided(ref, got *bench.Run) (gate.Comparison, gate.Decision) {
	p := gate.DefaultPolicy()
	p.RequireBaseline = true
	c := gate.Compare("base", ref, got, p)
	return c, gate.Decide([]gate.Comparison{c}, p)
}

func wantStatus(t *testing.T, d gate.Decision, want gate.Status, class gate.Finding) {
	t.Helper()
	if d.Status != want || class != "" && d.Counts[class] == 0 {
		t.Errorf("decision %+v, want %s with a cell that is %s", d, want, class)
	}
}

func TestFaultMissingBaseline(t *testing.T) {
	_, d := decided(nil, run(cell("a", "decode_tps", 1.0)))
	wantStatus(t, d, gate.StatusActionRequired, gate.Untracked)
}

func TestFaultZeroCells(t *testing.T) {
	_, d := decided(run(cell("a!failed")), run())
	wantStatus(t, d, gate.StatusNoEvidence, "")
}

func TestFaultVanishedCell(t *testing.T) {
	_, d := decided(run(cell("a", "decode_tps", 1.0), cell("b")), run(cell("a", "decode_tps", 1.0)))
	wantStatus(t, d, gate.StatusFailed, gate.Missing)
}

func TestFaultVanishedMetric(t *testing.T) {
	_, d := decided(run(cell("a", "decode_tps", 1.0, "ttft_ms", 1.0)), run(cell("a", "decode_tps", 1.0)))
	wantStatus(t, d, gate.StatusFailed, gate.Missing)
}

func TestFaultNewlySkippedCell(t *testing.T) {
	_, d := decided(run(cell("a"), cell("b")), run(cell("a"), cell("b!skipped")))
	wantStatus(t, d, gate.StatusFailed, gate.Missing)
}

func TestFaultCellsOverTheBudget(t *testing.T) {
	got := run(cell("a"))
	got.LeftOut = []bench.LeftOut{{Cell: "b", Reason: "over the budget"}}
	_, d := decided(run(cell("a"), cell("b")), got)
	wantStatus(t, d, gate.StatusFailed, gate.Missing)
}

// TestFaultFailingCellsDroppedFromRefresh: even a cell that no baseline has
// blocks when it fails.
func TestFaultFailingCellsDroppedFromRefresh(t *testing.T) {
	_, d := decided(run(cell("a")), run(cell("a"), cell("dropped!failed")))
	wantStatus(t, d, gate.StatusFailed, gate.Crashed)
}

func TestFaultTwoGPUsBehindOneLabel(t *testing.T) {
	ref, got := run(cell("a", "decode_tps", 100.0)), run(cell("a", "decode_tps", 100.0))
	ref.Host.Fingerprint, got.Host.Fingerprint = with("c", "H100"), with("c", "H200")
	c, d := decided(ref, got)
	wantStatus(t, d, gate.StatusFailed, gate.OtherHost)
	if v := c.Verdicts[0]; v.Cell != "" || !strings.Contains(v.Reason, `"H200"`) || !strings.Contains(v.Reason, "--host-label") {
		t.Errorf("first verdict %+v, want one on the host that says what differs and what to type", v)
	}
}

// TestFaultRoundingOfTenths: at 0.5 tok/s, one step of a tenth is 20 %.
func TestFaultRoundingOfTenths(t *testing.T) {
	got := run(cell("a", "decode_tps", 0.4), cell("b", "decode_tps", 50.0))
	got.Metrics = append([]bench.Metric(nil), metrics...)
	got.Metrics[1].Resolution = 0.1
	ref := run(cell("a", "decode_tps", 0.5), cell("b", "decode_tps", 50.0))
	ref.Metrics = got.Metrics
	_, d := decided(ref, got)
	wantStatus(t, d, gate.StatusWarned, gate.Unchanged)
}

// TestFaultGreenThoughCellsAreUndecided: a report of 20 cells, 19 of which stay
// undecided, began with PASS.
func TestFaultGreenThoughCellsAreUndecided(t *testing.T) {
	const cells = 20
	for open := range cells { // where all are, no speed was judged
		var before, now []bench.Result
		for i := range cells {
			id, old, value := fmt.Sprint("c", i), 50.0, 50.0
			if i < open {
				old, value = 0.5, 0.4 // which rounding may be
			}
			before, now = append(before, cell(id, "decode_tps", old)), append(now, cell(id, "decode_tps", value))
		}
		ref, got := run(before...), run(now...)
		got.Metrics = append([]bench.Metric(nil), metrics...)
		got.Metrics[1].Resolution = 0.1
		ref.Metrics = got.Metrics
		want := gate.StatusPassed
		if open > 0 {
			want = gate.StatusWarned
		}
		c, d := decided(ref, got)
		if d.Status != want || d.SpeedCells != cells || d.UndecidedCells != open {
			t.Errorf("%d of %d open: %+v, want %s", open, cells, d, want)
		}
		if d := gate.Decide([]gate.Comparison{c}, gate.Policy{Unapproved: true}); d.Status != gate.StatusActionRequired {
			t.Errorf("%d open, and unapproved: %+v", open, d)
		}
		if c.Verdicts[0].Blocks = true; gate.Decide([]gate.Comparison{c}, gate.Policy{}).Status != gate.StatusFailed {
			t.Errorf("%d open, and one blocks: not failed", open)
		}
	}
}

// TestFaultOneSampleAgainstOne: a regression by one value says that it is one,
// and is a suspect to be measured again.
func TestFaultOneSampleAgainstOne(t *testing.T) {
	c, d := decided(run(cell("a", "decode_tps", 100.0)), run(cell("a", "decode_tps", 60.0)))
	wantStatus(t, d, gate.StatusFailed, gate.Regressed)
	if v := c.Verdicts[0]; !strings.Contains(v.Reason, "single measurement: measure the cell again") || v.Evidence.NewN != 1 {
		t.Errorf("verdict %+v does not state that it rests on one value", v)
	}
	if ids, _ := gate.Open(c); len(ids) != 1 || ids[0] != "a" {
		t.Errorf("Open = %q, want a", ids)
	}
	got := run(cell("a"))
	got.Results[0].Samples = []bench.Sample{{Metric: "decode_tps", Values: []float64{80, 100, 101}}}
	_, d = decided(run(cell("a", "decode_tps", 100.0)), got)
	wantStatus(t, d, gate.StatusPassed, gate.Unchanged)
}

// TestFaultBaselineOfZeroSwitchesTheGateOff: a baseline of 0 judges nothing,
// and that is no evidence of speed.
func TestFaultBaselineOfZeroSwitchesTheGateOff(t *testing.T) {
	_, d := decided(run(cell("a", "decode_tps", 0.0)), run(cell("a", "decode_tps", 50.0)))
	wantStatus(t, d, gate.StatusActionRequired, gate.Incomparable)
}
