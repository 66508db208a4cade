package gate

import (
	"fmt"
	"math"

	"github.com/accelgate/accelgate/internal/bench"
)

// Tolerance is the change, in percentage points, below which numbers are not
// told apart, because 0.72 against 0.8 is not -10 % in binary arithmetic. Exactly
// the limit passes, and one instruction more of 10^11 does not pass a limit of 0 %.
const Tolerance = 1e-10

// threshold is TensorSharp's rule, for any direction: regressed if and only if
// the median is worse by strictly more than limit percent.
func threshold(m *bench.Metric, old, new *bench.Sample, limit float64) Verdict {
	o, n := old.Summarize(), new.Summarize()
	v := Verdict{Finding: Unchanged, Old: o.Median, New: n.Median,
		Evidence: Evidence{Method: MethodThreshold, Limit: limit, OldN: o.N, NewN: n.N, Noise: max(noise(o), noise(n))}}
	gain, ok := m.Better.Gain(o.Median, n.Median)
	if !ok {
		return fromZero(m, v)
	}
	v.Delta, v.Interval = gain, interval(m, o.Median, new, gain)
	switch {
	case m.Better == bench.Lower && o.Median > 0 && n.Median <= 0 && !mayVanish(m, o.Median):
		v.Finding, v.Evidence.Method = Implausible, NoMethod
		v.Reason = fmt.Sprintf("%v is not a measurement of something that took %v before", n.Median, o.Median)
	case gain < -limit-Tolerance:
		v.Finding = Regressed
	case gain > limit+Tolerance:
		v.Finding = v.improved()
	}
	return v
}

// mayVanish reports whether a metric may be 0 where it was old: a share of failures may, and a small count, but neither a
// time nor a large count.
func mayVanish(m *bench.Metric, old float64) bool {
	switch m.Quantity() {
	case bench.Ratio, bench.Score:
		return true
	case bench.Count:
		return old <= DefaultImplausible
	}
	return false
}

// improved is the finding of a number that is better by more than its limit: where
// its interval holds 0, it may be no better at all.
func (v *Verdict) improved() Finding {
	if v.Interval[0] <= 0 {
		return Unchanged
	}
	return Improved
}

// fromZero judges against a reference of zero, from which every relative
// change is undefined: growth of a lower-is-better metric is for the worse by
// any threshold, everything else is undecided.
func fromZero(m *bench.Metric, v Verdict) Verdict {
	switch {
	case v.New == 0:
		v.Evidence.Method = NoMethod // nothing compared with nothing
	case m.Better == bench.Lower && v.New > 0:
		v.Finding, v.Delta = Regressed, -100
		v.Reason = "the baseline is 0"
	default:
		v.Finding, v.Evidence.Method = Incomparable, NoMethod
		v.undecide(ByNewBaseline, fmt.Sprintf("%s is 0 in the baseline, so a relative change is undefined: "+
			"measure the cell again with baseline update", m.Name))
	}
	v.Interval = [2]float64{v.Delta, v.Delta}
	return v
}

// interval spans the changes of the single values of new.
func interval(m *bench.Metric, old float64, new *bench.Sample, gain float64) [2]float64 {
	lo, hi := gain, gain
	for _, x := range new.Values {
		g, _ := m.Better.Gain(old, x)
		lo, hi = min(lo, g), max(hi, g)
	}
	return [2]float64{lo, hi}
}

func noise(s bench.Summary) float64 {
	if s.Median == 0 {
		return 0
	}
	return math.Abs(s.MAD / s.Median * 100)
}

// judged reports whether the verdict compared two numbers, or what they are of.
func (v Verdict) judged() bool { return v.Evidence.Method.compares() }

// exact demands that every value equals the reference.
func exact(old, new *bench.Sample) Verdict {
	o, n := old.Summarize(), new.Summarize()
	v := Verdict{Finding: Unchanged, Old: o.Median, New: n.Median,
		Evidence: Evidence{Method: MethodExact, OldN: o.N, NewN: n.N}}
	values := new.Values
	if len(values) == 0 {
		values = []float64{n.Median}
	}
	for _, x := range values {
		if x != o.Median {
			v.Finding, v.New = Incorrect, x
			v.Reason = fmt.Sprintf("must equal %v, is %v", o.Median, x)
		}
	}
	return v
}
