package baseline_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/reference/baseline"
)

// calibrated is a baseline of two cells, of which a is calibrated.
func calibrated(t *testing.T) *baseline.File {
	t.Helper()
	f, _ := update(t, nil, newRun(result("a", bench.Passed, sample("decode_tps", 100), sample("prefill_tps", 9)), result("b", bench.Passed, sample("decode_tps", 50))),
		baseline.UpdateOptions{Reason: "first", Now: monday})
	f, lost := baseline.Calibrate(f, []baseline.Calibrated{
		{CaseID: "a", Metric: "decode_tps", Noise: 0.012345, MDE: 0.0567},
		{CaseID: "a", Metric: "none", Noise: 1}, {CaseID: "c", Metric: "decode_tps", Noise: 1},
	})
	if len(lost) != 2 || lost[0].Metric != "none" || lost[1].CaseID != "c" {
		t.Fatalf("lost %v, want the metric none and the cell c", lost)
	}
	return parse(t, marshal(t, f))
}

// TestCalibrate: what was found is kept in two digits, over any refresh, and is
// dropped where the host is another one.
func TestCalibrate(t *testing.T) {
	f := calibrated(t)
	if text := marshal(t, f); !strings.Contains(text, `"n": 1, "noise": 0.012, "mde": 0.057}`) || strings.Count(text, "noise") != 1 {
		t.Errorf("written:\n%s", text)
	}
	if s := f.Run().Results[0].Sample("decode_tps").Summary; s.Noise != 0.012 || s.MDE != 0.057 {
		t.Errorf("the reference has %+v", s)
	}
	refreshed, _ := update(t, f, newRun(result("a", bench.Passed, sample("decode_tps", 90), sample("prefill_tps", 9))), baseline.UpdateOptions{Now: tuesday})
	if m := refreshed.Entries[0].Metric("decode_tps"); m.Median != 90 || m.Noise != 0.012 || m.MDE != 0.057 {
		t.Errorf("after a refresh: %+v", m)
	}
	run := newRun(result("a", bench.Passed, sample("decode_tps", 200)), result("b", bench.Passed, sample("decode_tps", 90)))
	run.Host.Fingerprint = h200
	moved, _ := update(t, f, run, baseline.UpdateOptions{Now: tuesday})
	anchor, _ := anchorOf(moved, "a")
	if m := moved.Entries[0].Metric("decode_tps"); m.Noise != 0 || m.MDE != 0 || anchor != 200 {
		t.Errorf("on another host: %+v, anchor %v", m, anchor)
	}

	foreign := newRun(bench.Result{Cell: bench.Cell{Raw: "b"}, Outcome: bench.Passed, // a run cannot excuse itself by its own noise
		Samples: []bench.Sample{{Metric: "decode_tps", Summary: &bench.Summary{Median: 50, N: 1, Noise: 9, MDE: 9}}}})
	claimed, _ := update(t, nil, foreign, baseline.UpdateOptions{Now: tuesday})
	if m := claimed.Entries[0].Metric("decode_tps"); m.Noise != 0 || m.MDE != 0 {
		t.Errorf("a run calibrates: %+v", m)
	}

	odd, _ := baseline.Calibrate(f, []baseline.Calibrated{{CaseID: "a", Metric: "decode_tps", Noise: math.NaN(), MDE: math.Inf(1)}})
	if m := parse(t, marshal(t, odd)).Entries[0].Metric("decode_tps"); m.Noise != 0 {
		t.Errorf("not a number: %+v", m)
	}
}

// TestCalibrationOfTheMachine: the file records the speed of the host.
func TestCalibrationOfTheMachine(t *testing.T) {
	run := newRun(result("a", bench.Passed, sample("decode_tps", 100)))
	run.Calibration = &bench.Calibration{Before: []float64{212.44444, 210, 215}, After: []float64{500}}
	f, _ := update(t, nil, run, baseline.UpdateOptions{Now: monday})
	if text := marshal(t, f); !strings.Contains(text, "\n  \"calibration_ms\": 212.4444,\n  \"descriptions\"") {
		t.Errorf("written:\n%s", text)
	}
	f = parse(t, marshal(t, f))
	if got := f.Run().Calibration; got == nil || !cmp.Equal(got.Before, []float64{212.4444}) {
		t.Errorf("the reference has %+v", got)
	}
	run.Calibration = nil
	if kept, _ := update(t, f, run, baseline.UpdateOptions{Now: tuesday}); kept.CalibrationMS != 212.4444 {
		t.Errorf("kept %v", kept.CalibrationMS)
	}
	run.Host.Fingerprint = h200
	moved, _ := update(t, f, run, baseline.UpdateOptions{Now: tuesday})
	if moved.CalibrationMS != 0 || moved.Run().Calibration != nil {
		t.Errorf("another host keeps %v", moved.CalibrationMS)
	}
}

// TestPin: an anchor moves with a reason only.
func TestPin(t *testing.T) {
	f := calibrated(t)
	failed := baseline.Entry{CaseID: "z"}
	f.Entries = append(f.Entries, failed)
	f, _ = update(t, f, newRun(result("a", bench.Passed, sample("decode_tps", 80), sample("prefill_tps", 9)), result("b", bench.Passed, sample("decode_tps", 40))),
		baseline.UpdateOptions{Reason: "slower", Now: tuesday, All: true})
	if anchor, _ := anchorOf(f, "a"); anchor != 100 {
		t.Fatalf("a refresh moved the anchor to %v", anchor)
	}
	before := marshal(t, f)
	pinned, changes := baseline.Pin(f, func(id string) bool { return id != "b" }, "accelgate v1.0.0", "the new kernel is worth it")
	if marshal(t, f) != before {
		t.Error("the old file was modified")
	}
	pinned = parse(t, marshal(t, pinned))
	if anchor, at := anchorOf(pinned, "a"); anchor != 80 || !at.At.Equal(tuesday) || at.Revision != "0123abc" {
		t.Errorf("anchor %v of %+v", anchor, at)
	}
	other, _ := anchorOf(pinned, "b")
	if none, at := anchorOf(pinned, "z"); other != 50 || none != 0 || !at.At.IsZero() {
		t.Errorf("another entry was pinned: %+v", pinned.Entries[1:])
	}
	if *pinned.Notes != "the new kernel is worth it (accelgate v1.0.0)" || pinned.Entries[0].Metric("decode_tps").Noise != 0.012 {
		t.Errorf("notes %q, metric %+v", *pinned.Notes, pinned.Entries[0].Metric("decode_tps"))
	}
	want := []baseline.Change{{CaseID: "a", Metric: "decode_tps", Unit: "tok/s", Better: bench.Higher, Old: 100, New: 80, HasOld: true, Kind: baseline.Changed}}
	if diff := cmp.Diff(want, changes); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	if same, changes := baseline.Pin(pinned, func(string) bool { return false }, "", "nothing"); len(changes) > 0 || marshal(t, same) != marshal(t, pinned) {
		t.Errorf("pinning nothing changed %v", changes)
	}
	if again, changes := baseline.Pin(pinned, func(id string) bool { return id == "a" }, "", "again"); len(changes) > 0 || marshal(t, again) != marshal(t, pinned) {
		t.Errorf("pinning again changed %v", changes)
	}
}
