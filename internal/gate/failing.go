package gate

import (
	"fmt"
	"slices"

	"github.com/accelgate/accelgate/internal/text"
)

// Failing is what the gate failed in the newest run of the default branch: metrics by cell; "" is the cell as a whole.
type Failing struct {
	Revision string
	Cells    map[string][]string
}

// failsOnBranch excuses what the newest run of the default branch failed as well. It does not on that branch itself, nor what
// pairs with the base show: that is of this change.
func failsOnBranch(in *inputs, verdicts []Verdict) []Verdict {
	f := in.policy.Failing
	if f == nil || in.onBranch() || in.policy.recording {
		return verdicts
	}
	verdicts = slices.Clone(verdicts)
	for i := range verdicts {
		v := &verdicts[i]
		if v.Cell == "" || v.Evidence.InPairs || !in.excusable(v) || !slices.Contains(f.Cells[v.Cell], v.Metric) {
			continue
		}
		v.Excuse = &Excuse{Kind: KnownFailure, Source: fmt.Sprintf("the default branch at %.12s", text.Visible(f.Revision, maxName))}
		v.Reason = text.Reasons(v.Reason, "the newest run of the default branch failed it as well: repair it there")
	}
	return verdicts
}

// Failures lists what blocks, as [Failing] has it.
func (c *Comparison) Failures() map[string][]string {
	failed := map[string][]string{}
	for i := range c.Verdicts {
		if v := &c.Verdicts[i]; v.Blocks && v.Cell != "" && !slices.Contains(failed[v.Cell], v.Metric) {
			failed[v.Cell] = append(failed[v.Cell], v.Metric)
		}
	}
	return failed
}
