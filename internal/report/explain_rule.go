package report

import (
	"fmt"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/text"
)

// ruleOf is the rule of the gate that a verdict follows, in a sentence.
func ruleOf(p *gate.Policy, v *gate.Verdict) string {
	e := &v.Evidence
	limit := bare(e.Limit)
	switch {
	case v.Class == gate.Implausible:
		return "code does not change a number by such a factor: it blocks in both directions"
	case v.Paid != nil:
		return fmt.Sprintf("blocks a loss beyond %s, except for one of up to %s where %s gains at least %s as certainly", limit, bare(v.Paid.Loss), v.Paid.For, bare(v.Paid.Gain))
	case v.Class == gate.OutOfBounds:
		return "the configuration bounds the median (" + limitsIn(v).String() + "): it blocks without any baseline"
	case v.Class == gate.Drifted:
		return "may be worse than the level that drift is measured from by at most " + limit
	case e.Method == "evidence" && e.Mode == detect.Interleaved:
		return "pairs of base and head: blocks a loss of at least " + limit + " that noise alone would hardly show"
	case e.Method == "evidence":
		return "earlier runs of this host: blocks a loss of at least " + limit + " that noise alone would hardly show"
	case e.Method == "threshold" && p.Method == gate.MethodThreshold:
		return "fixed threshold, as policy.method demands: the median may be worse by at most " + limit
	case e.Method == "threshold":
		return "fixed threshold, for lack of pairs and of 3 earlier runs: the median may be worse by at most " + limit
	case e.Method == gate.MethodTest && e.Test == gate.TestTwoSided:
		return "scores with standard errors, as independent estimates: blocks a difference that chance would hardly make"
	case e.Method == gate.MethodTest:
		return "scores with standard errors, as independent estimates: blocks a loss that chance would hardly make"
	case e.Method == "exact":
		return "must be equal to the reference's"
	case e.Method == "digest":
		return "the declared files are the reference's: nothing that is measured has changed"
	}
	if rule := rules[v.Class]; rule != "" {
		return rule
	}
	return "no scenario was compared: name one with --scenarios"
}

// rules are those of classes that no number decides.
var rules = map[gate.Class]string{
	gate.CorrectnessFailure: "a wrong answer blocks, with or without a baseline",
	gate.RuntimeFailure:     "a cell that fails to run blocks, unless the baseline records the failure",
	gate.Missing:            "blocks: the reference has it and the run does not",
	gate.Skipped:            "a skipped cell blocks only if the baseline has it",
	gate.LeftOut:            "a cell that a limit left out blocks only if the baseline has it",
	gate.Untracked:          "the baseline does not have the cell: only its answer is judged",
	gate.Fixed:              "failed in the baseline and passes now",
	gate.Inconclusive:       "the speed was not judged",
	gate.OperatorsDiffer:    "operators are compared with the recorded ones",
	gate.Unchanged:          "no gated metric of the cell is worse",
}

// choosing is how many of a cell's pairs only chose it for more.
func choosing(e *gate.Evidence) int {
	if e.Mode != detect.Interleaved {
		return 0
	}
	return max(0, e.Pairs-e.NewN)
}

// stagesOf says how often the cell was measured, and which values count.
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
	if v.Suspected {
		add("suspected: the next run confirms it, or pairs with the base decide it")
	}
	if v.Confirmed {
		add("the run before was suspected, and this one confirms it")
	}
	if v.Unhealthy {
		add("the host was unhealthy, or its calibration workload moved, so it may be to blame")
	}
	if v.Alike > 0 {
		a := &h.Comparison.Alike[v.Alike-1]
		add("part of a loss that %s share", allOf(a))
	}
	return list
}
