package bisect

import "github.com/accelgate/accelgate/internal/detect"

// looks describes after how many pairs a commit is compared with the good one: twice, and each look spends a part of alpha.
// The stages of the gate look for a few slow cells among many and leave most others undecided; a bisection needs an answer
// about each commit.
type looks struct {
	first, last int     // pairs
	alpha       float64 // the rate of false alarms of both looks together
}

const (
	firstLook  = 7
	lastLook   = 10
	firstShare = 0.3 // of alpha, spent at the first look
	enough     = 0.2 // p above which the first look is enough
)

// looksOf are those of an attempt. Each attempt adds pairs to those before it, and spends an equal part of the rate of
// false alarms, so that more attempts do not raise it.
func looksOf(attempt, attempts int) looks {
	return looks{firstLook + attempt*lastLook, lastLook + attempt*lastLook, detect.DefaultAlpha / float64(attempts)}
}

// next judges the pairs, and returns how many there are to be for the next look, 0 where there is none.
func (l looks) next(base, head []float64, o detect.Options) (e detect.Evidence, want int) {
	o.Mode, o.Alpha = detect.Interleaved, l.alpha*firstShare
	n := len(base)
	if n >= l.last {
		o.Alpha = l.alpha - o.Alpha
	}
	e = detect.Judge(base, head, o)
	switch {
	case e.Verdict == detect.Untested, n >= l.last:
		return e, 0
	case n < l.first:
		return e, l.first
	case e.Verdict == detect.Regressed || e.P > enough:
		return e, 0
	}
	return e, l.last
}
