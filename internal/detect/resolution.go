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
	// Paired is that of Pairs pairs that are measured alternately.
	// It is the middle of a promise: Paired and the range are of this session, and
	// what pairs could see is stated from them, once they are measured.
	Paired float64
	// PairedRange holds the least and the most that pairs of this session needed, with
	// twice the error that the noise of so many values has.
	PairedRange [2]float64
	Pairs       int
}

// MinResolved is how many values [Resolve] needs.
const MinResolved = 6

// resolvedPairs is the most pairs that [Resolve] looks at together.
const resolvedPairs = 5

// Resolve returns what can be found, from the values that fresh processes of one
// code measured, in their order. step is the distance of two values that the
// program can print, in their unit, 0 if that does not matter: what prints the
// same number each time is not without noise. Options.Mode is Resolve's; Own
// is so for a single run, which history will have shown. ok is false with fewer
// than MinResolved values, or where one is unusable.
//
// The noise is that of the steps between successive values, as [Own] has it, of
// fewer values than that insists on. Neighbours are then taken for pairs of base
// and head, in every order of the two: unchanged code shows what pairs of it differ
// by, and how much slower the head would have had to be.
func Resolve(values []float64, step float64, o Options) (r Resolution, ok bool) {
	y, lost := levels(values, o.HigherIsBetter)
	if lost > 0 || len(y) < MinResolved {
		return r, false
	}
	rounding := math.Abs(step) / stats.Median(values) / math.Sqrt(12) // standard deviation of the rounding
	r.Noise = max(ownFloor, rounding, stats.StepNoise(y))
	r.Pairs = min(len(values)/2, resolvedPairs)
	o.Mode = Interleaved
	r.Paired, r.PairedRange = paired(values, r.Pairs, o)
	o.Mode, o.Own = History, r.Noise
	r.Single = Judge(values, []float64{stats.Median(values)}, o).MDE
	return r, true
}

// paired is what n pairs find in 4 of 5 cases: over every block of as many
// neighbours and over which of the two came first, the slow-down from which on that
// block would have called it. Noise that comes in bursts spoils some blocks and
// leaves others quiet, and no average of them would be what is found. A single block
// says less than the noise in it, so the median of the stated ones is the least.
func paired(values []float64, n int, o Options) (middle float64, span [2]float64) {
	var found, stated, blocks []float64
	for block := range slices.Chunk(values, 2*n) {
		if len(block) < 2*n {
			break
		}
		for order := range uint(1) << n {
			base, head := make([]float64, n), make([]float64, n)
			for i := range n {
				first, second := block[2*i], block[2*i+1]
				if order>>i&1 == 1 {
					first, second = second, first
				}
				base[i], head[i] = first, second
			}
			found = append(found, minFound(base, head, o))
			stated = append(stated, Judge(base, head, o).MDE)
		}
		blocks = append(blocks, percentile80(found[len(found)-1<<n:]))
	}
	middle = max(percentile80(found), stats.Median(stated))
	maximum := 1 + 2/math.Sqrt(2*float64(len(values)-1)) // two standard errors of a standard deviation
	return middle, [2]float64{min(slices.Min(blocks), middle/maximum), max(slices.Max(blocks), middle*maximum)}
}

// percentile80 is the least value that four of five are at most.
func percentile80(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(4*len(sorted)+4)/5-1]
}

// maxFound bounds the search, as a factor: what takes more to be seen is not
// seen.
const maxFound = 100

// minFound is the slow-down, relative, from which on pairs would be called
// Regressed.
func minFound(base, head []float64, o Options) float64 {
	slowed := make([]float64, len(head))
	low, high := 0.0, math.Log(maxFound)
	for high-low > 1e-5 {
		y := (low + high) / 2
		factor := math.Exp(y)
		if o.HigherIsBetter {
			factor = 1 / factor
		}
		for i, v := range head {
			slowed[i] = v * factor
		}
		if Judge(base, slowed, o).Verdict == Regressed {
			high = y
		} else {
			low = y
		}
	}
	return math.Expm1(high)
}
