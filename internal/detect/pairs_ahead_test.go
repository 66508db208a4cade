package detect_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accelgate/accelgate/internal/detect"
)

// TestLaterIsWhatFollows: over many unchanged cells, and over 4 of 40 that lost, what is expected to follow is what follows, before
// any pair and after each look. Only few losses of 5 % are still open after 5 pairs, and look as
// if chance made them.
func TestLaterIsWhatFollows(t *testing.T) {
	t.Parallel()
	rng, s := rand.New(rand.NewPCG(51, 52)), detect.DefaultStages()
	for _, change := range []struct {
		name            string
		factor, maximum float64 // the latter of expectation and truth, or the other way round
	}{{"unchanged", 1, 1.5}, {"a loss of 5 %", 1.05, 2.2}, {"a loss of 35 %", 1.35, 1.5}} {
		name, factor := change.name, change.factor
		expected, got, lost := map[int]float64{}, map[int]float64{}, 4
		if factor == 1 {
			lost = 40
		}
		for range 100 {
			var all []detect.Cell
			for i := range 40 {
				slower := 1.0
				if i < lost {
					slower = factor
				}
				all = append(all, plain(rng, s.Total(), math.Exp(-5+2*rng.Float64()), slower))
			}
			if factor == 1 {
				expected[0] += 40 * s.Ahead()
			}
			cells := make([]detect.Cell, len(all))
			give := func(i, n int) {
				cells[i] = all[i]
				cells[i].Base, cells[i].Head = all[i].Base[:n], all[i].Head[:n]
			}
			for i := range all {
				give(i, s.Looks[0].Pairs)
			}
			waiting := map[int][]int{} // cells by how many pairs they had
			for more := true; more; {
				more = false
				for i, e := range detect.JudgeStages(cells, s, 0) {
					if e.Need == 0 {
						continue
					}
					if i < lost {
						expected[e.Used] += float64(e.Need-e.Used) + s.Later(e.P, e.Used, e.Need)
						waiting[e.Used] = append(waiting[e.Used], i)
					}
					give(i, e.Need)
					more = true
				}
			}
			for used, which := range waiting {
				for _, i := range which {
					got[used] += float64(len(cells[i].Base) - used)
				}
			}
			for i := range cells {
				got[0] += float64(len(cells[i].Base))
			}
		}
		for used, want := range expected {
			t.Logf("%s: after %d pairs %.0f are expected, %.0f follow", name, used, want, got[used])
			if ratio := want / got[used]; got[used] > 400 && (ratio < 1/change.maximum || ratio > change.maximum) {
				t.Errorf("%s: after %d pairs %.0f are expected, and %.0f follow", name, used, want, got[used])
			}
		}
	}
}
