package report

import (
	"fmt"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/text"
)

// ruleOf is the rule of the gate that a verdict follows, in a sentence.
func (h *host) ruleOf(p *gate.Policy, res *bench.Result, v *gate.Verdict) string {
	if h.isCount(res, v) {
		return "a count that differs by at most 1 among the processes of a side needs no statistics: it may be worse by at most " +
			bare(v.Evidence.Limit)
	}
	return ruleOf(p, v)
}

// isCount reports whether a verdict is about a count that never varied.
func (h *host) isCount(res *bench.Result, v *gate.Verdict) bool {
	m, s := h.metrics[v.Metric], sampleOf(res, v.Metric)
	of := v.Evidence.Method == gate.MethodThreshold && !v.SinceBaseline() && !fromZero(v)
	return of && m != nil && m.Counted && s != nil && gate.SameCount(s.Values) && gate.SameCount(s.Base)
}

// whyUnjudged is why no verdict is about a metric, "" where the configuration does not gate it.
func (h *host) whyUnjudged(s *bench.Sample) string {
	if m := h.metrics[s.Metric]; m != nil && m.Counted && !(gate.SameCount(s.Values) && gate.SameCount(s.Base)) {
		return "it varies by more than 1 among processes, so only an entry of limits that names it gates it"
	}
	return ""
}

func ruleOf(p *gate.Policy, v *gate.Verdict) string {
	e := &v.Evidence
	limit := bare(e.Limit)
	switch {
	case v.Finding == gate.Implausible:
		return "code does not change a number by such a factor: it blocks in both directions"
	case v.Excused() == gate.TradeExcuse:
		t := v.Excuse.Trade
		return fmt.Sprintf("blocks a loss beyond %s, except for one of up to %s where %s gains at least %s as certainly",
			limit, bare(t.Loss), visible(t.For), bare(t.Gain))
	case v.Finding == gate.OutOfBounds:
		return "the configuration bounds the median (" + limitsIn(v).String() + "): it blocks without any baseline"
	case v.Finding == gate.Drifted:
		return "may be worse than the level that drift is measured from by at most " + limit
	case v.SinceBaseline():
		return "the median may be worse than the baseline by at most " + limit +
			", also where base and head agree: pairs do not show what both sides lost"
	case e.Method == gate.MethodPairs:
		return "pairs of base and head: blocks a loss of at least " + limit + " that noise alone would hardly show"
	case e.Method == gate.MethodHistory:
		return "earlier runs of this host: blocks a loss of at least " + limit + " that noise alone would hardly show"
	case fromZero(v):
		return "a reference of 0 has no change in percent: an amount in the metric's unit limits it, and without one any change for the worse blocks"
	case e.Method == gate.MethodThreshold && p.Method == gate.MethodThreshold:
		return "fixed threshold, as policy.method demands: the median may be worse by at most " + limit
	case e.Method == gate.MethodSessions:
		return "two sessions of this host, for lack of pairs and of 3 earlier runs: the median may be worse by at most " + limit
	case e.Method == gate.MethodThreshold:
		return "fixed threshold, for lack of pairs and of 3 earlier runs: the median may be worse by at most " + limit
	case e.Method == gate.MethodTest && e.Test == gate.TestTwoSided:
		return "scores with standard errors, as independent estimates: blocks a difference that chance would hardly make"
	case e.Method == gate.MethodTest:
		return "scores with standard errors, as independent estimates: blocks a loss that chance would hardly make"
	case e.Method == gate.MethodExact:
		return "must be equal to the reference's"
	case e.Method == gate.MethodDigest:
		return "the declared files are the reference's: nothing that is measured has changed"
	}
	if rule := rules[v.Finding]; rule != "" {
		return rule
	}
	return "no scenario was compared: name one with --scenarios"
}

// rules hold the rule of each finding that no number decides.
var rules = map[gate.Finding]string{
	gate.Incorrect:    "a wrong answer blocks, with or without a baseline",
	gate.Crashed:      "a cell that fails to run blocks, unless the baseline records the failure",
	gate.Missing:      "blocks: the reference or the configuration has it and the run does not",
	gate.Incomparable: "both sides must mean the same by a number",
	gate.Skipped:      "a cell that was not measured blocks only if the baseline has it",
	gate.Untracked:    "no reference of this host has it: only answers are judged",
	gate.Fixed:        "failed in the baseline and passes now",
	gate.PartsDiffer:  "operators are compared with the recorded ones",
	gate.Unchanged:    "no gated metric of the cell is worse",
}

// choosing is how many of a cell's pairs only chose it for more.
func choosing(e *gate.Evidence) int {
	if e.Method != gate.MethodPairs {
		return 0
	}
	return max(0, e.Pairs-e.NewN)
}

// stagesOf returns how often the cell was measured, and which values count.
func stagesOf(h *host, res *bench.Result, v *gate.Verdict) (list []string) {
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	e := &v.Evidence
	switch {
	case res == nil || v.Metric == "":
	case res.Selected == 1:
		add("the first value looked slower and chose the cell; it does not count")
	case res.Selected > 1:
		add("the first %s looked slower and chose the cell; they do not count", text.Plural(res.Selected, "value"))
	}
	switch chose := choosing(e); {
	case chose > 0:
		add("the last %s decide; %s before them chose the cell", text.Plural(e.NewN, "pair"), text.Plural(chose, "pair"))
	case e.Pairs > 0:
		add("%s decide", text.Plural(e.Pairs, "pair"))
	}
	if e.Need > e.Pairs {
		add("%d pairs are needed for a decision", e.Need)
	}
	if how := derivation(e); how != "" {
		add("%s", how)
	}
	if v.Confirmed {
		add("the run before was suspected, and this one confirms it")
	}
	if v.SharedLoss > 0 {
		a := &h.Comparison.SharedLosses[v.SharedLoss-1]
		add("part of a loss that %s share", allOf(a))
	}
	return list
}
