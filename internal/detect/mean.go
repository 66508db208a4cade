package detect

import (
	"math"
	"slices"
)

// MeanEvidence is what pairs show of the geometric mean of several cells. Changes are
// relative and positive for the worse.
type MeanEvidence struct {
	Estimate float64 // change of the geometric mean
	Low      float64 // its interval of 95 %, two-sided
	High     float64
	// P is one-sided and exact: the share of all ways to swap base and head within the
	// pairs of all cells in which the mean looks at least as slow. MinP is the smallest P
	// that as many pairs can show.
	P, MinP float64
	Pairs   int     // of all cells together
	Noise   float64 // of one value, relative, by the noise within cells
	// Unusable counts the cells with a value that is zero, negative, infinite or not a
	// number. One of them forbids the test: then all else is 0 and P is 1.
	Unusable int

	se, df float64 // of the logarithm of Estimate
}

// JudgeMean judges cells that were measured in pairs as one number, their geometric
// mean, in which each counts alike. Which pairs a cell has must not depend on their
// values, so of pairs in stages only those of the first look may be given. Each cell
// needs at least one pair with both sides. The order of the cells does not matter. It
// takes time in proportion to the number of pairs.
func JudgeMean(cells []Cell) MeanEvidence {
	var m meanOfPairs
	for _, c := range cells {
		m.add(pairsOf(c))
	}
	if m.unusable > 0 || len(m.changes) == 0 {
		return MeanEvidence{P: 1, MinP: 1, Unusable: m.unusable}
	}
	e := MeanEvidence{Pairs: len(m.signed)}
	e.P, e.MinP = swapTest(m.signed)
	center := mean(m.changes)
	e.se, e.df = m.noise()
	half := inflation * StudentQuantile(0.975, e.df) * e.se
	e.Noise = relative(e.se * math.Sqrt(float64(e.Pairs)/2))
	e.Estimate, e.Low, e.High = relative(center), relative(center-half), relative(center+half)
	return e
}

// MDE is the change of the mean that would be shown with a probability of 80 %, where p
// must be at most alpha and the change at least limit. It is infinite where no p of as
// many pairs is that small.
func (e MeanEvidence) MDE(alpha, limit float64) float64 {
	if e.MinP > alpha {
		return math.Inf(1)
	}
	return relative(max(math.Log1p(limit), inflation*StudentQuantile(1-alpha, e.df)*e.se) + powerMargin*e.se)
}

// meanOfPairs collects the pairs of the cells.
type meanOfPairs struct {
	changes   []float64 // of each cell, the mean over its pairs
	variances []float64 // of each of changes
	freedoms  []float64 // degrees of freedom of each of variances
	signed    []float64 // of each pair, by its share in the mean, after clipping
	unusable  int
}

func (m *meanOfPairs) add(c Cell) {
	base, lost := levels(c.Base, c.Options.HigherIsBetter)
	head, lostHead := levels(c.Head, c.Options.HigherIsBetter)
	if lost+lostHead > 0 || len(base) == 0 {
		m.unusable++
		return
	}
	n := float64(len(base))
	limit, d := clipLevel(base, head), make([]float64, len(base))
	for i := range d {
		d[i] = head[i] - base[i]
		m.signed = append(m.signed, (min(head[i], limit)-min(base[i], limit))/n)
	}
	m.changes = append(m.changes, mean(d))
	if n > 1 {
		m.variances, m.freedoms = append(m.variances, squares(d)/(n-1)/n), append(m.freedoms, n-1)
	}
}

// noise is the standard error of the mean, by the noise within cells, with its degrees of
// freedom (Satterthwaite 1946). Cells of a single pair each show no noise of their own:
// what they differ by counts, and of one such cell nothing is known.
func (m *meanOfPairs) noise() (se, df float64) {
	k := float64(len(m.changes))
	if len(m.variances) < len(m.changes) {
		if k < 2 {
			return math.Inf(1), 1
		}
		return math.Sqrt(squares(m.changes) / (k - 1) / k), k - 1
	}
	var sum, squared float64
	for i, v := range m.variances {
		sum += v
		squared += v * v / m.freedoms[i]
	}
	if sum == 0 {
		return 0, k
	}
	return math.Sqrt(sum) / k, max(1, sum*sum/squared)
}

// swapGrid is the resolution of the sum in [swapTest].
const swapGrid = 1 << 14

// swapTest is the exact randomization test of [signTest] for any number of pairs. Their
// differences are rounded to parts of their sum, which costs power and no validity: the
// test of the rounded ones is exact as well. It returns the smallest p as well that as
// many differences from zero can have.
func swapTest(d []float64) (p, minimum float64) {
	var size float64
	for _, v := range d {
		size += math.Abs(v)
	}
	if size == 0 || math.IsInf(size, 0) || math.IsNaN(size) {
		return 1, 1
	}
	parts, seen, all := make([]int, 0, len(d)), 0, 0
	for _, v := range d {
		part := int(math.Round(swapGrid * v / size))
		if part == 0 {
			continue
		}
		seen += part
		all += max(part, -part)
		parts = append(parts, max(part, -part))
	}
	if len(parts) == 0 {
		return 1, 1
	}
	slices.Sort(parts) // the sums of floats must not depend on the order of the cells
	// chances are those of the sum of the parts that count for the worse.
	chances, top := make([]float64, all+1), 0
	chances[0] = 1
	for _, part := range parts {
		top += part
		for s := top; s >= 0; s-- {
			with := 0.0
			if s >= part {
				with = chances[s-part]
			}
			chances[s] = (chances[s] + with) / 2
		}
	}
	for s := all; 2*s-all >= seen && s >= 0; s-- {
		p += chances[s]
	}
	return min(1, p), chances[all]
}
