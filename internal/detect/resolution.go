package detect

import (
	"math"
	"slices"

	"github.com/accelgate/accelgate/internal/stats"
)

// Resolution is what can be found in one cell, by what fresh processes of
// unchanged code differ by. Changes are relative and positive for the worse, as
// in [Evidence].
type Resolution struct {
	// Noise is that of one sample, in units of the logarithm: robust against
	// outliers, and against a host that slowly drifts meanwhile.
	Noise float64
	// Single is the smallest slow-down that one run, judged by earlier ones with
	// this noise, would have called [Regressed] in 4 of 5 cases. Runs of other days
	// and other jobs differ by more.
	Single float64
	// Paired is that of Pairs pairs that are measured in turns.
	Paired float64
	Pairs  int
}

// LeastResolved is how many values [Resolve] needs.
const LeastResolved = 6

// ResolvedPairs is the most pairs that [Resolve] looks at together.
const ResolvedPairs = 5

// Resolve tells what can be found, from the values that fresh processes of one
// code measured, in their order. step is the distance of two values that the
// program can print, in their unit, 0 if that does not matter: what prints the
// same number each time is not without noise. Options.Mode is Resolve's; Own
// is so for a single run, which history will have shown. ok is false with fewer
// than LeastResolved values, or where one is unusable.
//
// The noise is that of the steps between successive values, as [Own] has it, of
// fewer values than that insists on. Neighbours are then taken for pairs of base
// and head, in every order of the two, of which the median is told: unchanged
// code shows what pairs of it differ by.
func Resolve(values []float64, step float64, o Options) (r Resolution, ok bool) {
	y, lost := levels(values, o.HigherIsBetter)
	if lost > 0 || len(y) < LeastResolved {
		return r, false
	}
	rounding := math.Abs(step) / stats.Median(values) / math.Sqrt(12) // standard deviation of what rounding takes
	r.Noise = max(ownFloor, rounding, stats.StepNoise(y))
	r.Pairs = min(len(values)/2, ResolvedPairs)
	o.Mode = Interleaved
	r.Paired = paired(values, r.Pairs, o)
	o.Mode, o.Own = History, r.Noise
	r.Single = Judge(values, []float64{stats.Median(values)}, o).MDE
	return r, true
}

// paired is the median of what n pairs would find, over every block of as many
// neighbours and over which of the two came first.
func paired(values []float64, n int, o Options) float64 {
	var found []float64
	for block := range slices.Chunk(values, 2*n) {
		if len(block) < 2*n {
			break
		}
		for order := range uint(1) << (n - 1) { // the mirrored ones say the same
			base, head := make([]float64, n), make([]float64, n)
			for i := range n {
				first, second := block[2*i], block[2*i+1]
				if order>>i&1 == 1 {
					first, second = second, first
				}
				base[i], head[i] = first, second
			}
			found = append(found, Judge(base, head, o).MDE)
		}
	}
	return stats.Median(found)
}
