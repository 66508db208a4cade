package gate

import (
	"fmt"
	"math"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate/compat"
	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/text"
)

// judgeTotal judges a total: slower than the deciding reference by strictly more
// than its tolerance is a regression, and beyond that of any other is drift.
func judgeTotal(in *inputs, c cell, check *compat.Check, e *bench.Expected, sample *bench.Sample) []Verdict {
	decides := check.Deciding()
	if decides == nil {
		check.SumUp()
		if c.ref != nil && c.ref.Outcome == bench.Passed {
			return nil // the host's baseline judges it
		}
		return []Verdict{noReference(in, check, e)}
	}
	improved := false
	verdicts := make([]Verdict, 1, 2) // the deciding one comes first
	for i := range check.References {
		r := &check.References[i]
		v := judgeReference(r, check, e.Exact, sample)
		if r == decides {
			v = plausible(&in.policy, &bench.Metric{Name: check.Metric, Kind: bench.Time}, v)
		}
		r.Passed = !in.policy.blocks(&v)
		switch {
		case r == decides:
			improved = v.Finding == Improved
			verdicts[0] = withCaveat(&in.policy, v)
		case v.Finding == Regressed && !e.Exact:
			if LevelOf(e.Drift, Fail) != Off {
				verdicts = append(verdicts, withCaveat(&in.policy, drifted(v, e)))
			}
		case e.Exact && in.policy.blocks(&v): // they have no room to drift
			verdicts = append(verdicts, v)
		}
	}
	check.SumUp()
	if improved && check.Status == compat.CheckPass {
		check.Status = compat.CheckImproved
	}
	return verdicts
}

// judgeReference judges a total by one reference.
func judgeReference(r *compat.ReferenceCheck, check *compat.Check, exact bool, sample *bench.Sample) Verdict {
	m := bench.Metric{Name: check.Metric, Better: bench.Lower}
	old := bench.Sample{Metric: check.Metric, Summary: &bench.Summary{Median: r.Value, N: 1}}
	limit := r.Tolerance
	if r.MaxIncrease != nil {
		limit = min(limit, *r.MaxIncrease)
	}
	v := threshold(&m, &old, sample, limit*100)
	if exact {
		v = equal(&m, r.Value, sample, v)
	}
	v.Cell, v.Metric, v.Reference = check.Cell, check.Metric, r.Name
	v.Delta, v.Interval = stats.Finite(v.Delta), [2]float64{stats.Finite(v.Interval[0]), stats.Finite(v.Interval[1])}
	v.Evidence.Limit, v.Evidence.Noise = stats.Finite(v.Evidence.Limit), stats.Finite(v.Evidence.Noise)
	return v
}

// nearly is the relative difference up to which an exact total is equal: case
// files may have been written by a program that rounds to ten digits.
const nearly = 1e-9

// equal demands that every value is the reference's.
func equal(m *bench.Metric, old float64, sample *bench.Sample, v Verdict) Verdict {
	v.Finding, v.DecidedBy, v.Reason = Unchanged, Certain, ""
	v.Evidence = Evidence{Method: MethodExact, OldN: v.Evidence.OldN, NewN: v.Evidence.NewN}
	values := sample.Values
	if len(values) == 0 {
		values = []float64{v.New}
	}
	for _, x := range values {
		if math.Abs(x-old) <= nearly*old {
			continue
		}
		v.Finding, v.New = Incorrect, x
		v.Delta, _ = m.Better.Gain(old, x)
		v.Reason = fmt.Sprintf("must equal %v, is %v: refresh the case if that is meant", old, x)
		break
	}
	return v
}

// drifted is what a regression means where another reference decides.
func drifted(v Verdict, e *bench.Expected) Verdict {
	v.Finding = Drifted
	if LevelOf(e.Drift, Fail) == Warn {
		v = excusedBy("drift: warn", v)
	}
	v.Reason = fmt.Sprintf(
		"slower than the %[1]s value by more than %.4[2]g %%: make it faster, or record a new %[1]s value if that is meant", v.Reference,
		v.Evidence.Limit)
	return v
}

// withCaveat says so where a loss rests on one value that can be measured again.
func withCaveat(p *Policy, v Verdict) Verdict {
	if !p.Recorded && !v.Undecided() && (v.Finding == Regressed || v.Finding == Drifted) && v.Evidence.NewN == 1 {
		v.Reason = text.Reasons(v.Reason, single)
	}
	return v
}

// noReference reports a cell whose time cannot be compared with anything.
func noReference(in *inputs, check *compat.Check, e *bench.Expected) Verdict {
	v := Verdict{Cell: check.Cell, Metric: check.Metric, Finding: Untracked, New: check.Actual,
		Reason: "neither the case nor the baseline has a time to compare with: record one with cases refresh, or this host's with baseline update"}
	if otherHost(in.run, e) {
		v.Reason = fmt.Sprintf("the recorded times are of host %q: record this host's with baseline update", text.Visible(e.Host, maxName))
	}
	if LevelOf(e.NoReference, Warn) == Fail { // the suite demands one
		v.Finding = Missing
	}
	return v
}

// totalMissing reports a cell that passed without its total.
func totalMissing(check *compat.Check) []Verdict {
	v := Verdict{Cell: check.Cell, Metric: check.Metric, Finding: Missing, Delta: -100,
		Reason: fmt.Sprintf("the run has no %s for this case: make the program print it, or correct how the suite reads it", check.Metric)}
	for i := range check.References {
		check.References[i].Passed = false
	}
	check.SumUp()
	if r := check.Deciding(); r != nil {
		v.Reference, v.Old = r.Name, r.Value
	}
	return []Verdict{v}
}
