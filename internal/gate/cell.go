package gate

import (
	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate/compat"
)

// findings are what judging a cell yields.
type findings struct {
	verdicts []Verdict
	check    *compat.Check // of a cell that its suite's files describe
	tracked  bool          // it passes on both sides, with a number judged or none to judge
	alone    bool          // it was judged without the host's baseline
	paired   bool          // it was judged by pairs with the base
}

func found(verdicts ...Verdict) findings { return findings{verdicts: verdicts} }

// and adds what another rule finds of the same cell.
func (f findings) and(more findings) findings {
	f.verdicts = append(f.verdicts, more.verdicts...)
	f.tracked, f.alone, f.paired = f.tracked || more.tracked, f.alone || more.alone, f.paired || more.paired
	return f
}

// judgeCell judges a cell by its outcome, by its suite's files and by the
// reference, in this order.
func judgeCell(in *inputs, ev *testResults, c cell) findings {
	var f findings
	if judge := in.tool.Judge; judge != nil {
		f = byTool(in, c, judge(c.ref, c.got, in.policy.Threshold))
	} else {
		f = byOutcome(in, ev, c)
	}
	f.verdicts = unreported(in, c, bounded(in, c, f.verdicts))
	because := unhealthy(in, c.got)
	for i := range f.verdicts {
		v := f.verdicts[i]
		if m := in.metric(v.Metric); m == nil || !in.counts(m, c) { // no host changes a count
			v = underHost(in, because, v)
		}
		f.verdicts[i] = attributed(c.got, explained(in, c, v))
	}
	return f
}

// byOutcome applies TensorSharp's rules in their order, with one difference: a cell
// that fails blocks even where the reference does not have it, because a wrong
// answer needs no baseline to be wrong. A cell that suites' files describe is
// judged by them first.
func byOutcome(in *inputs, ev *testResults, c cell) findings {
	e, expected := in.policy.Expected[c.id]
	switch {
	case c.got.Outcome == bench.Skipped:
		return found(skipped(in, c))
	case c.got.Outcome != bench.Passed:
		return found(failed(in, c))
	case expected:
		return judgeExpected(in, c, e).and(known(in, ev, c))
	case c.ref == nil && !inPairs(c.got):
		return found(Verdict{Cell: c.id, Finding: Untracked, Reason: "the baseline does not have this cell"})
	}
	return known(in, ev, c)
}

// known judges a cell that passed by the reference, or by pairs without one.
func known(in *inputs, ev *testResults, c cell) (f findings) {
	if c.ref != nil && c.ref.Outcome == bench.Passed {
		if why := otherConditions(c.ref, c.got); why != "" {
			return found(Verdict{Cell: c.id, Finding: Incomparable, Reason: why})
		}
		return judgeSpeed(in, ev, c)
	}
	if c.ref != nil {
		f = found(Verdict{Cell: c.id, Finding: Fixed, Reason: "failed in the baseline, passes now"})
	}
	if inPairs(c.got) { // the base passes, too
		f = f.and(judgeSpeed(in, ev, cell{id: c.id, got: c.got, ref: &bench.Result{Outcome: bench.Passed}}))
	}
	return f
}

func skipped(in *inputs, c cell) Verdict {
	v := Verdict{Cell: c.id, Finding: Skipped, Outcome: bench.Skipped, Reason: c.got.Reason}
	if in.required(c.id) {
		v.Finding = Missing
		v.Reason = "newly skipped: " + c.got.Reason
	}
	return v
}

func failed(in *inputs, c cell) Verdict {
	v := failure(c)
	if c.ref != nil && c.ref.Outcome != bench.Passed {
		v.Delta, v.Excuse = 0, in.knownFailure()
		v.Reason = "known failure, recorded in the baseline: " + c.got.Reason
	}
	return v
}

// failure is the verdict on a cell that did not pass.
func failure(c cell) Verdict {
	v := Verdict{Cell: c.id, Finding: Crashed, Outcome: c.got.Outcome, Delta: -100, Reason: c.got.Reason}
	if c.got.Outcome == bench.Incorrect {
		v.Finding = Incorrect
	}
	return v
}

// attributed adds what the result says of its measurement.
func attributed(got *bench.Result, v Verdict) Verdict {
	v.Cause, v.Device, v.Retries = got.Cause, got.Device, got.Retries
	if got.Selected > 0 && v.Metric != "" {
		v.Evidence.Again = values(got, v.Metric)
	}
	return v
}

// judgeSpeed judges the metrics of a cell that passes on both sides. The cell counts
// as tracked if any of them was judged, or if there is none to judge.
func judgeSpeed(in *inputs, ev *testResults, c cell) (f findings) {
	verdicts := c.room
	for i := range in.metrics {
		m := &in.metrics[i]
		if v, ok := judgeMetric(in, ev, m, c); ok {
			v.Cell, v.Metric = c.id, m.Name
			v.Evidence.Derived = in.limits.of(c.id, m.Name).derived()
			v = forced(in, ev, m, c, v)
			if !m.Counted { // a count may grow by any factor
				v = plausible(&in.policy, &m.Metric, v)
			}
			verdicts = append(verdicts, v)
		}
	}
	if len(verdicts) == 0 {
		return findings{verdicts: []Verdict{{Cell: c.id, Finding: Unchanged}}, tracked: true}
	}
	verdicts = confirm(in, verdicts)
	for i := range verdicts {
		v := &verdicts[i]
		f.tracked = f.tracked || v.judged()
		f.paired = f.paired || v.judged() && v.Evidence.InPairs
	}
	f.alone = f.paired
	f.verdicts = append(verdicts, uniqueLosses(anchors(in, c, verdicts), bothSlower(in, c, verdicts))...)
	return f
}
