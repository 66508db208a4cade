package detect_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accelgate/accelgate/internal/detect"
)

// TestLargeLossesAreCheap: 9 of 10 losses of three times their limit are settled by 10 pairs,
// where the noise of a value is a sixth of them, whatever the number of lost cells is. The
// rest is found by later pairs.
func TestLargeLossesAreCheap(t *testing.T) {
	t.Parallel()
	s := detect.DefaultStages()
	for _, lost := range []int{1, 2, 12, 60} {
		rng := rand.New(rand.NewPCG(41, uint64(lost)))
		early, found, all := 0, 0, 0
		for range 60 {
			var cells []detect.Cell
			for i := range 60 {
				factor := 1.0
				if i < lost {
					factor = 1.061
				}
				cells = append(cells, plain(rng, s.Total(), 0.01, factor))
			}
			for _, e := range detect.JudgeStages(cells, s, 0)[:lost] {
				all++
				if e.Verdict == detect.Regressed {
					found++
					if e.Used <= 10 {
						early++
					}
				}
			}
		}
		t.Logf("%d of 60 cells: %d of %d found, %d by 10 pairs", lost, found, all, early)
		if 100*found < 99*all || 10*early < 9*all {
			t.Errorf("%d of 60 cells: %d of %d found, %d by 10 pairs", lost, found, all, early)
		}
	}
}

// plain draws pairs without tails.
func plain(rng *rand.Rand, n int, noise, factor float64) detect.Cell {
	c := detect.Cell{Options: detect.Options{Mode: detect.Interleaved, MinEffect: 0.02}}
	for range n {
		c.Base, c.Head = append(c.Base, math.Exp(noise*rng.NormFloat64())), append(c.Head, factor*math.Exp(noise*rng.NormFloat64()))
	}
	return c
}

// TestEarlyFalseAlarms: early decisions spend their share of the false alarms and no more,
// on noise whose first look is wrong often. A rate of 20 % shows more of it than 2 %.
func TestEarlyFalseAlarms(t *testing.T) {
	t.Parallel()
	rng, s := rand.New(rand.NewPCG(43, 44)), detect.DefaultStages()
	const reports, rate = 600, 0.2
	early, red := 0, 0
	for range reports {
		var cells []detect.Cell
		for range 20 {
			c := pairsOf(rng, s.Total(), 0.03, 1)
			c.Options.MinEffect = -1
			cells = append(cells, c)
		}
		one, any := false, false
		for _, e := range detect.JudgeStages(cells, s, rate) {
			any = any || e.Verdict == detect.Regressed
			one = one || e.Verdict == detect.Regressed && e.N == s.Early.Pairs
		}
		if one {
			early++
		}
		if any {
			red++
		}
	}
	t.Logf("%d of %d unchanged reports are red, %d early", red, reports, early)
	if maximum := func(p float64) int { return int(reports*p + 3*math.Sqrt(reports*p*(1-p))) }; early > maximum(rate*(s.Early.Shares[0]+s.Early.Shares[1])) || red > maximum(rate) {
		t.Errorf("%d of %d unchanged reports are red at %v, %d early at %v", red, reports, rate, early, rate*(s.Early.Shares[0]+s.Early.Shares[1]))
	}
	if early == 0 {
		t.Error("no early decision was wrong, so the test shows nothing")
	}
}

// TestEarlyTakesAsManyPairsAsItsShareNeeds: a road that may spend less of the false alarms
// takes more pairs, until they save nothing.
func TestEarlyTakesAsManyPairsAsItsShareNeeds(t *testing.T) {
	t.Parallel()
	s := detect.DefaultStages()
	for rate, want := range map[float64][2]int{0.2: {10, 10}, 0.02: {10, 10}, 0.01: {10, 10}, 0.005: {11, 11}, 0.001: {14, 14}, 1e-6: {30, 5}} { // in all, and after 2
		rng := rand.New(rand.NewPCG(45, 46))
		c := plain(rng, s.Total(), 0.001, 2)
		if e := detect.JudgeStages([]detect.Cell{c}, s, rate)[0]; e.Verdict != detect.Regressed || e.Used != want[0] {
			t.Errorf("%v: %d pairs, want %d: %+v", rate, e.Used, want[0], e)
		}
		c.Base, c.Head = c.Base[:2], c.Head[:2]
		if e := detect.JudgeStages([]detect.Cell{c}, s, rate)[0]; e.Need != want[1] {
			t.Errorf("%v: after 2 pairs %d are needed: %+v", rate, e.Need, e)
		}
	}
}

// TestEarlyStopsWhereAllSharesAreSpent: what looks worst at first and is unchanged costs a share,
// and the losses behind the last one are found by the later decision.
func TestEarlyStopsWhereAllSharesAreSpent(t *testing.T) {
	t.Parallel()
	rng, s := rand.New(rand.NewPCG(47, 48)), detect.DefaultStages()
	cells := []detect.Cell{plain(rng, s.Total(), 0.001, 1.5)}
	for wrong := range len(s.Early.Shares) + 1 {
		want := 10
		if wrong == len(s.Early.Shares) {
			want = s.Total()
		}
		found := detect.JudgeStages(cells, s, 0)
		if e := found[0]; e.Verdict != detect.Regressed || e.Used != want {
			t.Errorf("%d are wrong: %d pairs, want %d: %+v", wrong, e.Used, want, e)
		}
		for _, e := range found[1:] {
			if e.Verdict == detect.Regressed || e.Used != 10 {
				t.Errorf("the unchanged cell: %+v", e)
			}
		}
		c := plain(rng, s.Total(), 0.001, 1)
		for i := range s.Looks[0].Pairs {
			c.Head[i] = 9 * c.Base[i]
		}
		cells = append(cells, c)
	}
}
