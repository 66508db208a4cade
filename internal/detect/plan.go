package detect

import "fmt"

// Plan says, of one cell, what to measure next. It is a state machine without
// state: its only input is the measurements so far. The zero value repeats runs
// against history.
//
// Most cells stop after one run. Those that may be slower are measured again,
// against history up to 5 runs, or in up to 10 pairs where the old code can be
// built. Pairs are judged alone: the runs that made a cell suspect do not enter.
// They are looked at twice, and each look spends a part of Alpha.
type Plan struct {
	Pairs bool // base and head can be measured alternately
	// FirstPairs and LastPairs are the numbers of pairs after which they are
	// looked at; 0 is 7 and 10. Without a second look, both are equal.
	FirstPairs, LastPairs int
	// PassFirst and PassRepeat are the p above which 1 and 3 runs against history
	// are enough; 0 is 0.2 and 0.12. Larger ones find more and cost more, which a
	// host needs whose runs differ much between sessions.
	PassFirst, PassRepeat float64
	// Alpha is the rate of false alarms of all looks at pairs together; 0 is
	// DefaultAlpha. History has its calibrated one.
	Alpha float64
}

// Limits of the plan.
const (
	passFirst   = 0.2  // p above which one run is enough, or the first pairs are
	passRepeat  = 0.12 // p above which 3 runs are enough
	failRepeat  = 0.025
	repeatRuns  = 3
	lastRuns    = 5
	firstShare  = 0.3 // of Alpha, spent at the first look
	firstPairs  = 7
	secondPairs = 10
)

// Measured is what has been measured of one cell.
type Measured struct {
	History []float64 // earlier runs, the newest last
	Head    []float64 // runs of the new code, for comparison with history
	// PairBase and PairHead are measured alternately.
	PairBase, PairHead []float64
}

// Action is what a [Step] asks for.
type Action string

// The actions.
const (
	Stop   Action = "stop"   // the evidence is what there is to say
	Repeat Action = "repeat" // measure the head until there are N runs of it, in another slot
	Pair   Action = "pair"   // measure base and head alternately until there are N pairs
)

// Step is the next thing to do.
type Step struct {
	Action   Action
	N        int      // samples to have, those measured included
	Evidence Evidence // of the measurements so far
	Reason   string   // for people
	// Spent is the part of Alpha that the looks at pairs have used up so far.
	Spent float64
	// Cost is the number of measurements so far: a pair costs 2.
	Cost int
	// Transient says that the first run looked slow and what followed did not
	// confirm it. Many of them in a report are a sign of an unhealthy host.
	Transient bool
}

// Next returns what to do next. Options.Mode and Options.Alpha are the plan's.
func (p Plan) Next(m Measured, o Options) Step {
	o.Alpha = 0
	var s Step
	if len(m.PairBase) > 0 && len(m.PairHead) > 0 {
		s = p.pairs(m, o)
	} else {
		s = p.repeats(m, o)
	}
	s.Cost = len(m.Head) + len(m.PairBase) + len(m.PairHead)
	if s.Action == Stop && s.Evidence.Verdict != Regressed {
		s.Transient = transient(m, o)
	}
	return s
}

