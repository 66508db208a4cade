package gate_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/gate/diff"
)

// session draws 3 values of one session, which differs from others by so many times
// as much as its values do from each other.
func session(r *rand.Rand, level, noise, factor float64) []float64 {
	return noisy(r, level*math.Exp(factor*noise*r.NormFloat64()), noise, 3)
}

// recordedOnce is a cell of a baseline that one session has measured.
func recordedOnce(id string, values []float64) bench.Result {
	return bench.Result{Cell: bench.Cell{Raw: id}, Outcome: bench.Passed, Samples: []bench.Sample{{Metric: "ttft_ms", Values: values}}}
}

// TestUnchangedLoopIsGreen is the loop of the README on a noisy host: one baseline,
// and 50 unchanged runs that measure suspects again. At most one is red.
func TestUnchangedLoopIsGreen(t *testing.T) {
	t.Run("unwatched", func(t *testing.T) { unchangedLoop(t, 2, nil) })
	t.Run("healthy", func(t *testing.T) { unchangedLoop(t, 1, &bench.Health{Status: bench.Healthy}) })
}

func unchangedLoop(t *testing.T, factor float64, health *bench.Health) {
	r := rand.New(rand.NewPCG(51, 52))
	const cells = 20
	var ref, noises = []bench.Result{}, []float64{}
	for i := range cells {
		noises = append(noises, math.Exp(-5+3*r.Float64())) // 0.7 to 13 %
		ref = append(ref, recordedOnce(fmt.Sprint("c", i), session(r, 100, noises[i], factor)))
	}
	red, warned := 0, 0
	for range 50 {
		var got []bench.Result
		for i := range cells {
			got = append(got, inTurns(fmt.Sprint("c", i), session(r, 100, noises[i], factor), nil))
			got[i].Health = health
		}
		c := gate.Compare("b", run(ref...), run(got...), gate.DefaultPolicy())
		ids, _ := gate.Open(c)
		for _, id := range ids {
			for i := range got {
				if got[i].Cell.Raw == id {
					got[i].Samples[0].Values = append(got[i].Samples[0].Values, session(r, 100, noises[i], factor)...)
					got[i].Selected = 3
				}
			}
		}
		d := gate.Decide([]gate.Comparison{gate.Compare("b", run(ref...), run(got...), gate.DefaultPolicy())}, gate.DefaultPolicy())
		if d.Status == gate.StatusFailed {
			red++
		}
		warned += d.Undecided[gate.Regressed]
	}
	if red > 1 {
		t.Errorf("%d of 50 unchanged runs are red", red)
	}
	if warned == 0 {
		t.Error("no loss was beyond the threshold, so this shows nothing")
	}
}

// TestLossBeyondTwoSessions holds that a loss which two sessions cannot make blocks
// without pairs and history, that one which they can make warns with what decides
// it, and that a policy of the threshold alone blocks both.
func TestLossBeyondTwoSessions(t *testing.T) {
	ref := run(recordedOnce("a", []float64{100, 103, 97}))
	for _, test := range []struct {
		value  float64
		method gate.Method
		class  gate.Finding
		want   string
	}{
		{300, "", gate.Regressed, "blocks "},
		{115, "", gate.Regressed, "?pairs "},
		{115, gate.MethodThreshold, gate.Regressed, "blocks "},
		{105, "", gate.Unchanged, ""},
	} {
		p := gate.DefaultPolicy()
		p.Method = test.method
		v := verdictOf(t, gate.Compare("b", ref, run(inTurns("a", []float64{test.value, test.value + 2, test.value - 2}, nil)), p), "a")
		if v.Finding != test.class || standing(&v) != test.want || v.Undecided() && v.Reason == "" {
			t.Errorf("%v by %q: %+v", test.value, test.method, v)
		}
	}
	p := gate.DefaultPolicy()
	p.Inconclusive = gate.InconclusiveFail
	if v := verdictOf(t, gate.Compare("b", ref, run(inTurns("a", []float64{115, 117, 113}, nil)), p), "a"); !v.Blocks {
		t.Errorf("where what is open fails: %+v", v)
	}
}

// TestPower holds that each method reports what it could have seen, and that one run
// against history only suspects.
func TestPower(t *testing.T) {
	r := rand.New(rand.NewPCG(53, 54))
	ref := run(withHistory("a", 100, noisy(r, 100, 0.01, 12)), recordedOnce("b", []float64{100, 101, 99}), recordedOnce("c", []float64{100, 101, 99}))
	c := gate.Compare("b", ref, run(inTurns("a", []float64{100}, nil), inTurns("b", []float64{100}, nil), inTurns("c", noisy(r, 100, 0.01, 30), noisy(r, 100, 0.01, 30))), gate.DefaultPolicy())
	if len(c.Power) != 3 {
		t.Fatalf("%+v", c.Power)
	}
	for i, want := range []struct {
		method   gate.Method
		suspects bool
	}{{gate.MethodPairs, false}, {gate.MethodHistory, true}, {gate.MethodSessions, false}} {
		if s := c.Power[i]; s.Method != want.method || s.Suspects != want.suspects || s.Metrics != 1 || !(s.Half > 0) || s.Ninety < s.Half {
			t.Errorf("%+v", s)
		}
	}
}

// TestASlowHistoryIsDrift holds that a history which is slower than the baseline,
// merged or made up, do not make a slow run pass: its anchor shows the loss.
func TestASlowHistoryIsDrift(t *testing.T) {
	r := rand.New(rand.NewPCG(55, 56))
	ref := run(withHistory("a", 100, noisy(r, 130, 0.005, 15)))
	ref.Results[0].Samples[0].Anchor = 100
	p := gate.DefaultPolicy()
	p.Drift = 10
	c := gate.Compare("b", ref, run(inTurns("a", noisy(r, 130, 0.005, 3), nil)), p)
	if d := gate.Decide([]gate.Comparison{c}, p); d.Status != gate.StatusFailed || d.Blocking[gate.Drifted] != 1 {
		t.Errorf("%s: %v", d.Status, lines(c))
	}
}

// TestDiffKnowsNoise holds that a diff of unchanged code which holds several values a
// side shows no change, that a plain one is shown, and that single values are
// compared by the tolerance alone.
func TestDiffKnowsNoise(t *testing.T) {
	r := rand.New(rand.NewPCG(57, 58))
	side := func(name string, level float64, n int) diff.Document {
		var results []bench.Result
		for i := range 12 {
			results = append(results, recordedOnce(fmt.Sprint("c", i), noisy(r, level, 0.004, n)))
		}
		return diff.DocumentOf(name, run(results...), nil)
	}
	count := func(a, b diff.Document, want diff.Verdict) (n int) {
		d := diff.Compare(a, b, diff.Policy{Tolerance: 0.002})
		for _, row := range d.Rows {
			if row.Verdict == want {
				n++
			}
		}
		return n
	}
	if n := count(side("a", 100, 3), side("b", 100, 3), diff.NoChange); n != 12 {
		t.Errorf("unchanged: %d of 12 say so", n)
	}
	if n := count(side("a", 100, 3), side("b", 130, 3), diff.Regression); n != 12 {
		t.Errorf("slower by 30 %%: %d of 12 say so", n)
	}
	if n := count(side("a", 100, 1), side("b", 102, 1), diff.Regression); n < 10 {
		t.Errorf("single values: %d of 12 beyond the tolerance say so", n)
	}
}
