package detect_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// groupOf draws cells of pairs, the head slower by the factor.
func groupOf(r *rand.Rand, cells, pairs int, sd, factor float64) []detect.Cell {
	out := make([]detect.Cell, cells)
	for i := range out {
		for range pairs {
			out[i].Base = append(out[i].Base, float64(i+1)*math.Exp(sd*r.NormFloat64()))
			out[i].Head = append(out[i].Head, float64(i+1)*factor*math.Exp(sd*r.NormFloat64()))
		}
	}
	return out
}

// TestMeanIsExact: under unchanged code, p is at most alpha in a share of alpha of the
// groups, also where the number of pairs is small and the noise of the cells differs.
func TestMeanIsExact(t *testing.T) {
	if testtier.Race {
		t.Skip("numbers of one goroutine")
	}
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 23))
	const groups = 3000
	for _, shape := range [][2]int{{1, 5}, {4, 2}, {20, 2}, {7, 1}} {
		low := 0
		for range groups {
			cells := groupOf(r, shape[0], shape[1], 0.02, 1)
			for i := range cells {
				for k := range cells[i].Base {
					if r.IntN(10) == 0 {
						cells[i].Base[k] *= 1.5
					}
					if r.IntN(10) == 0 {
						cells[i].Head[k] *= 1.5
					}
				}
			}
			if detect.JudgeMean(cells).P <= 0.05 {
				low++
			}
		}
		if share := float64(low) / groups; share > 0.062 { // 3 standard errors
			t.Errorf("%v cells and pairs: p is at most 5 %% in %.1f %% of unchanged groups", shape, 100*share)
		}
	}
}

// TestMeanByHand: 8 pairs that are all alike have the least p, and its interval is a point.
func TestMeanByHand(t *testing.T) {
	t.Parallel()
	var cells []detect.Cell
	for i := range 4 {
		base := float64(i + 1)
		cells = append(cells, detect.Cell{Base: []float64{base, base}, Head: []float64{1.04 * base, 1.04 * base}})
	}
	e := detect.JudgeMean(cells)
	if e.P != 1.0/256 || e.MinP != e.P || e.Pairs != 8 || math.Abs(e.Estimate-0.04) > 1e-12 || math.Abs(e.Low-0.04) > 1e-12 {
		t.Errorf("%+v", e)
	}
	if mde := e.MDE(0.01, 0.02); math.Abs(mde-0.02) > 1e-9 {
		t.Errorf("finds %v, want the limit", mde)
	}
	if mde := e.MDE(0.001, 0.02); !math.IsInf(mde, 1) {
		t.Errorf("finds %v at a p that 8 pairs cannot have", mde)
	}
}

// TestMeanProperties: neither units nor the order of cells matter, both sides swapped are
// as much better, and a slower group is found.
func TestMeanProperties(t *testing.T) {
	if testtier.Race {
		t.Skip("numbers of one goroutine")
	}
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 23))
	for range 200 {
		cells := groupOf(r, 1+r.IntN(12), 1+r.IntN(6), 0.03, 1+0.1*r.Float64())
		want := detect.JudgeMean(cells)
		other := slices.Clone(cells)
		slices.Reverse(other)
		for i, c := range other {
			other[i] = detect.Cell{Options: detect.Options{HigherIsBetter: true}}
			for k := range c.Base { // a rate instead of a time, in another unit
				other[i].Base, other[i].Head = append(other[i].Base, 1000/c.Base[k]), append(other[i].Head, 1000/c.Head[k])
			}
		}
		got := detect.JudgeMean(other)
		if math.Abs(got.P-want.P) > 1e-9 || math.Abs(got.Estimate-want.Estimate) > 1e-9 || !close(got.High, want.High) {
			t.Fatalf("%+v, in another order and unit %+v", want, got)
		}
		for i, c := range cells {
			other[i] = detect.Cell{Base: c.Head, Head: c.Base}
		}
		if back := detect.JudgeMean(other); math.Abs((1+back.Estimate)*(1+want.Estimate)-1) > 1e-9 || back.P+want.P < 1-1e-9 {
			t.Fatalf("%+v, swapped %+v", want, back)
		}
	}
	if e := detect.JudgeMean(groupOf(r, 40, 2, 0.02, 1.02)); e.P > 1e-4 || e.Low < 0 || e.High < e.Low {
		t.Errorf("a group of 40 cells that is 2 %% slower: %+v", e)
	}
}

func close(a, b float64) bool { return math.Abs(a-b) <= 1e-6*math.Abs(b) }

// TestMeanOfWhatIsNone: a value that has no logarithm forbids the test.
func TestMeanOfWhatIsNone(t *testing.T) {
	t.Parallel()
	for _, v := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		good := detect.Cell{Base: []float64{1, 1}, Head: []float64{2, 2}}
		e := detect.JudgeMean([]detect.Cell{good, {Base: []float64{1, 1}, Head: []float64{2, v}}, {Base: []float64{v}, Head: []float64{2}}})
		if e.P != 1 || e.Unusable != 2 {
			t.Errorf("with %v: %+v", v, e)
		}
	}
	for name, cells := range map[string][]detect.Cell{"no cell": nil, "no pair": {{Base: []float64{1}}}, "no change": {{Base: []float64{1}, Head: []float64{1}}}} {
		if e := detect.JudgeMean(cells); e.P != 1 {
			t.Errorf("%s: %+v", name, e)
		}
	}
	if e := detect.JudgeMean([]detect.Cell{{Base: []float64{1}, Head: []float64{2}}}); e.P != 0.5 || e.Low != -1 {
		t.Errorf("one pair: %+v", e)
	}
}
