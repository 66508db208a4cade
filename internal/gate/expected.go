package gate

import (
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
)

// judgeExpected judges a cell that passed by what its suite's files say of it.
func judgeExpected(in *inputs, c cell, e bench.Expected) findings {
	if otherHost(in.run, &e) {
		e.References, e.Operators.Entries = nil, nil
	}
	byOriginal := original(in.run, &in.policy, &e)
	check := Check{Cell: c.id, Description: e.Description, Metric: e.Metric, Unit: in.unitOf(e.Metric)}
	sample := c.got.Sample(e.Metric)
	if sample != nil {
		check.Actual = sample.Median()
	}
	check.References = references(&e, check.Actual, limitsOfIncrease(in.tool.Totals))
	check.Operators = OperatorCheck{Status: OperatorsOff, TopN: e.Operators.TopN, Tolerance: e.Operators.Tolerance}
	var verdicts, parts []Verdict
	switch {
	case sample == nil:
		check, verdicts = totalMissing(check)
	case byOriginal:
		check, verdicts = msmodeling(check, sample)
	default:
		check, verdicts = judgeTotal(in, c, check, &e, sample)
	}
	if sample != nil {
		check.Operators, parts = in.policy.operators(e.Suite, Operators{&check, &e.Operators, c.got, sample.Summarize().N, byOriginal})
	}
	if grouped(in.run, &in.policy, &e) {
		check.Group = e.Group.Name
		check.Status, verdicts = inGroup(in, e.Group, check.Status, verdicts)
	}
	f := found(append(verdicts, parts...)...)
	f.check = &check
	return f.counted(byOriginal)
}

// otherHost reports whether the recorded numbers are of another host, so that
// there are none for this one.
func otherHost(run *bench.Run, e *bench.Expected) bool {
	return e.Host != "" && e.Host != run.Host.Label
}

// original reports whether msmodeling's rules judge the cell. They know no hosts.
func original(run *bench.Run, p *Policy, e *bench.Expected) bool {
	return p.Compat.Rules().Totals.TwoSided && !otherHost(run, e)
}

// counted notes whether a cell was judged by its suite's files. Compared operators
// are evidence as well: their calls are numbers that must be equal, like an exact
// metric, and may be all that can be committed for any machine. But they do not
// settle the speed of the cell. The original counts a case without a baseline
// as passed.
func (f findings) counted(byOriginal bool) findings {
	judged := slices.ContainsFunc(f.verdicts, Verdict.judged)
	f.tracked = judged || f.check.Operators.compared()
	f.alone = judged || byOriginal && f.check.Status == CheckNoBaseline
	return f
}

// withoutExpected takes the cells that msmodeling's rules judge out of the host's
// baseline, which those rules do not know. If nothing remains, there is none.
func withoutExpected(ref, run *bench.Run, p *Policy) *bench.Run {
	if !p.Compat.Rules().Totals.TwoSided || ref == nil {
		return ref
	}
	others := *ref
	others.Results = slices.DeleteFunc(slices.Clone(ref.Results), func(r bench.Result) bool {
		e, ok := p.Expected[r.Cell.ID()]
		return ok && original(run, p, &e)
	})
	switch len(others.Results) {
	case len(ref.Results):
		return ref
	case 0:
		return nil
	}
	return &others
}

// unitOf is the unit of a metric; seconds where neither side describes it.
func (in *inputs) unitOf(metric string) string {
	if m := in.metric(metric); m != nil {
		return m.Unit
	}
	return "s"
}

// LevelOf reads a level of a configuration; any other text is the unknown level.
func LevelOf(s string, unknown Level) Level {
	switch l := Level(s); l {
	case Fail, Warn, Off:
		return l
	}
	return unknown
}
