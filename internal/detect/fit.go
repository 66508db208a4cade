package detect

import (
	"math"
	"slices"
)

// Coefficient is one of the two numbers of a straight line.
type Coefficient int

// The coefficients.
const (
	Slope     Coefficient = iota // per unit of X
	Intercept                    // at X 0
)

// MinPoints is how many points at different X a fit needs.
const MinPoints = 3

// FitPoint is a point of a line: what was measured in pairs at X.
type FitPoint struct {
	X          float64
	Base, Head []float64 // at least one pair; finite
}

// FitTwoSample is a point of a line of which each side is of one session. The medians are positive.
type FitTwoSample struct {
	X          float64
	Base, Head Side
}

// FitEvidence is what the points show of a coefficient of the least squares line through them. Each
// point counts alike. Values are in the unit of the points.
type FitEvidence struct {
	Old, New float64
	StdErr   float64 // of New - Old
	// P is one-sided: how likely chance makes New so much worse. MinP is the smallest P that
	// as many pairs can show, 0 for sides.
	P, MinP float64
	Values  int // of the head
	df      float64
}

// Interval is that of 95 % of New - Old.
func (e *FitEvidence) Interval() (low, high float64) {
	half := inflation * StudentQuantile(0.975, e.df) * e.StdErr
	return e.New - e.Old - half, e.New - e.Old + half
}

// MDE is the change for the worse that would be shown with a probability of 80 %, where P must be at most
// alpha. It is infinite where no P is that small.
func (e *FitEvidence) MDE(alpha float64) float64 {
	if e.MinP > alpha {
		return math.Inf(1)
	}
	return (inflation*StudentQuantile(1-alpha, e.df) + powerMargin) * e.StdErr
}

// weights are the parts of the points' values in the coefficient; nil with fewer than 3
// different finite xs.
func weights(xs []float64, c Coefficient) []float64 {
	distinct := slices.Compact(slices.Sorted(slices.Values(xs)))
	center := mean(xs)
	spread := squares(xs)
	if len(distinct) < MinPoints || !(spread > 0) || math.IsInf(spread, 1) {
		return nil
	}
	w := make([]float64, len(xs))
	for i, x := range xs {
		w[i] = (x - center) / spread
		if c == Intercept {
			w[i] = 1/float64(len(xs)) - center*w[i]
		}
	}
	return w
}

// JudgeFitPairs judges a coefficient by pairs of base and head. P is exact, as that of
// [JudgeMean]: the share of all ways to swap base and head within the pairs in which the
// coefficient looks as much worse. What the line does not describe is the same on both sides, and no noise. ok is false with fewer than 3 points.
func JudgeFitPairs(points []FitPoint, c Coefficient, higherIsBetter bool) (e FitEvidence, ok bool) {
	xs := make([]float64, len(points))
	for i, p := range points {
		xs[i] = p.X
	}
	w := weights(xs, c)
	if w == nil {
		return e, false
	}
	var signed []float64
	var variance, squared float64
	known := true
	for i, p := range points {
		n := min(len(p.Base), len(p.Head))
		limit, d := clipLevel(p.Base[:n], p.Head[:n]), make([]float64, n)
		for k := range d {
			d[k] = p.Head[k] - p.Base[k]
			part := w[i] * (min(p.Head[k], limit) - min(p.Base[k], limit)) / float64(n)
			if higherIsBetter {
				part = -part
			}
			signed = append(signed, part)
		}
		e.Old, e.New = e.Old+w[i]*mean(p.Base[:n]), e.New+w[i]*mean(p.Head[:n])
		if known = known && n > 1; known {
			v := w[i] * w[i] * squares(d) / float64(n-1) / float64(n)
			variance, squared = variance+v, squared+v*v/float64(n-1)
		}
	}
	e.Values = len(signed)
	e.P, e.MinP = swapTest(signed)
	e.StdErr, e.df = math.Sqrt(variance), float64(len(points))
	if variance > 0 {
		e.df = max(1, variance*variance/squared)
	}
	if !known { // of single pairs, nothing says how much they differ
		e.StdErr, e.df = math.Inf(1), 1
	}
	return e, true
}

// JudgeFitTwoSample judges a coefficient by two sessions, with the allowance of [JudgeSides] for what
// sessions differ by: at each point by itself, and of all points alike. ok is false with fewer than 3 points.
func JudgeFitTwoSample(points []FitTwoSample, c Coefficient, higherIsBetter bool) (e FitEvidence, ok bool) {
	xs, sides := make([]float64, len(points)), make([]TwoSample, len(points))
	for i, p := range points {
		xs[i], sides[i] = p.X, TwoSample{Base: p.Base, Head: p.Head}
	}
	w := weights(xs, c)
	if w == nil {
		return e, false
	}
	variance := 0.0
	for i, s := range JudgeTwoSample(sides) {
		p := &points[i]
		e.Old, e.New = e.Old+w[i]*p.Base.Median, e.New+w[i]*p.Head.Median
		variance += math.Pow(w[i]*p.Base.Median*s.Error, 2)
		e.Values += max(1, p.Head.N)
		if i == 0 || s.df < e.df {
			e.df = s.df
		}
	}
	variance += 2 * math.Pow(sessionFloor*e.Old, 2)
	e.StdErr = math.Sqrt(variance)
	worse := e.New - e.Old
	if higherIsBetter {
		worse = -worse
	}
	e.P = StudentTail(worse/e.StdErr, e.df)
	return e, true
}

// FitOne returns a coefficient of the line through single values, with the standard error that
// the distances from the line give it. ok is false with fewer than 3 points.
func FitOne(xs, ys []float64, c Coefficient) (value, stderr float64, ok bool) {
	w, slope, intercept := weights(xs, c), weights(xs, Slope), weights(xs, Intercept)
	if w == nil {
		return 0, 0, false
	}
	var a, b, size float64
	for i, y := range ys {
		value, a, b, size = value+w[i]*y, a+intercept[i]*y, b+slope[i]*y, size+w[i]*w[i]
	}
	residuals := 0.0
	for i, y := range ys {
		residuals += math.Pow(y-a-b*xs[i], 2)
	}
	return value, math.Sqrt(residuals / float64(len(ys)-2) * size), true
}

// Beyond is the chance that noise alone makes a coefficient of [FitOne] exceed a bound by that
// much, where n points were fitted.
func Beyond(excess, stderr float64, n int) float64 {
	if stderr < 1e-12*math.Abs(excess) { // points on a line, but for rounding
		if excess > 0 {
			return 0
		}
		return 1
	}
	return StudentTail(excess/stderr, float64(n-2))
}
