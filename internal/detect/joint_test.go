package detect_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accelgate/accelgate/internal/detect"
)

// drawn is a cell with 3 new runs that are up to 20 % slower, each by another amount.
func drawn(r *rand.Rand) detect.Cell {
	noise := 0.002 + 0.03*r.Float64()
	c := detect.Cell{Options: detect.Options{Cross: 0.005 + 0.03*r.Float64()}}
	for range 10 + r.IntN(25) {
		c.Base = append(c.Base, 50*math.Exp(noise*r.NormFloat64()))
	}
	for range 3 {
		c.Head = append(c.Head, 50*math.Exp(0.2*r.Float64()+noise*r.NormFloat64()))
	}
	return c
}

// TestEachRunCounts holds, for random cells, what 3 new runs against history must show:
// a loss that each of them has by itself. The order of the runs and the unit do not
// matter, and a slower run never makes a loss less sure.
func TestEachRunCounts(t *testing.T) {
	t.Parallel()
	regressed := 0
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 33))
		c := drawn(r)
		judge := func(c detect.Cell) detect.Evidence { return detect.JudgeReport([]detect.Cell{c}, 0).Cells[0] }
		e := judge(c)
		slowest := slices.Max(c.Base[len(c.Base)-10:])
		if e.Verdict == detect.Regressed && slices.Min(c.Head) <= slowest {
			t.Errorf("seed %d: regressed with a run of %v, and a run before took %v", seed, slices.Min(c.Head), slowest)
		}
		turned := c
		turned.Head = []float64{c.Head[2], c.Head[0], c.Head[1]}
		if o := judge(turned); o.Verdict != e.Verdict || math.Abs(o.P-e.P) > 1e-12 {
			t.Errorf("seed %d: %s, p %v; in another order %s, p %v", seed, e.Verdict, e.P, o.Verdict, o.P)
		}
		if o := judge(rates(c)); o.Verdict != e.Verdict || math.Abs(o.P-e.P) > 1e-9 {
			t.Errorf("seed %d: %s, p %v; as rates %s, p %v", seed, e.Verdict, e.P, o.Verdict, o.P)
		}
		if e.Verdict == detect.Regressed {
			regressed++
			slower := c
			slower.Head = slices.Clone(c.Head)
			slower.Head[r.IntN(3)] *= 1.2
			if o := judge(slower); o.Verdict != detect.Regressed || o.P > e.P {
				t.Errorf("seed %d: p %v; with a slower run %s, p %v", seed, e.P, o.Verdict, o.P)
			}
		}
	}
	if regressed < 50 {
		t.Errorf("%d of 500 are regressed, so this shows little", regressed)
	}
}

// rates are the same cell in another unit.
func rates(c detect.Cell) detect.Cell {
	invert := func(values []float64) []float64 {
		out := make([]float64, len(values))
		for i, v := range values {
			out[i] = 7 / v
		}
		return out
	}
	c.Base, c.Head, c.Options.HigherIsBetter = invert(c.Base), invert(c.Head), true
	return c
}

// TestNextIsTheJointRuleOfTwo holds that two runs in a row are judged by the runs before
// both, and that a cell which lacks one of them is not.
func TestNextIsTheJointRuleOfTwo(t *testing.T) {
	t.Parallel()
	cells := quietCells(5, 1, still)
	for i := range 3 {
		cells[i].Base[len(cells[i].Base)-1], cells[i].Head[0] = 54, 54.2
	}
	cells[1].Base[len(cells[1].Base)-1] = math.NaN()
	cells[2].Head = append(cells[2].Head, 54)
	want := []detect.Verdict{detect.Regressed, detect.Untested, detect.Untested, detect.Unchanged, detect.Unchanged}
	for i, e := range detect.JudgeNext(cells, 0).Cells {
		if e.Verdict != want[i] {
			t.Errorf("cell %d: %+v, want %s", i, e, want[i])
		}
	}
	if e := detect.JudgeReport(cells, 0).Cells[0]; e.Verdict == detect.Regressed {
		t.Errorf("one run: %+v", e)
	}
}
