package gate

import "github.com/accelgate/accelgate/internal/bench"

// msmodeling judges the total of a cell as the checker of Ascend/msmodeling does (its
// tests/benchmark/models/test_model_regression.py at commits 84fec85 and 21de24d3): to both sides,
// so that a gain fails as well; a case without any reference
// passes. The host's baseline, drift and exactness are not known to it.
func msmodeling(check Check, sample *bench.Sample) (Check, []Verdict) {
	check.Status = status(check.References)
	decides := deciding(check.References)
	var verdicts []Verdict
	if decides < 0 {
		verdicts = []Verdict{{Cell: check.Cell, Metric: check.Metric, Finding: Untracked, New: check.Actual,
			Reason: "the case has no time to compare with, which msmodeling counts as passed: record one with cases refresh"}}
	}
	for i := range check.References {
		if r := &check.References[i]; !r.Passed || i == decides && check.Status == CheckPass {
			verdicts = append(verdicts, twoSided(r, &check, sample))
		}
	}
	return check, verdicts
}

// twoSided is the verdict on a reference that was compared already.
func twoSided(r *ReferenceCheck, check *Check, sample *bench.Sample) Verdict {
	v := judgeReference(r, check, false, sample)
	v.Finding, v.DecidedBy, v.Reason, v.Evidence.Method = Unchanged, Certain, "", MethodThreshold
	switch {
	case r.Passed:
	case r.Diff > 0:
		v.Finding = Regressed
	default:
		v.Finding = Unrecorded
		v.Reason = "faster than the Tolerance allows, which fails by msmodeling's rule: refresh the case if that is meant"
	}
	return v
}
