package gate_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/gate/diff"
)

// served is a run of one cell with a percentile that needs 368 answers.
func served(answers, p99 float64, doubt string) *bench.Run {
	r := run(cell("a", "ttft_p99_ms", p99, "n_ok", answers))
	r.Metrics = []bench.Metric{
		{Name: "ttft_p99_ms", Better: bench.Lower, CountedBy: "n_ok", MinCount: 368},
		{Name: "n_ok", Better: bench.Higher, Informational: true},
	}
	r.Results[0].Caveat = doubt
	return r
}

// TestDoubt judges no number that rests on too little, or that its own
// measurement does not trust.
func TestDoubt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		ref, got *bench.Run
		want     string
		reason   string
	}{
		{"enough", served(368, 10, ""), served(368, 20, ""), "a ttft_p99_ms regressed blocks -100", ""},
		{"too few in the baseline", served(367, 10, ""), served(368, 20, ""), "a unchanged 0", ""},
		{"too few in the run", served(368, 10, ""), served(40, 20, ""), "a ttft_p99_ms incomparable ?repeats 0", "rests on 40 (n_ok) where 368 are needed: measure for longer"},
		{"doubtful", served(368, 10, ""), served(368, 20, "the client was late: use a machine of its own"), "a ttft_p99_ms incomparable ?repeats 0", "the client was late"},
		{"asks for less than the baseline", served(368, 10, ""), func() *bench.Run { r := served(40, 20, ""); r.Metrics[0].MinCount = 1e9; return r }(),
			"a ttft_p99_ms incomparable blocks 0", "gated in another way in the baseline"},
	} {
		got := gate.Compare("base", c.ref, c.got, fixed())
		if diff := cmp.Diff([]string{c.want}, lines(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
		if reason := got.Verdicts[0].Reason; !strings.Contains(reason, c.reason) {
			t.Errorf("%s: reason %q, want %q", c.name, reason, c.reason)
		}
	}
}

// TestOtherTraffic refuses to compare what was asked differently.
func TestOtherTraffic(t *testing.T) {
	t.Parallel()
	with := func(tps float64, conditions ...string) *bench.Run {
		r := run(cell("a", "decode_tps", tps))
		r.Results[0].Context = map[string]string{"engine_version": conditions[0]} // which a gate is about
		for i := 1; i < len(conditions); i += 2 {
			r.Results[0].SetCondition(conditions[i], conditions[i+1])
		}
		return r
	}
	for _, c := range []struct {
		name     string
		ref, got *bench.Run
		want     string
	}{
		{"the same", with(10, "1", "max_tokens", "8"), with(10, "2", "max_tokens", "8"), "a decode_tps unchanged 0"},
		{"shorter answers", with(10, "1", "max_tokens", "8"), with(20, "1", "max_tokens", "2"), "a incomparable blocks 0"},
		{"another mode", with(10, "1", "mode", "closed"), with(20, "1", "mode", "gamma", "burstiness", "1"), "a incomparable blocks 0"},
		{"a condition that no list names", with(10, "1", "colour", "red"), with(20, "1", "colour", "blue"), "a incomparable blocks 0"},
		{"tokens hidden from now on", with(10, "1", "mode", "closed"), with(10, "1", "mode", "closed", "streamed_token_rate", "0.22"), "a incomparable blocks 0"},
		{"about as many tokens hidden", with(10, "1", "streamed_token_rate", "0.3"), with(10, "1", "streamed_token_rate", "0.22"), "a decode_tps unchanged 0"},
		{"neither side says", with(10, "1"), with(10, "1", "mode", "gamma"), "a decode_tps unchanged 0"},
	} {
		got := gate.Compare("base", c.ref, c.got, fixed())
		if diff := cmp.Diff([]string{c.want}, lines(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s\n%s", c.name, diff, got.Verdicts[0].Reason)
		}
	}
}

// TestDiffOfCells compares the conditions of single cells, and judges no
// doubtful number.
func TestDiffOfCells(t *testing.T) {
	t.Parallel()
	side := func(concurrency string, tps float64, doubt string) diff.Document {
		r := run(cell("a", "decode_tps", tps), cell("b", "decode_tps", 1.0))
		r.Results[0].Conditions = map[string]string{"concurrency": concurrency, "mode": "closed"}
		r.Results[1].Context = map[string]string{"concurrency": "1", "mode": "closed"}
		r.Results[0].Caveat = doubt
		return diff.DocumentOf("x", r, nil)
	}
	d := diff.Compare(side("4", 10, ""), side("16", 10, ""), diff.Policy{Tolerance: 0.02})
	want := []diff.ContextMatch{{Name: "concurrency", Baseline: "4", Candidate: "16", Level: gate.Fail}, {Name: "mode", Baseline: "closed", Candidate: "closed", Match: true, Level: gate.Fail}}
	if diff := cmp.Diff(want, d.Context); diff != "" || !strings.Contains(d.Refused, "concurrency") {
		t.Errorf("context (-want +got):\n%s\nrefused: %s", diff, d.Refused)
	}
	d = diff.Compare(side("4", 10, ""), side("4", 5, "the client was late"), diff.Policy{Strict: true})
	if d.Rows[0].Verdict != diff.Inconclusive || d.Rows[0].Reason != "the client was late" || d.Failed {
		t.Errorf("a doubtful number is %+v, failed %v", d.Rows[0], d.Failed)
	}
}

// TestBothMustMove calls a kernel slower only where its ratio to the reference
// says so, too.
func TestBothMustMove(t *testing.T) {
	t.Parallel()
	kernel := func(latency, speedup float64) *bench.Run {
		r := run(cell("a", "latency_ms", latency, "speedup_factor", speedup))
		r.Metrics = []bench.Metric{{Name: "latency_ms", Better: bench.Lower, ConfirmedBy: "speedup_factor"},
			{Name: "speedup_factor", Better: bench.Higher, ConfirmedBy: "latency_ms"}}
		return r
	}
	for _, c := range []struct {
		name             string
		latency, speedup float64
		want             []string
	}{
		{"slower code", 20, 2, []string{"a latency_ms regressed blocks -100", "a speedup_factor regressed blocks -50"}},
		{"just beyond the limit", 11.05, 4 / 1.105, []string{"a latency_ms regressed blocks -10.5", "a speedup_factor unchanged -9.502"}},
		{"slower host", 20, 4, []string{"a latency_ms regressed ?repeats -100", "a speedup_factor unchanged 0"}},
		{"faster reference", 10, 2, []string{"a latency_ms unchanged 0", "a speedup_factor regressed ?repeats -50"}},
	} {
		got := gate.Compare("base", kernel(10, 4), kernel(c.latency, c.speedup), fixed())
		if diff := cmp.Diff(c.want, lines(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}
