package gate_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
)

// night is when the nth run of a history started.
func night(n int) time.Time { return time.Date(2026, 1, 1, n*24, 0, 0, 0, time.UTC) }

// following is a run after a history of its branch, one value each, the newest last.
func following(history []float64, now float64) (ref, got *bench.Run, p gate.Policy) {
	ref, got = run(withHistory("a", 100, history)), run(inTurns("a", []float64{now}, nil))
	for n := range history {
		ref.Earlier = append(ref.Earlier, bench.Point{At: night(n), Revision: string(rune('a' + n))})
	}
	got.Started, got.Revision = night(len(history)), "now"
	p = gate.DefaultPolicy()
	p.NextRun = true
	return ref, got, p
}

// TestNextRunConfirms holds which runs confirm a loss of the run before them.
func TestNextRunConfirms(t *testing.T) {
	r := rand.New(rand.NewPCG(18, 3))
	quiet := noisy(r, 100, 0.004, 14)
	slow := func(last float64) []float64 { return append(slices.Clone(quiet), last) }
	for _, test := range []struct {
		name      string
		history   []float64
		now       float64
		change    func(ref, got *bench.Run, p *gate.Policy)
		confirmed bool
	}{
		{"both slow", slow(112), 111, nil, true},
		{"by the run itself", slow(112), 111, func(_, got *bench.Run, p *gate.Policy) {
			p.NextRun, got.Context = false, map[string]string{bench.DefaultBranch: "true"}
		}, true},
		{"of another branch", slow(112), 111, func(_, _ *bench.Run, p *gate.Policy) { p.NextRun = false }, false},
		{"the first only", slow(112), 100, nil, false},
		{"the second only", slow(100), 111, nil, false},
		{"in two directions", slow(90), 111, nil, false},
		{"both faster", slow(90), 90, nil, false},
		{"the run is the newest of the history", slow(111), 111, func(ref, got *bench.Run, _ *gate.Policy) { got.Started = ref.Earlier[14].At }, false},
		{"the run before was unhealthy", slow(112), 111, func(ref, _ *bench.Run, _ *gate.Policy) {
			ref.Results[0].Samples[0].Unhealthy = append(make([]bool, 14), true)
		}, false},
		{"the host is unhealthy now", slow(112), 111, func(_, got *bench.Run, _ *gate.Policy) {
			got.Results[0].Health = &bench.Health{Status: bench.Unhealthy, Reasons: []string{"hot"}}
		}, false},
		{"too little history", []float64{100, 100.2, 112}, 111, nil, false},
		{"accepted in the baseline", slow(112), 111, func(ref, _ *bench.Run, _ *gate.Policy) { ref.Results[0].Samples[0].Summary.Median = 111 }, false},
	} {
		ref, got, p := following(test.history, test.now)
		if test.change != nil {
			test.change(ref, got, &p)
		}
		c := gate.Compare("b", ref, got, p)
		v := verdictOf(t, c, "a")
		if v.Blocks != test.confirmed || (c.SuspectRange != nil) != test.confirmed {
			t.Errorf("%s: %s, %+v; confirmed, want %v", test.name, v.Finding, c.SuspectRange, test.confirmed)
		}
		if want := (gate.SuspectRange{After: "n", Suspected: "o", Confirmed: "now", Numbers: 1}); test.confirmed && (*c.SuspectRange != want || !v.Blocks || !v.Confirmed || v.Evidence.NewN != 2) {
			t.Errorf("%s: %+v, want %+v; %+v", test.name, *c.SuspectRange, want, v)
		}
	}
}

// TestNextRunTakesBoth holds, for random histories, that no loss is confirmed of which
// one run is within what the last 10 runs did, and that the newer run may be slower
// without taking the confirmation back.
func TestNextRunTakesBoth(t *testing.T) {
	confirmed := 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 19))
		noise := 0.002 + 0.05*r.Float64()
		base := noisy(r, 100, noise, 10+r.IntN(15))
		first, now := 100*(1+0.3*r.Float64()), 100*(1+0.3*r.Float64())
		judge := func(now float64) gate.Verdict {
			ref, got, p := following(append(slices.Clone(base), first), now)
			return verdictOf(t, gate.Compare("b", ref, got, p), "a")
		}
		v := judge(now)
		if slowest := slices.Max(base[len(base)-10:]); v.Confirmed && min(first, now) <= slowest {
			t.Errorf("seed %d: %v and %v are confirmed, a run before took %v", seed, first, now, slowest)
		}
		if v.Confirmed {
			confirmed++
			if slower := judge(now * 1.1); !slower.Confirmed {
				t.Errorf("seed %d: %v is confirmed and %v is not", seed, now, now*1.1)
			}
		}
	}
	if confirmed < 50 {
		t.Errorf("%d of 400 are confirmed, so this shows little", confirmed)
	}
}
