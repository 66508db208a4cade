package detect

import (
	"math"

	"github.com/accelgate/accelgate/internal/stats"
)

// The t reference is made heavier than theory asks for, because runs of real
// machines have tails and drift.
const (
	inflation = 1.3
	extraDF   = 3
)

// Score is the test of one cell, in units of the logarithm, positive for the
// worse.
type Score struct {
	Effect float64 // difference of the levels of head and base
	Prior  float64 // noise of one sample that was expected
	S      float64 // noise of one sample, the expected and the observed pooled
	SE     float64 // standard error of Effect
	T      float64 // Effect/SE
	DF     float64 // of the t reference, 3 added
	P      float64 // one-sided: 1-F(T/1.3; DF)
	A12    float64 // share of pairs in which the head is strictly worse
	// Seen is the standard error of Effect by the observed noise alone; SE where
	// there are too few samples to see any.
	Seen float64
}

// score is a moderated t-test (Smyth 2004) of trimmed means. It needs at least one sample on each side. The base
// is the last k earlier samples, the head the n new ones:
//
//	keep(m) = m up to 3, else ceil(0.7 m)            the fastest, because most noise slows down
//	x, b    = the keep(n) lowest of the head, the keep(k) lowest of the base (n = 1: all of the base)
//	d       = mean(x) - mean(b)                      (n = 1: minus the median of b)
//	own     = 1.4826 median|step| / sqrt 2           over the last 30 runs of the cell, from 12 on, at least 0.2 %
//	cross   = the same of one step of all cells      of the report, from 10 cells on, at least 0.3 %
//	g       = (own^2 cross)^(1/3), or the one that is known, or 2 %; in pairs at most 1 %
//	s^2     = (d0 g^2 + SS(x) + SS(b)) / (d0 + df)   df = |x| + |b| - 2; d0 = 4 against history, 2 in pairs
//	se      = s sqrt(1/|x| + 1/|b|)
//	p       = 1 - F(d / se / 1.3; df + 3)            Student's t
func (s *samples) score(o Options) Score {
	base, level := s.reference()
	head := fastest(s.head)
	df := float64(len(head) - 1 + len(base) - 1)
	r := Score{Effect: mean(head) - level, Prior: s.prior(o), DF: df + extraDF, A12: a12(s.base, s.head)}
	d0 := priorWeight(o.mode())
	seen := squares(head) + squares(base)
	size := math.Sqrt(1/float64(len(head)) + 1/float64(len(base)))
	r.S = math.Sqrt((d0*r.Prior*r.Prior + seen) / (d0 + df))
	r.SE = r.S * size
	r.Seen = r.SE
	if df > 0 {
		r.Seen = math.Sqrt(seen/df) * size
	}
	r.T = r.Effect / r.SE
	r.P = StudentTail(r.T/inflation, r.DF)
	return r
}

// reference returns what the head is compared with: the fastest of the base and
// their mean, or, for a single head sample, all of it and its median.
func (s *samples) reference() (base []float64, level float64) {
	if len(s.head) == 1 {
		return s.base, stats.Median(s.base)
	}
	base = fastest(s.base)
	return base, mean(base)
}

func (s *samples) prior(o Options) float64 {
	own := o.Own
	if own <= 0 && o.mode() == History {
		own, _ = ownNoise(s.history)
	}
	expected := prior(own, o.Cross, o.mode())
	if o.Wide > 0 {
		expected = max(expected, prior(o.Wide, o.Cross, o.mode()))
	}
	return expected
}

// priorWeight is how many degrees of freedom the expected noise is worth.
func priorWeight(m Mode) float64 {
	if m == Interleaved {
		return 2
	}
	return 4
}

// halfWidth is half of the interval of 95 % of the effect.
func (r Score) halfWidth() float64 {
	return inflation * StudentQuantile(0.975, r.DF) * r.SE
}
