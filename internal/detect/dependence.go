package detect

import (
	"math"
	"slices"
)

// runCorrelation is how much runs in a row resemble each other: they share their base, and
// a host that is slow tonight may be slow tomorrow. docs/detection/rates.md has its choice.
const runCorrelation = 0.2

// designEffect is how much larger than that of independent runs the variance of their mean
// is: Kish 1965, "Survey Sampling", section 5.4.
func designEffect(runs int) float64 { return 1 + runCorrelation*float64(runs-1) }

// independent is how many independent runs as many runs in a row are worth.
func independent(runs int) float64 { return float64(runs) / designEffect(runs) }

// runsTest is the test of few new runs against history: each must be slow by itself, so
// a disturbance of some of them counts for nothing, as with [History] of one new run.
type runsTest struct {
	// p is how often noise alone makes each run look at least as slow as the least slow
	// one does. It is 1 if effect or separation stop one of them.
	p       float64
	runs    int
	run     Score   // of one of them; all have the same base
	highest float64 // value of the base, above its level
	minimum float64 // effect
}

// dependence tests the runs of a cell that has samples on both sides.
func (r *reporter) dependence(cell int, o Options) runsTest {
	w := r.rows[cell]
	s := samples{history: present(w.base), head: w.head[:1]}
	s.base = s.history[len(s.history)-min(len(s.history), s.span(o)):]
	_, level := s.reference()
	t := runsTest{p: 1, runs: len(w.head), highest: slices.Max(s.base) - level, minimum: o.minimumEffect()}
	worst, stopped := 0.0, false
	for i := range w.head {
		s.head = w.head[i : i+1]
		l := s.limits(o)
		t.run = s.score(o)
		stopped = stopped || !l.mayFail || t.run.locked(o, l)
		worst = max(worst, t.run.P)
	}
	if !stopped {
		t.p = math.Pow(worst, independent(t.runs))
	}
	return t
}

// mde is the effect that is found with a probability of 80 % where p must be at most
// alpha: the fastest of as many runs must be beyond what each must be beyond.
func (t runsTest) mde(alpha float64) float64 {
	each := math.Pow(alpha, 1/independent(t.runs))
	needed := max(t.minimum, t.highest, inflation*StudentQuantile(1-each, t.run.DF)*t.run.SE)
	fastest := math.Sqrt2 * math.Erfinv(2*math.Pow(power80, 1/float64(t.runs))-1)
	return needed + fastest*t.run.SE
}

// power80 is the probability of finding a slow-down of the minimum detectable effect.
const power80 = 0.8

// inRow is the score of many runs in a row, whose mean is less sure than that of
// independent ones.
func (r Score) inRow(base, head int) Score {
	b, h := 1/float64(base), 1/float64(keep(head))
	wider := math.Sqrt((designEffect(head)*h + b) / (h + b))
	r.SE, r.Seen, r.T = wider*r.SE, wider*r.Seen, r.T/wider
	r.P = StudentTail(r.T/inflation, r.DF)
	return r
}

// dependent makes the joint p that of the cell. Where no run is stopped, all of them
// are Regressed unless the correction takes it back.
func (e *Evidence) dependent(p float64) {
	switch {
	case p < 1:
		e.P, e.Passes, e.Verdict, e.Reason = p, true, Regressed, ""
	case e.Verdict == Regressed:
		e.Verdict, e.Reason = Suspect, "not each of the new runs is slower than those before them: measure again"
	}
}
