package gate

import (
	"fmt"

	"github.com/accelgate/accelgate/internal/bench"
)

// operators names the metric and the method of the verdict on them.
const operators = "operators"

// rounding is the part of a total that its operators may lack, or have too
// much, because programs print few digits.
const rounding = 0.001

// operators compares the first breakdown of a result with the recorded
// operators. measured is the number of values that the total rests on.
func (c *comparer) operators(check *Check, e *bench.Expected, measured int, got *bench.Result) {
	o, level := &check.Operators, levelOf(e.Operators.Level, Fail)
	unit, ok := breakdownUnit(got, check.Unit)
	switch {
	case level == Off:
		return
	case len(e.Operators.Entries) == 0:
		o.Status = OperatorsNoBaseline
		return
	case !ok:
		c.add(noBreakdown(check, got))
		return
	}
	p := &c.parts
	p.reset()
	p.recorded(e.Operators.Entries)
	p.measured(got.Breakdowns[0].Entries, unit)
	u := newUnion(p, &e.Operators, picoseconds(check.Unit), recordedTotal(o, check.References, p.oldSum), check.Actual)
	u.cuts(o.Of != "")
	o.Status, o.DeltaPS, o.Rows = OperatorsPass, u.deltaPS, u.judged()
	violations := u.violations(o.Rows)
	if len(violations) == 0 {
		return
	}
	o.Status = statusOf(level)
	worst := violations[0]
	v := operatorsDiffer(check, level, explain(check, violations), measured)
	v.Old, v.New, v.Delta = worst.Old, worst.New, finite(-worst.Diff*100)
	if worst.Change != OperatorKept {
		v.Delta = -100
	}
	v.Interval = [2]float64{v.Delta, v.Delta}
	c.add(v)
}

// operatorsDiffer is the one verdict on the operators of a cell. Its method is
// no judgement of speed: the total was judged already.
func operatorsDiffer(check *Check, level Level, reason string, measured int) Verdict {
	return Verdict{Cell: check.Cell, Metric: operators, Reference: operators, Class: OperatorsDiffer, Level: level, Reason: reason,
		Evidence: Evidence{Method: operators, Limit: finite(check.Operators.Tolerance * 100), OldN: 1, NewN: measured}}
}

// noBreakdown says that recorded operators were compared with nothing.
func noBreakdown(check *Check, got *bench.Result) Verdict {
	why := "the run has no operators"
	if len(got.Breakdowns) > 0 {
		why = fmt.Sprintf("the run's operators are in %q and the total is in %q", printable(got.Breakdowns[0].Unit, mostName), check.Unit)
	}
	return Verdict{Cell: check.Cell, Metric: operators, Reference: operators, Class: Inconclusive, Level: Warn,
		Reason: why + ", so those of the case were not compared: let the program print them, or set the level of operators to off"}
}

func statusOf(level Level) OperatorStatus {
	if level == Warn {
		return OperatorsWarn
	}
	return OperatorsFail
}

// compared reports whether operators of both sides were compared.
func (o *OperatorCheck) compared() bool {
	return o.Status == OperatorsPass || o.Status == OperatorsWarn || o.Status == OperatorsFail
}

// breakdownUnit converts the first breakdown to the unit of the total; ok is
// false if there is none, or if its unit is another quantity's.
func breakdownUnit(got *bench.Result, total string) (unit scale, ok bool) {
	if len(got.Breakdowns) == 0 {
		return scale{}, false
	}
	return between(got.Breakdowns[0].Unit, total)
}

// recordedTotal is the total that the recorded operators are parts of: the
// smallest reference that is not less than their sum, else the largest, else
// the sum. 0 if nothing is known, as where calls alone were recorded.
func recordedTotal(o *OperatorCheck, references []ReferenceCheck, sum float64) float64 {
	fits := func(r *ReferenceCheck) bool { return r.Value*(1+rounding) >= sum }
	var best *ReferenceCheck
	for i := range references {
		r := &references[i]
		if best == nil || fits(r) && !fits(best) || fits(r) == fits(best) && fits(r) == (r.Value < best.Value) {
			best = r
		}
	}
	if best == nil {
		return max(sum, 0)
	}
	o.Of = best.Name
	return best.Value
}
