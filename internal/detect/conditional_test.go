package detect_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// conditionalNoise draws pairs of unchanged code: one level of noise, or one that
// differs from cell to cell, with and without tails.
type conditionalNoise struct {
	name             string
	minimum, maximum float64 // standard deviation
	tails            bool
}

func (k conditionalNoise) pairs(rng *rand.Rand, n int) (base, head []float64) {
	sd := k.minimum * math.Pow(k.maximum/k.minimum, rng.Float64())
	draw := func() float64 {
		x := sd * rng.NormFloat64()
		if k.tails && rng.IntN(10) == 0 {
			x += 4 * sd * rng.ExpFloat64()
		}
		return math.Exp(x)
	}
	for range n {
		base, head = append(base, draw()), append(head, draw())
	}
	return base, head
}

// TestStatedAfterMeasuring: what pairs of unchanged code say that they would have
// found, they find in 4 of 5 cases when the head is slowed down by it: over all
// noise, and also among those that state little, where noise is small by chance.
func TestStatedAfterMeasuring(t *testing.T) {
	if testtier.Race {
		t.Skip("numbers of one goroutine")
	}
	t.Parallel()
	const trials, allowed = 1500, 3.5 // percentage points, some three standard errors
	stages := detect.DefaultStages()
	roads := []struct {
		name  string
		pairs int
		low   float64 // percent, of the third that states least
		judge func(c detect.Cell) detect.Evidence
	}{{"stages", stages.Total(), 50, func(c detect.Cell) detect.Evidence { return detect.JudgeStages([]detect.Cell{c}, stages, 0.01)[0] }}}
	for _, n := range []int{3, 5, 10, 20} {
		roads = append(roads, struct {
			name  string
			pairs int
			low   float64
			judge func(c detect.Cell) detect.Evidence
		}{"at once", n, 72, func(c detect.Cell) detect.Evidence { return detect.JudgeGroup([]detect.Cell{c}, 0.01).Cells[0] }})
	}
	for _, noise := range []conditionalNoise{{"1 %", 0.01, 0.01, false}, {"0.3 to 10 %", 0.003, 0.1, false}, {"2 % with tails", 0.02, 0.02, true}, {"0.3 to 10 % with tails", 0.003, 0.1, true}} {
		for _, road := range roads {
			rng := rand.New(rand.NewPCG(33, uint64(road.pairs)))
			stated, found := make([]float64, trials), make([]bool, trials)
			for i := range trials {
				c := detect.Cell{Options: detect.Options{Mode: detect.Interleaved, MinEffect: -1}}
				c.Base, c.Head = noise.pairs(rng, road.pairs)
				stated[i] = road.judge(c).MDE
				for k := range c.Head {
					c.Head[k] *= 1 + stated[i]
				}
				found[i] = road.judge(c).Verdict == detect.Regressed
			}
			all, low := shareFound(stated, found)
			t.Logf("%s, %s, %d pairs: %.0f %% found, %.0f %% of the third that states least", noise.name, road.name, road.pairs, all, low)
			if all < 80-allowed || all > 97 || low < road.low {
				t.Errorf("%s, %s, %d pairs: %.1f %% found, %.1f %% of the third that states least", noise.name, road.name, road.pairs, all, low)
			}
		}
	}
}

// shareFound returns the percentage that is found, of all and of the third that states
// least.
func shareFound(stated []float64, found []bool) (all, low float64) {
	order := make([]int, len(stated))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(stated[a], stated[b]) })
	third := len(order) / 3
	for place, i := range order {
		if found[i] {
			all += 100 / float64(len(order))
			if place < third {
				low += 100 / float64(third)
			}
		}
	}
	return all, low
}

// TestPromisedRange: what pairs of the same noise need lies in the range that is
// promised before they are measured, and a promise is none without the middle in it.
func TestPromisedRange(t *testing.T) {
	if testtier.Race {
		t.Skip("numbers of one goroutine")
	}
	t.Parallel()
	for _, noise := range []conditionalNoise{{"1 %", 0.01, 0.01, false}, {"2 % with tails", 0.02, 0.02, true}} {
		rng, within := rand.New(rand.NewPCG(35, 36)), 0
		const trials = 100
		for range trials {
			values, _ := noise.pairs(rng, 40)
			r, ok := detect.Resolve(values, 0, detect.Options{})
			if !ok || r.PairedRange[0] > r.Paired || r.PairedRange[1] < r.Paired || !(r.PairedRange[0] > 0) {
				t.Fatalf("%+v", r)
			}
			var needed []float64
			for range 15 { // other pairs of that host
				base, head := noise.pairs(rng, r.Pairs)
				needed = append(needed, detect.Judge(base, head, detect.Options{Mode: detect.Interleaved}).MDE)
			}
			slices.Sort(needed)
			if middle := needed[len(needed)/2]; middle >= r.PairedRange[0] && middle <= r.PairedRange[1] {
				within++
			}
		}
		t.Logf("%s: %d of %d within", noise.name, within, trials)
		if within < 85 {
			t.Errorf("%s: %d of %d sessions need what was promised", noise.name, within, trials)
		}
	}
}
