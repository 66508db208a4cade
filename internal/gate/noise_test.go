package gate_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
)

func twin(of string, r bench.Result) bench.Result {
	r.AAPartner = of
	return r
}

func TestNoise(t *testing.T) {
	got := run(
		cell("a", "decode_tps", 100.0, "prefill_tps", 1.0, "model_load_ms", 1.0, "checksum", 1.0),
		twin("a", cell("a2", "decode_tps", 98.0, "prefill_tps", 2.0, "model_load_ms", 2.0, "checksum", 2.0)),
		twin("b2", cell("b", "prefill_tps", 200.0)),
		twin("b", cell("b2", "prefill_tps", 230.0)), // each names the other: one pair
		cell("c", "decode_tps", 50.0),
		twin("c", cell("c2", "decode_tps", 52.0)),
		twin("c", cell("c3", "decode_tps", 50.0)),
		// No pair.
		twin("self", cell("self", "decode_tps", 1.0)),
		twin("gone", cell("lonely", "decode_tps", 1.0)),
		twin("c", cell("broken!failed", "decode_tps", 1.0)),
		twin("broken", cell("whole", "decode_tps", 9.0)),
		twin("zero", cell("some", "decode_tps", 9.0)), // counts as a pair, without a number
		cell("zero", "decode_tps", 0.0),
	)
	c := gate.Compare("base", got, got, gate.DefaultPolicy())
	want := &gate.Noise{Pairs: 5, Metrics: []gate.MetricNoise{
		{Metric: "prefill_tps", Pairs: 1, Median: 15, Largest: 15},
		{Metric: "decode_tps", Pairs: 3, Median: 2, Largest: 4},
	}}
	if diff := cmp.Diff(want, c.Noise); diff != "" {
		t.Errorf("Noise (-want +got):\n%s", diff)
	}
	if !c.Noise.Beyond(14.9) || c.Noise.Beyond(15) {
		t.Errorf("Beyond(14.9) = %v, Beyond(15) = %v, want true and false", c.Noise.Beyond(14.9), c.Noise.Beyond(15))
	}

	// No verdict depends on it.
	without := *got
	without.Results = nil
	for _, r := range got.Results {
		without.Results = append(without.Results, twin("", r))
	}
	plain := gate.Compare("base", got, &without, gate.DefaultPolicy())
	if diff := cmp.Diff(plain.Verdicts, c.Verdicts); diff != "" || plain.Noise != nil {
		t.Errorf("verdicts (-without +with):\n%s noise without pairs: %v", diff, plain.Noise)
	}
}

// TestLossesAreOpen: each loss is looked at again, however many values it rests
// on, and a number that must be equal is not.
func TestLossesAreOpen(t *testing.T) {
	several := func(id string, values ...float64) bench.Result {
		r := cell(id)
		for _, m := range []string{"decode_tps", "ttft_ms"} {
			r.Samples = append(r.Samples, bench.Sample{Metric: m, Values: values})
		}
		return r
	}
	ref := run(several("a", 100), several("b", 100), several("c", 100), several("d", 100), cell("e", "checksum", 1.0))
	got := run(several("a", 50), several("b", 200), several("c", 50, 51, 52), several("d", 100), cell("e", "checksum", 2.0))
	c := gate.Compare("base", ref, got, gate.DefaultPolicy())
	ids, why := gate.Open(c)
	if diff := cmp.Diff([]string{"a", "b", "c"}, ids); diff != "" {
		t.Errorf("Open (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]gate.Request{"a": gate.Confirm, "b": gate.Confirm, "c": gate.Confirm}, why); diff != "" {
		t.Errorf("Open (-want +got):\n%s", diff)
	}
}

func TestLeftOut(t *testing.T) {
	ref, got := run(cell("a"), cell("b"), cell("c!failed"), cell("d")), run(cell("a"))
	for _, id := range []string{"b", "c", "new", "a", "b", ""} { // measured, twice, and unnamed ones too
		got.LeftOut = append(got.LeftOut, bench.LeftOut{Cell: id, Reason: "over the budget of 30m"})
	}
	got.Unselected = []string{"b"} // what was left out is not excused by a filter as well
	for policy, level := range map[string]string{"": "blocks left_out", "fail": "blocks left_out", "warn": "left_out"} {
		p := gate.DefaultPolicy()
		p.LeftOut = policy
		c := gate.Compare("base", ref, got, p)
		want := []string{"a unchanged 0", "b missing " + level + " 0", "c skipped 0", "new skipped 0", "d missing blocks 0"}
		if diff := cmp.Diff(want, lines(c)); diff != "" {
			t.Errorf("policy %q (-want +got):\n%s", policy, diff)
		}
		if c.Verdicts[1].Reason != "over the budget of 30m" || c.Unselected != 0 {
			t.Errorf("reason %q, unselected %d", c.Verdicts[1].Reason, c.Unselected)
		}
	}
	none := gate.Compare("", nil, got, gate.DefaultPolicy())
	if diff := cmp.Diff([]string{"a untracked 0", "b skipped 0", "c skipped 0", "new skipped 0"}, lines(none)); diff != "" {
		t.Errorf("without a baseline (-want +got):\n%s", diff)
	}
}

func TestVerdictsSayHowTheirResultCameAbout(t *testing.T) {
	crashed, slow := cell("a!failed"), cell("b", "decode_tps", 1.0, "ttft_ms", 1.0)
	crashed.Cause, crashed.Device, crashed.Retries = bench.CauseOOM, "nvidia:1", 2
	slow.Device = "nvidia:0"
	c := gate.Compare("base", run(cell("b", "decode_tps", 1.0, "ttft_ms", 1.0)), run(crashed, slow), gate.DefaultPolicy())
	if v := c.Verdicts[0]; v.Cause != bench.CauseOOM || v.Device != "nvidia:1" || v.Retries != 2 {
		t.Errorf("verdict %+v", v)
	}
	for _, v := range c.Verdicts[1:] {
		if v.Cause != "" || v.Device != "nvidia:0" || v.Retries != 0 {
			t.Errorf("verdict %+v", v)
		}
	}
}
