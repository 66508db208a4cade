package gate

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate/compat"
	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/text"
)

// Compare judges run against ref, the Run of a baseline called name. A nil ref
// means that there is no reference: outcomes are still judged, and a wrong
// answer is a correctness failure without any baseline. Neither run is
// changed. Both must have passed [bench.Run.Validate].
func Compare(name string, ref, run *bench.Run, p Policy) Comparison {
	if why := run.Context[bench.NoEvidence]; why != "" {
		return Comparison{Reference: name, NoEvidence: why}
	}
	in, verdicts := newInputs(name, ref, run, p)
	ev := testCells(in)
	if v, ok := hostShiftOf(in.withoutChanges(), ev); ok {
		verdicts = append(verdicts, v)
	}
	ofBudgets, spent := budgets(in, ev.share)
	verdicts = append(verdicts, ofBudgets...)
	host := len(verdicts)
	verdicts, sum := judgeCells(in, ev, slices.Grow(verdicts, in.numbers()+1))
	ofGroups, groups, ofGroup := caseGroups(in, sum.checks, len(spent))
	verdicts, spent = slices.Insert(verdicts, host, ofGroups...), append(spent, ofGroup...)
	verdicts = trade(in, gains(in, ev, verdicts))
	began := ev.began // of ev, which takes as much memory as a third of the verdicts and is not needed any more
	missing, unselected := absent(in)
	verdicts = addressed(name, append(verdicts, missing...))
	if order := in.tool.Order; order != nil {
		verdicts = inOrder(order, verdicts)
	}
	verdicts, waivers := waive(in, verdicts)
	verdicts, isolated := quarantine(in, failsOnBranch(in, verdicts))
	verdicts = p.settled(advise(in, verdicts, spent))
	verdicts, shares := sharedLosses(in, verdicts)
	c := Comparison{
		Reference:     name,
		Verdicts:      verdicts,
		Unjudged:      sum.unjudged(in),
		InPairs:       run.Base != "",
		MissingShards: run.MissingShards(),
		Unselected:    unselected,
		Unbuilt:       run.Context[bench.Unbuilt] != "" && sum.passed == 0,
		Measured:      sum.measured,
		Passed:        sum.passed,
		Checks:        sum.checks,
		Waivers:       waivers,
		SharedLosses:  shares,
		Budgets:       spent,
		Groups:        groups,
		Quarantine:    isolated,
		SuspectRange:  began.standing(verdicts),
		Noise:         noiseOf(in),
		Power:         powerOf(verdicts),
	}
	if c.Unjudged == "" {
		c.Uncompared = uncompared(in, verdicts, spent)
	}
	return c
}

// numbers is about how many verdicts there will be.
func (in *inputs) numbers() (n int) {
	for i := range in.cells {
		n += max(1, len(in.cells[i].got.Samples))
	}
	return n
}

// summary counts the cells of a run.
type summary struct {
	measured, passed int
	alone            int  // cells judged without the host's baseline
	tracked, paired  bool // of any cell; see findings
	checks           []compat.Check
}

// judgeCells judges all cells and appends their verdicts.
func judgeCells(in *inputs, ev *testResults, verdicts []Verdict) ([]Verdict, summary) {
	var s summary
	for _, c := range in.cells {
		c.room = verdicts[len(verdicts):] // each cell's verdicts then need no list of their own
		f := judgeCell(in, ev, c)
		verdicts = append(verdicts, f.verdicts...)
		if f.check != nil {
			s.checks = append(s.checks, *f.check)
		}
		s.measured += stats.Indicator(c.got.Outcome != bench.Skipped)
		s.passed += stats.Indicator(c.got.Outcome == bench.Passed)
		s.alone += stats.Indicator(f.alone)
		s.tracked, s.paired = s.tracked || f.tracked, s.paired || f.paired
	}
	return verdicts, s
}

// addressed adds to each verdict what it compared with where it does not say so.
func addressed(reference string, verdicts []Verdict) []Verdict {
	for i := range verdicts {
		v := &verdicts[i]
		v.Reference = cmp.Or(v.Reference, reference)
		if v.Metric == "" && v.Cell != "" {
			v.Evidence.Method = MethodOutcome
		}
	}
	return verdicts
}

// unjudged returns why speed was not judged. It was where each cell that passed was
// judged without the host's baseline, which does not exist.
func (s *summary) unjudged(in *inputs) string {
	switch {
	case s.alone == s.passed && (s.paired || in.ref == nil && s.tracked):
		return ""
	case in.unjudged != "" && in.run.Base != "" && s.passed > 0:
		return fmt.Sprintf("%d of %s could not be judged by pairs with the base, and %s",
			s.passed-s.alone, text.Plural(s.passed, "cell"), in.unjudged)
	case in.unjudged == "" && !s.tracked && s.passed > 0:
		return cmp.Or(unrecordable(in), "no cell could be judged by the numbers of the baseline")
	}
	return in.unjudged
}
