package detect

import (
	"fmt"
	"math"
)

func (s *samples) judge(o Options) (Evidence, limits) {
	e := Evidence{N: len(s.head), K: len(s.base), Mode: o.mode(), Unusable: s.lostBase + s.lostHead}
	if why := s.untestable(o); why != "" {
		e.Verdict, e.Reason = Untested, why
		return e, limits{}
	}
	r, l := s.score(o), s.limits(o)
	half := r.halfWidth()
	e.Estimate, e.Low, e.High = relative(r.Effect), relative(r.Effect-half), relative(r.Effect+half)
	e.P, e.A12, e.NoiseFloor, e.MDE = r.P, r.A12, relative(r.S), relative(r.mde(o, l))
	e.Passes = !r.locked(o, l)
	switch {
	case e.Passes && r.P <= l.strict && l.mayFail:
		e.Verdict = Regressed
	case e.Passes && r.P <= l.screen:
		e.Verdict = Suspect
	case r.faster(o, l, s.ties()):
		e.Verdict = Improved
	case e.High > o.tolerance() || l.tooFewRuns(o):
		e.Verdict = Inconclusive
	default:
		e.Verdict = Unchanged
	}
	e.Reason = reason(e, l, o)
	return e, l
}

// untestable returns why nothing can be tested, or nothing.
func (s *samples) untestable(o Options) string {
	switch {
	case s.lostHead > 0:
		return fmt.Sprintf("%d of %d new samples are zero, negative or no numbers: look at what was measured", s.lostHead,
			s.lostHead+len(s.head))
	case s.lostBase > 0 && o.mode() == Interleaved:
		return fmt.Sprintf("%d of %d samples of the base are zero, negative or no numbers: look at what was measured", s.lostBase,
			s.lostBase+len(s.base))
	case len(s.head) == 0:
		return "nothing was measured: run the cell"
	case len(s.base) == 0:
		return "there is no earlier run to compare with: record one, or measure base and head in pairs"
	}
	return ""
}

func reason(e Evidence, l limits, o Options) string {
	switch e.Verdict {
	case Inconclusive:
		if l.tooFewRuns(o) {
			return fmt.Sprintf("the noise between runs takes %d earlier runs to estimate, and there are %d: measure again, or in pairs",
				MinRuns(e.N), e.K)
		}
		return fmt.Sprintf("cannot exclude %+.1f %%; as many samples find slow-downs from %.1f %% on", 100*e.High, 100*e.MDE)
	case Suspect:
		if !l.mayFail {
			return fmt.Sprintf("too few samples for more than a suspicion (%d against %d): measure again", e.N, e.K)
		}
		return fmt.Sprintf("p %.2g is low, but not up to %.2g: measure again", e.P, l.strict)
	}
	return ""
}

// ties is the share of pairs that are equal.
func (s *samples) ties() float64 {
	return 1 - a12(s.base, s.head) - a12(s.head, s.base)
}

// relative is the change that a difference of levels is, kept finite.
func relative(y float64) float64 { return math.Expm1(min(y, 100)) }
