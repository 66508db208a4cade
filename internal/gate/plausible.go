package gate

import (
	"fmt"

	"github.com/accelgate/accelgate/internal/bench"
)

// DefaultImplausible is the factor between two numbers beyond which a change is
// no change of speed: a unit, a parser or a program went wrong.
const DefaultImplausible = 100.0

func (p *Policy) implausible() float64 {
	if p.Implausible > 0 {
		return p.Implausible
	}
	return DefaultImplausible
}

// TooFar returns how a number that is to be recorded differs from the recorded one by
// more than code makes, or "". Numbers of 0 differ by no factor.
func (p *Policy) TooFar(recorded, measured float64) string {
	if recorded == 0 || measured == 0 {
		return ""
	}
	return Farther(recorded, measured, p.implausible())
}

// possible makes failed cells of those that passed with a value that its
// metric cannot have, such as a negative rate.
func possible(run *bench.Run, results []*bench.Result, p *Policy) []*bench.Result {
	if !p.Compat.Rules().Complete {
		return results
	}
	for i, r := range results {
		if r.Outcome != bench.Passed {
			continue
		}
		if why := run.Impossible(r); why != "" {
			failed := *r
			failed.Outcome, failed.Cause = bench.Failed, bench.CauseOutput
			failed.Reason = why + ": correct what the program prints, or the metric's kind in the configuration"
			results[i] = &failed
		}
	}
	return results
}

// impossible is the verdict on a number whose reference its metric cannot have;
// ok is false where the reference is possible.
func (m *described) impossible(old, now *bench.Sample) (v Verdict, ok bool) {
	if old == nil || m.Exact {
		return v, false
	}
	before := old.Median()
	if why := m.Impossible(before); why != "" && before < 0 { // a median of counts need not be whole
		return Verdict{Finding: Incomparable, Old: before, New: now.Median(),
			Reason: "in the baseline, " + why + ": record it anew with baseline update --force"}, true
	}
	return v, false
}

// plausible blocks a change that is larger than any code makes, in either
// direction. A change from or to 0 has no factor and other rules.
func plausible(p *Policy, m *bench.Metric, v Verdict) Verdict {
	if !p.Compat.Rules().Implausible || m.Quantity() == bench.Score || v.Old == 0 || v.New == 0 {
		return v
	}
	if !v.Evidence.Method.limited() {
		return v
	}
	if why := Farther(v.Old, v.New, p.implausible()); why != "" {
		v.Finding, v.DecidedBy = Implausible, Certain
		v.Reason = why + "; if the change is meant, record it with baseline update --force"
	}
	return v
}

// Farther returns how two numbers, neither of them 0, differ by more than a factor,
// or "".
func Farther(old, new, limit float64) string {
	const compare = ": compare the unit and the output of both sides"
	switch factor := max(new/old, old/new); {
	case factor < 0:
		return fmt.Sprintf("the sign changed, from %.5g to %.5g", old, new) + compare
	case factor > limit:
		return fmt.Sprintf("changed by a factor of %.4g (limit %.4g), from %.5g to %.5g", factor, limit, old, new) + compare
	}
	return ""
}
