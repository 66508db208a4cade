package compat

import (
	"math"

	"github.com/accelgate/accelgate/internal/bench"
)

// The verdicts of InferenceBench's diff.
const (
	regression  = "regression"
	improvement = "improvement"
	noChange    = "no_change"
	missing     = "missing"
	unknown     = "unknown"
)

// inferenceBench has the rules of InferenceBench's diff (version 0.1.0, yobitelcomm/bench) to the letter. They are kept as
// they are, oddities included: there is no allowance for binary fractions, so that 1.0 -> 1.02 is beyond 2 % and
// 100 -> 102 is not; the smallest growth from 0 is beyond any tolerance; infinity is a number, and worse than itself; what
// only the candidate has is unknown; a direction that is not in its table is unknown even where nothing changed.
var inferenceBench = Rules{Order: []string{regression, improvement}, Change: changeOfNumbers}

// Change is what a tool finds of one number of two documents. Delta and Relative may be infinite or NaN; nil is none.
type Change struct {
	Verdict         string
	Delta, Relative *float64
}

// changeOfNumbers judges two numbers, of which nil is none. better is empty where it is unknown.
func changeOfNumbers(old, now *float64, better bench.Direction, tolerance float64) (c Change) {
	switch {
	case old == nil && now == nil:
		return Change{Verdict: noChange}
	case now == nil:
		return Change{Verdict: missing}
	case old == nil:
		return Change{Verdict: unknown}
	}
	delta := *now - *old
	same := delta == 0
	c.Delta = &delta
	if *old != 0 {
		rel := delta / math.Abs(*old)
		c.Relative, same = &rel, math.Abs(rel) <= tolerance
	}
	switch {
	case better == "":
		c.Verdict = unknown
	case same:
		c.Verdict = noChange
	case better == bench.Lower && delta < 0, better == bench.Higher && delta > 0:
		c.Verdict = improvement
	default:
		c.Verdict = regression // also where the change is NaN
	}
	return c
}
