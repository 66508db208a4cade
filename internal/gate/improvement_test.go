package gate_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

func failingGains(p gate.Policy) gate.Policy {
	p.Improvement = gate.ImprovementFail
	return p
}

// TestGainsByTheThreshold: a gain beyond the limit fails, and a recorded one does not.
func TestGainsByTheThreshold(t *testing.T) {
	ref := run(cell("a", "decode_tps", 100.0))
	for now, want := range map[float64]string{110: "a decode_tps unchanged 10", 111: "a decode_tps unrecorded blocks 11", 89: "a decode_tps regressed blocks -11"} {
		c := gate.Compare("base", ref, run(cell("a", "decode_tps", now)), failingGains(fixed()))
		if got := strings.Join(lines(c), "; "); got != want {
			t.Errorf("%v: %s, want %s", now, got, want)
		}
	}
	got := run(cell("a", "decode_tps", 150.0))
	if c := gate.Compare("base", ref, got, failingGains(fixed()).Recording()); c.Verdicts[0].Finding != gate.Improved {
		t.Errorf("what is recorded: %v", lines(c))
	}
	got.Results[0].Health = &bench.Health{Status: bench.Unhealthy, Reasons: []string{"hot"}}
	if c := gate.Compare("base", ref, got, failingGains(fixed())); c.Verdicts[0].Finding != gate.Improved {
		t.Errorf("an unhealthy host: %v", lines(c))
	}
	got.Results[0].Health = nil
	got.Calibration, ref.Calibration = &bench.Calibration{Before: []float64{70, 70, 70}}, &bench.Calibration{Before: []float64{100, 100, 100}}
	if c := gate.Compare("base", ref, got, failingGains(fixed())); c.Verdicts[0].Finding != gate.Improved {
		t.Errorf("a host that became faster: %v", lines(c))
	}
}

// TestGainsByEvidence: a gain fails where it is certain and not in the baseline.
func TestGainsByEvidence(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 24))
	earlier := func(heads int, baseline, now float64) (ref, got *bench.Run) {
		got = run(inTurns("a", noisy(r, now, 0.002, heads), nil))
		got.Results[0].Sessions = heads
		return run(withHistory("a", baseline, noisy(r, 100, 0.002, 12))), got
	}
	paired := func(pairs int, baseline, now float64) (ref, got *bench.Run) {
		got = run(inTurns("a", noisy(r, now, 0.002, pairs), noisy(r, 100, 0.002, pairs)))
		if baseline > 0 {
			ref = run(withHistory("a", baseline, nil))
		}
		return ref, got
	}
	sessions := func(now float64) (ref, got *bench.Run) {
		return run(inTurns("a", noisy(r, 100, 0.002, 5), nil)), run(inTurns("a", noisy(r, now, 0.002, 5), nil))
	}
	type sides struct{ ref, got *bench.Run }
	of := func(ref, got *bench.Run) sides { return sides{ref, got} }
	for name, c := range map[string]struct {
		sides
		fails bool
	}{
		"3 runs, 10 % faster":             {of(earlier(3, 100, 90)), true},
		"3 runs, as the baseline":         {of(earlier(3, 90, 90)), false},
		"3 runs, unchanged":               {of(earlier(3, 100, 100)), false},
		"1 run shows nothing for certain": {of(earlier(1, 100, 90)), false},
		"pairs, 10 % faster":              {of(paired(20, 100, 90)), true},
		"pairs, the baseline has it":      {of(paired(20, 90, 90)), false},
		"pairs without a baseline":        {of(paired(20, 0, 90)), false},
		"two sessions, 12 % faster":       {of(sessions(88)), true},
		"two sessions, 3 % faster":        {of(sessions(97)), false},
		"two sessions, unchanged":         {of(sessions(100)), false},
	} {
		p := failingGains(gate.DefaultPolicy())
		p.OneLook = true
		v := verdictOf(t, gate.Compare("base", c.ref, c.got, p), "a")
		if (v.Blocks) != c.fails || c.fails && (v.Finding != gate.Unrecorded || !strings.Contains(v.Reason, "update the baseline")) {
			t.Errorf("%s: %s %s %+v (%s)", name, v.Finding, standing(&v), v.Evidence, v.Reason)
		}
	}
}

// TestGainsKeepThePromise: of 200 unchanged reports of 60 cells by 3 runs against history, at
// most 2 % are red; 10 and more have a chance of 1 %. It takes a second, because fewer
// reports say nothing of a rate of 2 %.
func TestGainsKeepThePromise(t *testing.T) {
	if testtier.Race {
		t.Skip("numbers of one goroutine")
	}
	t.Parallel()
	r := rand.New(rand.NewPCG(2, 24))
	red := 0
	for range 200 {
		ref, got := run(), run()
		for i := range 60 {
			one := inTurns(fmt.Sprint("c", i), noisy(r, 100, 0.02, 3), nil)
			one.Sessions = 3
			got.Results, ref.Results = append(got.Results, one), append(ref.Results, withHistory(fmt.Sprint("c", i), 100, noisy(r, 100, 0.02, 30)))
		}
		p := failingGains(gate.DefaultPolicy())
		if gate.Decide([]gate.Comparison{gate.Compare("base", ref, got, p)}, p).Status == gate.StatusFailed {
			red++
		}
	}
	if red > 9 {
		t.Errorf("%d of 200 unchanged reports are red", red)
	}
}

// TestGainsOfACellThatTheBaselineLacks: pairs show the gain, and the baseline has no number to update.
func TestGainsOfACellThatTheBaselineLacks(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 38))
	got := run(cell("b", "ttft_ms", 100.0), inTurns("a", noisy(r, 50, 0.002, 40), noisy(r, 100, 0.002, 40)))
	got.Base = "0123abc"
	c := gate.Compare("base", run(cell("b", "ttft_ms", 100.0)), got, failingGains(fixed()))
	if all := strings.Join(lines(c), "; "); !strings.Contains(all, "a ttft_ms improved") {
		t.Errorf("%s", all)
	}
}
