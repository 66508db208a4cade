package detect

import "math"

// limits are what the samples must pass, by how many there are.
type limits struct {
	screen  float64 // p up to which a cell is suspect
	strict  float64 // p up to which it is regressed
	a12     float64 // least share of pairs
	mayFail bool    // whether there is enough to call a cell regressed at all
}

func (s *samples) limits(o Options) limits {
	l := historyLimits(len(s.head), len(s.base))
	if o.mode() == Interleaved {
		l = interleavedLimits(len(s.head))
	}
	if o.mode() == Anchor {
		l.mayFail = len(s.base) > 1 || o.Own > 0
	}
	if o.Alpha > 0 {
		l.strict = o.Alpha
		l.screen = max(l.screen, o.Alpha)
	}
	return l
}

// tooFewRuns reports whether the noise between runs is not known well enough for a verdict, good or bad.
func (l limits) tooFewRuns(o Options) bool { return o.mode() == History && !l.mayFail }

// MinRuns returns how many earlier runs n new ones take: with fewer, nothing is worse than [Suspect] and nothing
// better than [Inconclusive].
func MinRuns(n int) int {
	if n < 3 {
		return 3
	}
	return 2
}

func historyLimits(n, k int) limits {
	l := limits{screen: 0.01, a12: 0.8, mayFail: k >= MinRuns(n)}
	switch {
	case n < 3:
		l.a12 = 1
	case n >= manyHeads:
		l.screen, l.a12 = 0.015, 0
	case n >= 5:
		l.screen = 0.025
	}
	l.strict = l.screen / 3
	return l
}

func interleavedLimits(n int) limits {
	l := limits{screen: DefaultAlpha, strict: DefaultAlpha, a12: 0.8, mayFail: n >= 3}
	switch {
	case n < 3:
		l.a12 = 1
	case n >= manyHeads:
		l.a12 = 0.65
	case n >= 5:
		l.a12 = 0.75
	}
	return l
}

// rounding is what logarithms may differ by in another unit: a change of exactly
// the least effect has it in every one.
const rounding = 1e-9

// locked reports whether effect and separation forbid an alarm.
func (r Score) locked(o Options, l limits) bool {
	return r.Effect < o.minimumEffect()-rounding || r.A12 < l.a12-rounding
}

// faster mirrors the strict rule.
func (r Score) faster(o Options, l limits, ties float64) bool {
	return l.mayFail && -r.Effect >= o.minimumEffect()-rounding && 1-r.A12-ties >= l.a12-rounding && 1-r.P <= l.strict
}

// powerMargin is 0.84, the normal quantile of 80 %, times what a mean of the
// fastest and its estimated limit scatter more than their standard error says.
// It was found by simulation, and TestMDE holds it.
const powerMargin = 1.5

// mde is the effect that would be Regressed with a probability of 80 %. What
// the limit is made of is the moderated noise; what the next measurement will
// scatter by is the observed one.
func (r Score) mde(o Options, l limits) float64 {
	t := StudentQuantile(1-l.strict, r.DF)
	return max(o.minimumEffect(), inflation*t*r.SE) + powerMargin*r.Seen
}

func (o Options) mode() Mode {
	if o.Mode == "" {
		return History
	}
	return o.Mode
}

// minimumEffect is MinEffect in units of the logarithm.
func (o Options) minimumEffect() float64 { return math.Log1p(max(o.minEffect(), 0)) }

func (o Options) minEffect() float64 {
	switch {
	case o.MinEffect < 0 || o.MinEffect > 0:
		return o.MinEffect
	case o.mode() == Interleaved:
		return defaultPairedEffect
	}
	return DefaultMinEffect
}

func (o Options) tolerance() float64 {
	if o.Tolerance > 0 {
		return o.Tolerance
	}
	return max(o.minEffect(), 0)
}
