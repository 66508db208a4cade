package detect

import "math"

// dependence is how much likelier it is than for independent runs that all are slow by
// chance: they share their base, and a host that is slow tonight may be slow
// tomorrow. The evaluation in docs/detection.md chose it.
const dependence = 3

// joint is how often noise alone makes each of few new runs look at least as slow as
// the least slow one does: a disturbance of one run counts for nothing. It is 1 if a
// lock stops one of them. ok is false where the runs are not judged in this way: one
// alone, pairs, or so many that their mean says more.
func (r *reporter) joint(cell int) (p float64, ok bool) {
	w, o := r.rows[cell], r.options(r.cells[cell])
	n := len(w.head)
	if o.mode() != History || n < r.least || n > commonHeads {
		return 0, false
	}
	worst := 0.0
	for _, y := range w.head {
		s := samples{history: present(w.base), head: []float64{y}}
		s.base = s.history[len(s.history)-min(len(s.history), s.span(o)):]
		if math.IsNaN(y) || len(s.base) == 0 {
			return 1, true
		}
		score, l := s.score(o), s.limits(o)
		if !l.mayFail || score.locked(o, l) {
			return 1, true
		}
		worst = max(worst, score.P)
	}
	return min(1, dependence*math.Pow(worst, float64(n))), true
}

// jointly makes the joint p that of the cell. Where no run is stopped, all of them
// are Regressed unless the correction takes it back.
func (e *Evidence) jointly(p float64) {
	switch {
	case p < 1:
		e.P, e.Passes, e.Verdict, e.Reason = p, true, Regressed, ""
	case e.Verdict == Regressed:
		e.Verdict, e.Reason = Suspect, "not each of the new runs is slower than those before them: measure again"
	}
}
