package gate

import (
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate/compat"
)

// judgeExpected judges a cell that passed by what its suite's files say of it.
func judgeExpected(in *inputs, c cell, e bench.Expected) findings {
	if otherHost(in.run, &e) {
		e.References, e.Operators.Entries = nil, nil
	}
	byOriginal := original(in.run, &in.policy, &e)
	check := &compat.Check{Cell: c.id, Description: e.Description, Metric: e.Metric, Unit: in.unitOf(e.Metric)}
	sample := c.got.Sample(e.Metric)
	if sample != nil {
		check.Actual = sample.Median()
	}
	check.References = in.tool.Totals.References(&e, check.Actual)
	check.Operators = compat.OperatorCheck{Status: compat.OperatorsOff, TopN: e.Operators.TopN, Tolerance: e.Operators.Tolerance}
	var verdicts, parts []Verdict
	switch {
	case sample == nil:
		verdicts = totalMissing(check)
	case byOriginal:
		verdicts = totalByTool(check, in.tool.Totals.Judge(check), sample)
	default:
		verdicts = judgeTotal(in, c, check, &e, sample)
	}
	if sample != nil {
		check.Operators, parts = in.policy.operators(e.Suite, Operators{check, &e.Operators, c.got, sample.Summarize().N, byOriginal})
	}
	if grouped(in.run, &in.policy, &e) {
		inGroup(in, e.Group, check, verdicts)
	}
	f := found(append(verdicts, parts...)...)
	f.check = check
	return f.counted(byOriginal)
}

// otherHost reports whether the recorded numbers are of another host, so that
// there are none for this one.
func otherHost(run *bench.Run, e *bench.Expected) bool {
	return e.Host != "" && e.Host != run.Host.Label
}

// original reports whether another tool's rules judge the total of the cell. They know no hosts.
func original(run *bench.Run, p *Policy, e *bench.Expected) bool {
	return p.Compat.Rules().Totals.Judge != nil && !otherHost(run, e)
}

// counted notes whether a cell was judged by its suite's files. Compared operators
// are evidence as well: their calls are numbers that must be equal, like an exact
// metric, and may be all that can be committed for any machine. But they do not
// settle the speed of the cell. The original counts a case without a baseline
// as passed.
func (f findings) counted(byOriginal bool) findings {
	judged := slices.ContainsFunc(f.verdicts, Verdict.judged)
	f.tracked = judged || f.check.Operators.Status.Compared()
	f.alone = judged || byOriginal && f.check.Unrecorded()
	return f
}

// withoutExpected takes the cells that another tool's rules judge out of the host's
// baseline, which those rules do not know. If nothing remains, there is none.
func withoutExpected(ref, run *bench.Run, p *Policy) *bench.Run {
	if p.Compat.Rules().Totals.Judge == nil || ref == nil {
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
