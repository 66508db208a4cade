package detect_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accelgate/accelgate/internal/detect"
)

// drawn is a cell with new runs that are up to 20 % slower, each by another amount.
func drawn(r *rand.Rand, runs int) detect.Cell {
	noise := 0.002 + 0.03*r.Float64()
	c := detect.Cell{Options: detect.Options{Cross: 0.005 + 0.03*r.Float64()}}
	for range 10 + r.IntN(25) {
		c.Base = append(c.Base, 50*math.Exp(noise*r.NormFloat64()))
	}
	for range runs {
		c.Head = append(c.Head, 50*math.Exp(0.2*r.Float64()+noise*r.NormFloat64()))
	}
	return c
}

// TestEachRunCounts holds, for random cells, what 3 to 9 new runs against history must
// show: a loss that each of them has by itself. The order of the runs and the unit do not
// matter, and a slower run never makes a loss less sure.
func TestEachRunCounts(t *testing.T) {
	t.Parallel()
	regressed := 0
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 33))
		runs := 3 + r.IntN(7)
		c := drawn(r, runs)
		e := alone(c)
		slowest := slices.Max(c.Base[len(c.Base)-10:])
		if e.Verdict == detect.Regressed && slices.Min(c.Head) <= slowest {
			t.Errorf("seed %d: regressed with a run of %v, and a run before took %v", seed, slices.Min(c.Head), slowest)
		}
		turned := c
		turned.Head = append(slices.Clone(c.Head[1:]), c.Head[0])
		if o := alone(turned); o.Verdict != e.Verdict || math.Abs(o.P-e.P) > 1e-12 {
			t.Errorf("seed %d: %s, p %v; in another order %s, p %v", seed, e.Verdict, e.P, o.Verdict, o.P)
		}
		if o := alone(rates(c)); o.Verdict != e.Verdict || math.Abs(o.P-e.P) > 1e-9 || math.Abs(o.MDE-e.MDE) > 1e-9 {
			t.Errorf("seed %d: %s, p %v; as rates %s, p %v", seed, e.Verdict, e.P, o.Verdict, o.P)
		}
		if e.Verdict == detect.Regressed {
			regressed++
			slower := c
			slower.Head = slices.Clone(c.Head)
			slower.Head[r.IntN(runs)] *= 1.2
			if o := alone(slower); o.Verdict != detect.Regressed || o.P > e.P {
				t.Errorf("seed %d: p %v; with a slower run %s, p %v", seed, e.P, o.Verdict, o.P)
			}
		}
	}
	if regressed < 50 {
		t.Errorf("%d of 500 are regressed, so this shows little", regressed)
	}
}

// alone judges a report of one cell.
func alone(c detect.Cell) detect.Evidence {
	return detect.JudgeReport([]detect.Cell{c}, 0).Cells[0]
}

// TestMoreRunsAreSurer holds that another equally slow run never makes a loss less sure,
// and that runs in a row count for less than independent ones: their p is above the
// product of the p of each.
func TestMoreRunsAreSurer(t *testing.T) {
	t.Parallel()
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 34))
		c := drawn(r, 1)
		c.Head[0] = 1.1 * slices.Max(c.Base)
		single := alone(c).P
		last := single
		for runs := 2; runs <= 9; runs++ {
			c.Head = append(c.Head, c.Head[0])
			if runs < 3 {
				continue
			}
			e := alone(c)
			if e.P > last || e.P < math.Pow(single, float64(runs)) {
				t.Errorf("seed %d: p %v of %d runs, %v of one run less, %v of one", seed, e.P, runs, last, single)
			}
			last = e.P
		}
	}
}

// history are reports of cells with a noise of 0.3 to 4.8 %, of which each run depends on
// the one before it by a correlation. The new runs of the first 3 cells are slower by
// what slow returns for them.
func history(rng *rand.Rand, runs int, correlation float64, slow func(cell int) float64) []detect.Cell {
	cells := make([]detect.Cell, 40)
	for i := range cells {
		noise, y := 0.003*math.Pow(16, rng.Float64()), rng.NormFloat64()
		for run := -30; run < runs; run++ {
			y = correlation*y + math.Sqrt(1-correlation*correlation)*rng.NormFloat64()
			if run < 0 {
				cells[i].Base = append(cells[i].Base, math.Exp(noise*y))
				continue
			}
			loss := 0.0
			if i < 3 {
				loss = slow(i)
			}
			cells[i].Head = append(cells[i].Head, math.Exp(noise*y+loss))
		}
	}
	return cells
}

func unchanged(int) float64 { return 0 }

// TestRunsThatResembleEachOther holds the promise of 2 % where runs depend on the run
// before by 0.3: of 80 reports, 4 or fewer are red in 98 of 100 cases.
func TestRunsThatResembleEachOther(t *testing.T) {
	t.Parallel()
	for _, runs := range []int{3, 5, 9, 10} {
		rng, red := rand.New(rand.NewPCG(uint64(runs), 7)), 0
		for range 80 {
			if verdicts(detect.JudgeGroup(history(rng, runs, 0.3, unchanged), 0))[detect.Regressed] > 0 {
				red++
			}
		}
		if red > 4 {
			t.Errorf("%d runs: %d of 80 reports are red", runs, red)
		}
	}
}

// TestHistoryMDE: what a report of history states to be found in 4 of 5 cases is found
// about so often.
func TestHistoryMDE(t *testing.T) {
	t.Parallel()
	for _, runs := range []int{3, 5, 10} {
		rng := rand.New(rand.NewPCG(uint64(runs), 8))
		found, trials := 0, 0
		for range 100 {
			state := rng.Uint64()
			draw := func(slow func(int) float64) detect.Report {
				return detect.JudgeGroup(history(rand.New(rand.NewPCG(state, 8)), runs, 0, slow), 0)
			}
			stated := draw(unchanged).Cells
			r := draw(func(cell int) float64 { return math.Log1p(stated[cell].MDE) })
			for _, e := range r.Cells[:3] {
				trials++
				if e.Verdict == detect.Regressed {
					found++
				}
			}
		}
		if share := float64(found) / float64(trials); share < 0.7 || share > 0.95 {
			t.Errorf("%d runs: %.0f %% found", runs, 100*share)
		}
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