func (p Plan) repeats(m Measured, o Options) Step {
	o.Mode = History
	n := len(m.Head)
	if n >= lastRuns {
		o.Alpha = failRepeat
	}
	e := Judge(m.History, m.Head, o)
	first, repeat := positive(p.PassFirst, passFirst), positive(p.PassRepeat, passRepeat)
	switch {
	case n == 0:
		return Step{Action: Repeat, N: 1, Evidence: e, Reason: "nothing was measured yet"}
	case e.Verdict == Untested && e.K == 0 && e.Unusable == 0 && p.Pairs:
		return p.pair(e, "there is no history")
	case e.Verdict == Untested:
		return Step{Action: Stop, Evidence: e, Reason: e.Reason}
	case o.resolved(e):
		return Step{Action: Stop, Evidence: e, Reason: "the tolerance is well resolved and the change is less than half of it"}
	case n < repeatRuns && e.P > first:
		return stop(e, first)
	case n < repeatRuns:
		return Step{Action: Repeat, N: repeatRuns, Evidence: e, Reason: fmt.Sprintf("p %.2g is not above %.2g", e.P, first)}
	case n < lastRuns && e.P > repeat:
		return stop(e, repeat)
	case p.Pairs:
		return p.pair(e, fmt.Sprintf("p %.2g after %d runs", e.P, n))
	case n < lastRuns:
		return Step{Action: Repeat, N: lastRuns, Evidence: e, Reason: fmt.Sprintf("p %.2g is not above %.2g", e.P, repeat)}
	}
	return Step{Action: Stop, Evidence: e, Reason: fmt.Sprintf("%d runs are all that history is asked for", n)}
}

func (p Plan) pairs(m Measured, o Options) Step {
	first, last := p.looks()
	n := min(len(m.PairBase), len(m.PairHead))
	o.Mode = Interleaved
	o.Alpha = p.alpha() * firstShare
	if n >= last {
		o.Alpha = p.alpha() - p.spent(first, last)
	}
	e := Judge(m.PairBase[:n], m.PairHead[:n], o)
	switch {
	case e.Verdict == Untested:
		return Step{Action: Stop, Evidence: e, Reason: e.Reason}
	case n < first:
		return p.pair(e, fmt.Sprintf("%d pairs are not looked at before there are %d", n, first))
	case n >= last:
		return Step{Action: Stop, Evidence: e, Spent: p.alpha(), Reason: fmt.Sprintf("%d pairs are all that is asked for", n)}
	}
	s := Step{Action: Stop, Evidence: e, Spent: o.Alpha}
	switch {
	case e.Verdict == Regressed:
		s.Reason = fmt.Sprintf("p %.2g is up to %.2g, what the first look may spend", e.P, o.Alpha)
	case o.resolved(e):
		s.Reason = "the tolerance is well resolved and the change is less than half of it"
	case e.P > passFirst:
		s.Reason = fmt.Sprintf("p %.2g is above %.2g", e.P, passFirst)
	default:
		s.Action, s.N = Pair, last
		s.Reason = fmt.Sprintf("p %.2g after %d pairs is open", e.P, n)
	}
	return s
}

func (p Plan) pair(e Evidence, why string) Step {
	first, _ := p.looks()
	return Step{Action: Pair, N: first, Evidence: e, Reason: why}
}

func stop(e Evidence, limit float64) Step {
	return Step{Action: Stop, Evidence: e, Reason: fmt.Sprintf("p %.2g is above %.2g", e.P, limit)}
}

func (p Plan) looks() (first, last int) {
	first = positive(p.FirstPairs, firstPairs)
	return first, max(first, positive(p.LastPairs, secondPairs))
}

func (p Plan) alpha() float64 { return positive(p.Alpha, DefaultAlpha) }

// positive returns v, or what stands for it where it was not set.
func positive[T int | float64](v, otherwise T) T {
	if v > 0 {
		return v
	}
	return otherwise
}

// spent is what the look before the last one used up.
func (p Plan) spent(first, last int) float64 {
	if first == last {
		return 0
	}
	return p.alpha() * firstShare
}

// resolved reports that the samples are far better than the tolerance asks for,
// and the change far smaller.
func (o Options) resolved(e Evidence) bool {
	half := o.tolerance() / 2
	return e.MDE <= half && e.Estimate < half
}

// transient reports that the first run alone was suspect.
func transient(m Measured, o Options) bool {
	if len(m.Head)+len(m.PairHead) < 2 || len(m.Head) == 0 {
		return false
	}
	o.Mode = History
	first := Judge(m.History, m.Head[:1], o).Verdict
	return first == Suspect || first == Regressed
}
