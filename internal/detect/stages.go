package detect

import "fmt"

// Stages is the procedure for pairs of base and head. Every cell is measured in a
// few pairs, and a look at them stops most cells. What goes on is measured more
// often and looked at again. What passes all looks is decided by fresh pairs
// alone, by [Holm] over the cells that came so far. The looks select and never
// convict, so they may use all pairs so far and cost no false alarms.
//
// [Holm]: AdjustHolm.
type Stages struct {
	Looks  []Stage // ascending by Pairs, at least one
	Early  Early   // the zero value decides nothing early
	Decide int     // fresh pairs of the decision, at most 40
}

// Stage is a look at the first Pairs pairs: a cell goes on if p is at most P.
type Stage struct {
	Pairs int
	P     float64
}

// DefaultStages are those that were chosen by `make evaluate`; docs/detection/methods.md
// has the table. On a loaded host an unchanged cell takes about 4 pairs.
func DefaultStages() Stages {
	return Stages{
		Looks:  []Stage{{2, 0.35}, {5, 0.20}, {10, 0.05}},
		Early:  Early{P: 0.05, Pairs: 8, Shares: []float64{0.4, 0.2}},
		Decide: 20,
	}
}

// StagesFrom are the default stages where every cell is measured in at least first
// pairs: the looks before are left out, and the one at first is as lenient as the
// last of these. More pairs at first make the intervals of all cells narrower.
func StagesFrom(first int) Stages {
	s := DefaultStages()
	for len(s.Looks) > 1 && s.Looks[1].Pairs <= first {
		s.Looks = s.Looks[1:]
	}
	s.Looks[0].Pairs = max(s.Looks[0].Pairs, first)
	return s
}

// Total is how many pairs a cell has that is decided.
func (s Stages) Total() int { return s.Looks[len(s.Looks)-1].Pairs + s.Decide }

// staged is how far a cell came.
type staged struct {
	Evidence
	limits limits
	level  float64 // p of the sign test, where decided
}

// walk takes a cell through the looks by the pairs that it has. It has been through
// those before the pairs that were measured of it in any case.
func (s Stages) walk(c Cell, cross float64, measured int) staged {
	for i, look := range s.Looks {
		if look.Pairs < measured && i < len(s.Looks)-1 {
			continue
		}
		if have := len(c.Base); have < look.Pairs {
			return s.open(c, cross, have, look.Pairs)
		}
		e := s.judge(c, cross, 0, look.Pairs)
		if e.Verdict == Untested {
			return e
		}
		if e.P > look.P {
			e.settle(fmt.Sprintf("p %.2g after %d pairs is above %.2g", e.P, look.Pairs, look.P))
			return e
		}
	}
	last, all := s.Looks[len(s.Looks)-1].Pairs, s.Total()
	if len(c.Base) < all {
		return s.open(c, cross, last, all)
	}
	e := s.judge(c, cross, last, all)
	if e.Verdict != Untested {
		e.Decided, e.P = true, e.level
	}
	return e
}

// open is a cell that needs more pairs than it has.
func (s Stages) open(c Cell, cross float64, have, need int) staged {
	if have == 0 {
		return staged{Evidence: Evidence{Mode: Interleaved, Verdict: Untested, Need: need, Reason: "nothing was measured: run the cell"}}
	}
	e := s.judge(c, cross, 0, have)
	if e.Verdict != Untested {
		e.Need, e.Verdict = need, Suspect
		e.Reason = fmt.Sprintf("p %.2g after %d pairs decides nothing: measure %d pairs", e.P, have, need)
	}
	return e
}

// judge scores the pairs from one to another.
func (s Stages) judge(c Cell, cross float64, from, to int) staged {
	o := c.Options
	o.Mode = Interleaved
	if o.Cross <= 0 {
		o.Cross = cross
	}
	p := newSamples(c.Base[from:to], c.Head[from:to], o)
	e, l := p.judge(o)
	r := staged{Evidence: e, limits: l}
	r.Used = to
	if e.Verdict != Untested {
		r.MDE = s.mde(p.score(o), o)
		if from > 0 {
			r.level = signTest(p.base, p.head)
		}
	}
	return r
}

// settle ends a cell that a look stopped: it is never slower for certain.
func (e *staged) settle(why string) {
	if e.Verdict == Regressed || e.Verdict == Suspect {
		e.Verdict, e.Reason = Inconclusive, why
	}
}

// pairs returns the cells of Interleaved with the pairs that both sides have.
func pairsOf(c Cell) Cell {
	n := min(len(c.Base), len(c.Head))
	c.Base, c.Head = c.Base[:n], c.Head[:n]
	return c
}

// JudgeStages judges cells of one report that were measured in pairs, however many
// of the pairs are there: those beyond what a cell would have been measured in
// are not looked at. [Evidence].Need says how many pairs an open cell is to have,
// and Used how many were used. The chance that any cell of unchanged code is
// Regressed is at most falseAlarms (0 is [DefaultFalseAlarms]), whatever the number
// of cells and the noise: each decision is an exact test of fresh pairs, and an
// open cell counts among those that are decided. The order of the cells does
// not matter; their Options.Mode and Options.Alpha do not either.
func JudgeStages(cells []Cell, s Stages, falseAlarms float64) []Evidence {
	falseAlarms = positive(falseAlarms, DefaultFalseAlarms)
	cross := s.cross(cells)
	early := s.early(cells, cross, falseAlarms)
	out := make([]Evidence, len(cells))
	var ps []float64
	var at []int
	for i := range cells {
		e, settled := early.settled[i]
		if !settled {
			e = s.walk(pairsOf(cells[i]), cross, early.pairs[i])
		}
		out[i] = e.Evidence
		switch {
		case settled:
		case e.Decided:
			ps, at = append(ps, e.P), append(at, i)
		case e.Need == s.Total(): // it will be decided
			ps, at = append(ps, 1), append(at, i)
		}
	}
	for j, q := range AdjustHolm(ps) {
		if e := &out[at[j]]; e.Decided {
			e.Q = min(1, q*falseAlarms/early.left)
			e.reject(cells[at[j]].Options, falseAlarms)
		}
	}
	return out
}

// reject is the decision on a cell that has its fresh pairs.
func (e *Evidence) reject(o Options, falseAlarms float64) {
	o.Mode = Interleaved
	switch {
	case e.Q <= falseAlarms && e.Estimate >= o.pairedEffect()-rounding:
		e.Verdict, e.Reason = Regressed, ""
	case e.Verdict == Improved:
	case e.High > o.tolerance():
		e.Verdict = Inconclusive
		e.Reason = fmt.Sprintf("p %.2g of fresh pairs is worth %.2g in this report, not up to %.2g", e.P, e.Q, falseAlarms)
	default:
		e.Verdict, e.Reason = Unchanged, ""
	}
}

// cross is the noise over the bases of all cells within the first look, which
// does not depend on how often single cells were measured.
func (s Stages) cross(cells []Cell) float64 {
	first := make([]Cell, len(cells))
	for i, c := range cells {
		c = pairsOf(c)
		n := min(len(c.Base), s.Looks[0].Pairs)
		c.Base, c.Head, c.Options.Mode = c.Base[:n], c.Head[:n], Interleaved
		first[i] = c
	}
	return newReporter(first, minHeads).out.PairCross
}
