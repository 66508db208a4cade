package gate_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
)

// TestWhatBothSidesLost holds that pairs which agree at less than the baseline are never green,
// whatever spread the run claims, and that pairs on another or an unhealthy host stand.
func TestWhatBothSidesLost(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name        string
		base, head  float64
		spread      float64
		change      func(ref, got *bench.Run)
		want        gate.Status
		undecided   bool
		byBlocks    bool
		policyDrift float64
	}{
		{name: "equal to the baseline", base: 100, head: 100, spread: 0.003, want: gate.StatusPassed},
		{name: "both within the limit", base: 108, head: 108, spread: 0.003, want: gate.StatusPassed},
		{name: "both at twice the time", base: 200, head: 200, spread: 0.003, want: gate.StatusUndecided, undecided: true},
		{name: "both at twice the time, and drift is off", base: 200, head: 200, spread: 0.003, policyDrift: -10,
			want: gate.StatusUndecided, undecided: true},
		{name: "both at twice the time, with a wide spread", base: 200, head: 200, spread: 0.3, want: gate.StatusUndecided, undecided: true},
		{name: "both faster", base: 70, head: 70, spread: 0.003, want: gate.StatusPassed},
		{name: "the head alone", base: 100, head: 200, spread: 0.003, want: gate.StatusFailed, byBlocks: true},
		{name: "on an unhealthy host", base: 200, head: 200, spread: 0.003, want: gate.StatusPassed,
			change: func(_, got *bench.Run) {
				got.Results[0].Health = &bench.Health{Status: bench.Unhealthy, Reasons: []string{"other programs used 49 % of the processors"}}
			}},
		{name: "on another host", base: 200, head: 200, spread: 0.003, want: gate.StatusWarned,
			change: func(ref, _ *bench.Run) { ref.Host.CPU = "another" }},
		{name: "of a cell whose noise the baseline records", base: 200, head: 200, spread: 0.003, want: gate.StatusPassed,
			change: func(ref, _ *bench.Run) { ref.Results[0].Samples[0].Summary.Noise = 0.5 }},
	} {
		r := rand.New(rand.NewPCG(50, 51))
		ref := run(withHistory("a", 100, nil))
		got := run(inTurns("a", noisy(r, test.head, test.spread, 30), noisy(r, test.base, test.spread, 30)))
		if test.change != nil {
			test.change(ref, got)
		}
		p := gate.DefaultPolicy()
		p.Drift = max(0, 10+test.policyDrift)
		c := gate.Compare("b", ref, got, p)
		if d := gate.Decide([]gate.Comparison{c}, p); d.Status != test.want {
			t.Errorf("%s: %s, want %s: %v", test.name, d.Status, test.want, lines(c))
		}
		i := slices.IndexFunc(c.Verdicts, func(v gate.Verdict) bool { return v.SinceBaseline() })
		if (i >= 0) != test.undecided {
			t.Errorf("%s: a loss since the baseline at %d of %v", test.name, i, lines(c))
			continue
		}
		if ids, _ := gate.Open(c); test.undecided && len(ids) > 0 {
			t.Errorf("%s: measured again, which decides nothing: %v", test.name, ids)
		}
		if slices.ContainsFunc(c.Verdicts, func(v gate.Verdict) bool { return v.Blocks }) != test.byBlocks {
			t.Errorf("%s: %v", test.name, lines(c))
		}
	}
}
