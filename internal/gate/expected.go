package gate

import (
	"fmt"
	"maps"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
)

// expected judges a cell that passed by what its suite's files say of it.
// timed says that the host's baseline knows the cell too, and judges it after.
func (c *comparer) expected(id string, e bench.Expected, timed bool, got *bench.Result) {
	if c.elsewhere(&e) {
		e.References, e.Operators.Entries = nil, nil
	}
	check := Check{Cell: id, Description: e.Description, Metric: e.Metric, Unit: c.unitOf(e.Metric)}
	sample := got.Sample(e.Metric)
	before := len(c.out.Verdicts)
	if sample != nil {
		check.Actual = summarize(sample).Median
	}
	check.References = references(&e, check.Actual)
	check.Operators = OperatorCheck{Status: OperatorsOff, TopN: e.Operators.TopN, Tolerance: e.Operators.Tolerance}
	switch {
	case sample == nil:
		c.totalMissing(&check)
	case c.original(&e):
		c.msmodeling(&check, &e, sample, got)
	default:
		c.total(&check, &e, sample, timed)
		c.operators(&check, &e.Operators, summarize(sample).N, got)
	}
	c.out.Checks = append(c.out.Checks, check)
	c.count(&check, &e, c.out.Verdicts[before:])
}

// elsewhere reports whether the recorded numbers are of another host, so that
// there are none for this one.
func (c *comparer) elsewhere(e *bench.Expected) bool {
	return e.Host != "" && e.Host != c.run.Host.Label
}

// original reports whether msmodeling's rules judge the cell. They know no hosts.
func (c *comparer) original(e *bench.Expected) bool {
	return c.policy.Compat == CompatMSModeling && !c.elsewhere(e)
}

// count notes whether the cell was judged. Operators that were compared are
// evidence as well: their calls are numbers that must be equal, like an exact
// metric, and may be all that can be committed for any machine. But they do not
// settle the speed of the cell. The original counts a case without a baseline
// as passed.
func (c *comparer) count(check *Check, e *bench.Expected, verdicts []Verdict) {
	judged := slices.ContainsFunc(verdicts, Verdict.judged)
	if judged || check.Operators.compared() {
		c.tracked++
	}
	if judged || c.original(e) && check.Status == CheckNoBaseline {
		c.alone[check.Cell] = true
	}
}

// settle takes back that speed was not judged where each cell that passed was
// judged without the host's baseline, which does not exist.
func (c *comparer) settle() {
	switch {
	case len(c.alone) == c.out.Passed && (c.paired > 0 || c.ref == nil && c.tracked > 0):
		c.out.Unjudged = ""
	case c.out.Unjudged != "" && c.run.Base != "" && c.out.Passed > 0:
		c.out.Unjudged = fmt.Sprintf("%d of %d cells could not be judged by pairs with the base, and %s", c.out.Passed-len(c.alone), c.out.Passed, c.out.Unjudged)
	case c.out.Unjudged == "" && c.tracked == 0 && c.out.Passed > 0:
		c.out.Unjudged = "no cell could be judged by the numbers of the baseline"
	}
}

// withoutExpected takes the cells that msmodeling's rules judge out of the host's
// baseline, which those rules do not know. If nothing remains, there is none.
func (c *comparer) withoutExpected() {
	if c.policy.Compat != CompatMSModeling || c.ref == nil {
		return
	}
	ref := *c.ref
	ref.Results = slices.DeleteFunc(slices.Clone(ref.Results), func(r bench.Result) bool {
		e, ok := c.policy.Expected[r.Cell.ID()]
		return ok && c.original(&e)
	})
	switch len(ref.Results) {
	case len(c.ref.Results):
	case 0:
		c.ref = nil
	default:
		c.ref = &ref
	}
}

// absent reports the cells of suites' files that the run does not have.
func (c *comparer) absent(unselected map[string]bool) {
	for _, id := range slices.Sorted(maps.Keys(c.policy.Expected)) {
		if !c.seen[id] && !unselected[id] {
			c.add(Verdict{Cell: id, Class: Missing, Level: Fail,
				Reason: "the suite has this case and the run does not: measure it, or remove it from the suite if it is not needed any more"})
		}
	}
}

// owed reports whether a cell must be in the run: it passed in the reference,
// or the reference does not know it and a suite's files do.
func (c *comparer) owed(id string) bool {
	if c.policy.Compat == CompatTensorSharp {
		return false
	}
	if ref := c.byID[id]; ref != nil {
		return ref.Outcome == bench.Passed
	}
	_, ok := c.policy.Expected[id]
	return ok
}

// unitOf is the unit of a metric; seconds where nobody describes it.
func (c *comparer) unitOf(metric string) string {
	for i := range c.metrics {
		if c.metrics[i].Name == metric {
			return c.metrics[i].Unit
		}
	}
	return "s"
}

// levelOf reads a level of a configuration.
func levelOf(s string, unknown Level) Level {
	switch l := Level(s); l {
	case Fail, Warn, Off:
		return l
	}
	return unknown
}
