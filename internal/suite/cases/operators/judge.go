// Package operators compares the operators of a case, the parts of its time, with the recorded ones. It says what was
// seen; what blocks is up to package gate.
package operators

import (
	"fmt"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/gate/compat"
	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/text"
)

// name is that of the metric and the reference of the verdicts on operators.
const name = "operators"

// Judge implements [gate.OperatorJudge].
func Judge(of gate.Operators) (compat.OperatorCheck, []gate.Verdict) {
	if of.Original {
		return topOperators(of)
	}
	return judgeOperators(of)
}

// rounding is the part of a total that its operators may lack, or have too
// much, because programs print few digits.
const rounding = 0.001

// judgeOperators compares the operators of a result with the recorded ones.
func judgeOperators(in gate.Operators) (compat.OperatorCheck, []gate.Verdict) {
	var verdicts []gate.Verdict
	check, e := in.Check, in.Recorded
	o, level := check.Operators, gate.LevelOf(e.Level, gate.Fail)
	b, unit, ok := breakdown(in.Got, check.Unit)
	switch {
	case level == gate.Off:
		return o, nil
	case len(e.Entries) == 0:
		o.Status = compat.OperatorsNoBaseline
		return o, nil
	case !ok:
		return o, []gate.Verdict{noBreakdown(check, b, level)}
	}
	p := spareParts.Get().(*parts)
	defer spareParts.Put(p)
	p.reset()
	p.recorded(e.Entries)
	p.measured(b.Entries, unit)
	if len(b.Entries) > 0 && p.oldSum > 0 && p.newSum <= 0 {
		return o, []gate.Verdict{noTimes(check, level)}
	}
	of, recorded := recordedTotal(check.References, p.oldSum)
	u := newOperatorDiff(p, e, picoseconds(check.Unit), recorded, check.Actual)
	u.cuts(largestReference(check.References))
	o.Of, o.Status, o.DeltaPS, o.Rows = of, compat.OperatorsPass, u.deltaPS, u.judged()
	if u.impossible(in.Measured) {
		verdicts = append(verdicts, tooMuch(check, p.newSum))
	}
	if violations := u.violations(o.Rows); len(violations) > 0 {
		o.Status = statusOf(level)
		verdicts = append(verdicts, notRecorded(check, level, violations, in.Measured))
	}
	return o, verdicts
}

// notRecorded is the verdict on operators that are not as recorded, the largest loss first.
func notRecorded(check *compat.Check, level gate.Level, violations []*compat.OperatorRow, measured int) gate.Verdict {
	worst := violations[0]
	v := byLevel(level, operatorsDiffer(check, explain(check, violations), measured))
	v.Old, v.New, v.Delta = worst.Old, worst.New, stats.Finite(-worst.Diff*100)
	if worst.Change != compat.OperatorKept {
		v.Delta = -100
	}
	v.Interval = [2]float64{v.Delta, v.Delta}
	return v
}

// operatorsDiffer is the one verdict on all operators that are not as recorded.
// Its method is no judgement of speed: the total was judged already.
func operatorsDiffer(check *compat.Check, reason string, measured int) gate.Verdict {
	return gate.Verdict{Cell: check.Cell, Metric: name, Reference: name, Finding: gate.PartsDiffer, Reason: reason,
		Evidence: gate.Evidence{Method: gate.MethodParts, Limit: stats.Finite(check.Operators.Tolerance * 100), OldN: 1, NewN: measured}}
}

// noBreakdown says that there is nothing to compare recorded operators with: b
// is nil, or its unit is another quantity's than the total's.
func noBreakdown(check *compat.Check, b *bench.Breakdown, level gate.Level) gate.Verdict {
	why := "the run has no operators, and the case does: let the program print them"
	if b != nil {
		why = fmt.Sprintf("the run's operators are in %q and the total is in %q: let the program print them in the unit of the total",
			text.Visible(b.Unit, maxName), text.Visible(check.Unit, maxName))
	}
	return byLevel(level, gate.Verdict{Cell: check.Cell, Metric: name, Reference: name, Finding: gate.Missing, Delta: -100,
		Reason: why + ", or set the level of operators to off"})
}

// byLevel excuses a verdict on operators that the suite only warns of.
func byLevel(level gate.Level, v gate.Verdict) gate.Verdict {
	if level == gate.Warn {
		return excusedBy("operators.level: warn", v)
	}
	return v
}

// noTimes says that the run lists operators and how long none of them took.
func noTimes(check *compat.Check, level gate.Level) gate.Verdict {
	return byLevel(level, gate.Verdict{Cell: check.Cell, Metric: name, Reference: name, Finding: gate.Missing, Delta: -100,
		Reason: "the run's operators have no times, and the case's do: let the program print them, or set the level of operators to off"})
}

// tooMuch doubts operators that take more than the total: one of the two numbers
// is not what it says.
func tooMuch(check *compat.Check, sum float64) gate.Verdict {
	return gate.Verdict{Cell: check.Cell, Metric: name, Reference: name, Finding: gate.Implausible, DecidedBy: gate.ByCorrectOutput,
		Reason: fmt.Sprintf("the run's operators add up to %s, more than the total of %s: look at how the program counts",
			amounts(check.Unit, sum), amounts(check.Unit, check.Actual))}
}

// excusedBy excuses a verdict by a rule.
func excusedBy(source string, v gate.Verdict) gate.Verdict {
	v.Excuse = &gate.Excuse{Kind: gate.RuleExcuse, Source: source}
	return v
}

func statusOf(level gate.Level) compat.OperatorStatus {
	if level == gate.Warn {
		return compat.OperatorsWarn
	}
	return compat.OperatorsFail
}

// breakdown finds the operators of a result, wherever they stand: what is titled
// so, else the first that can be parts of the total. unit converts to that of
// the total; ok is false if there is none, or if its unit is another quantity's.
func breakdown(got *bench.Result, total string) (b *bench.Breakdown, unit scale, ok bool) {
	for i := range got.Breakdowns {
		candidate := &got.Breakdowns[i]
		s, fits := between(candidate.Unit, total)
		if candidate.Title == bench.OperatorsTitle {
			return candidate, s, fits
		}
		if b == nil || fits && !ok {
			b, unit, ok = candidate, s, fits
		}
	}
	return b, unit, ok
}

// largestReference is 0 where there is none.
func largestReference(references []compat.ReferenceCheck) float64 {
	maximum := 0.0
	for i := range references {
		maximum = max(maximum, references[i].Value)
	}
	return maximum
}

// recordedTotal is the total that the recorded operators are parts of: the
// smallest reference that is not less than their sum, else the largest, else
// the sum. 0 if nothing is known, as where calls alone were recorded.
func recordedTotal(references []compat.ReferenceCheck, sum float64) (name string, total float64) {
	fits := func(r *compat.ReferenceCheck) bool { return r.Value*(1+rounding) >= sum }
	var best *compat.ReferenceCheck
	for i := range references {
		r := &references[i]
		if best == nil || fits(r) && !fits(best) || fits(r) == fits(best) && fits(r) == (r.Value < best.Value) {
			best = r
		}
	}
	if best == nil {
		return "", max(sum, 0)
	}
	return best.Name, best.Value
}
