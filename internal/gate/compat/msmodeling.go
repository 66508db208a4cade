package compat

import (
	"math"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/stats"
)

// Totals are rules for the recorded totals of cells, by the files of their suite.
type Totals struct {
	// Judge judges a total in place of the gate's own rules; nil for those. The host's baseline does not count then.
	Judge func(c *Check) []TotalJudgement
	// Mean is that of a group in percent, of the comparisons of its cases with their baselines; nil for the geometric mean
	// of the changes. Where it is set, a group without a mean fails.
	Mean    func(baselines []ReferenceCheck) float64
	Groups  bool // the mean of a group is judged in place of its cases
	Written bool // largest increases of the files count
	Implied bool // and those that the files imply
}

// TotalJudgement is what a tool finds of a total by one reference.
type TotalJudgement struct {
	Class
	Reference *ReferenceCheck // nil where there is none
	Reason    string          // of the tool; "" for none
}

// References compares a total with each of the recorded ones: within the tolerance, to either side, and not above the
// largest increase that counts, inclusively and without rounding.
func (t *Totals) References(e *bench.Expected, actual float64) []ReferenceCheck {
	var checks []ReferenceCheck
	for i := range e.References {
		r := &e.References[i]
		if !(r.Value > 0) {
			continue
		}
		diff := (actual - r.Value) / r.Value
		check := ReferenceCheck{Name: r.Name, Value: r.Value, Tolerance: r.Tolerance,
			Diff: stats.Finite(diff), Passed: math.Abs(diff) <= r.Tolerance}
		if r.MaxIncrease != nil && (r.Implied && t.Implied || !r.Implied && t.Written) {
			check.MaxIncrease, check.Passed = r.MaxIncrease, check.Passed && diff <= *r.MaxIncrease
		}
		checks = append(checks, check)
	}
	return checks
}

// judgeTwoSided judges a total as the checker of Ascend/msmodeling does (its
// tests/benchmark/models/test_model_regression.py at commits 84fec85 and 21de24d3): to both sides, so that a gain fails
// as well. Drift and exactness are not known to it.
func judgeTwoSided(c *Check) (found []TotalJudgement) {
	c.SumUp()
	decides := c.Deciding()
	if decides == nil {
		return []TotalJudgement{{Class: Unknown,
			Reason: "the case has no time to compare with, which msmodeling counts as passed: record one with cases refresh"}}
	}
	for i := range c.References {
		switch r := &c.References[i]; {
		case !r.Passed && r.Diff > 0:
			found = append(found, TotalJudgement{Regressed, r, ""})
		case !r.Passed:
			found = append(found, TotalJudgement{TooFast, r,
				"faster than the Tolerance allows, which fails by msmodeling's rule: refresh the case if that is meant"})
		case r == decides && c.Status == CheckPass:
			found = append(found, TotalJudgement{Unchanged, r, ""})
		}
	}
	return found
}

// meanDistance adds in percent and in the order of the group, as the original does.
func meanDistance(baselines []ReferenceCheck) float64 {
	sum := 0.0
	for _, r := range baselines {
		sum += math.Abs(r.Diff) * 100
	}
	return sum / float64(len(baselines))
}
