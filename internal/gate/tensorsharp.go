package gate

import (
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
)

// The metrics that TensorSharp judges.
const (
	decode  = "decode_tps"
	prefill = "prefill_tps"
)

// tensorSharp judges a cell as TensorSharp.TestMatrix does, rule by rule (its
// comparison at commit 98ca79be). Three of its five classes have other names
// here: throughput regression is Regressed, improvement is Fixed, and what it
// finds nothing about is Unchanged. A cell that it does not know never blocks,
// vanished cells are not looked for, and speed-ups are not told.
func (c *comparer) tensorSharp(id string, ref, got *bench.Result) {
	is := got.Outcome == bench.Passed
	was := ref != nil && ref.Outcome == bench.Passed
	switch {
	case got.Outcome == bench.Skipped:
		c.add(Verdict{Cell: id, Class: Skipped, Level: Off, Reason: got.Reason})
	case ref == nil:
		c.add(Verdict{Cell: id, Class: Untracked, Level: Warn, Reason: joined("the baseline does not have this cell", got.Reason)})
	case was && !is:
		v := Verdict{Cell: id, Class: RuntimeFailure, Level: Fail, Delta: -100, Reason: got.Reason}
		if got.Outcome == bench.Incorrect {
			v.Class = CorrectnessFailure
		}
		c.add(v)
	case !was && is:
		c.add(Verdict{Cell: id, Class: Fixed, Level: Off, Reason: "failed in the baseline, passes now"})
	case !was && !is:
		c.add(Verdict{Cell: id, Class: Unchanged, Level: Warn, Reason: joined("fails as in the baseline", got.Reason)})
	default:
		c.throughput(id, ref, got)
	}
}

// throughput judges decode if either side has it above 0, else prefill. The
// arithmetic is TensorSharp's to the last bit: no tolerance, and a change of
// exactly the threshold passes.
func (c *comparer) throughput(id string, ref, got *bench.Result) {
	v := Verdict{Cell: id, Metric: prefill, Class: Unchanged, Level: Off}
	if applies(ref, decode) || applies(got, decode) {
		v.Metric = decode
	}
	old, new := classic(ref, v.Metric), classic(got, v.Metric)
	v.Old, v.New = old.Median, new.Median
	switch {
	case c.out.Unjudged != "":
		v.Class, v.Reason = Inconclusive, "speed was not judged: "+c.out.Unjudged
	case old.Median <= 0 && new.Median <= 0:
		v.Metric = "" // there is nothing to judge
		c.tracked++
	case old.Median <= 0:
		v.Reason = "the baseline is 0, which TensorSharp finds nothing about"
	default:
		c.tracked++
		v.Delta = (v.New - v.Old) / v.Old * 100
		v.Interval = [2]float64{v.Delta, v.Delta}
		v.Evidence = Evidence{Method: "threshold", Limit: c.policy.Threshold, OldN: old.N, NewN: new.N, Noise: max(noise(old), noise(new))}
		if s := got.Sample(v.Metric); s != nil {
			v.Interval = interval(&bench.Metric{Better: bench.Higher}, v.Old, s, v.Delta)
		}
		if v.Delta < -c.policy.Threshold {
			v.Class, v.Level = Regressed, Fail
			if new.N == 1 {
				v.Reason = single
			}
		}
	}
	c.add(v)
}

// classic is the metric's summary; all 0 where the result does not have it, as
// TensorSharp reads it.
func classic(r *bench.Result, metric string) bench.Summary {
	if s := r.Sample(metric); s != nil {
		return summarize(s)
	}
	return bench.Summary{}
}

// gated reports whether the policy judges the metric at all.
func (c *comparer) gated(m *described) bool {
	if c.policy.Compat == CompatTensorSharp {
		return m.Name == decode || m.Name == prefill
	}
	return !m.Informational
}

// tensorSharpOrder is the order of its findings; verdicts on the host come
// before them, and what it does not list after them.
var tensorSharpOrder = []Class{Mismatch, RuntimeFailure, CorrectnessFailure, Regressed, Fixed, Untracked}

// order sorts by class, and by case id within one.
func (c *comparer) order() {
	place := func(class Class) int {
		if i := slices.Index(tensorSharpOrder, class); i >= 0 {
			return i
		}
		return len(tensorSharpOrder)
	}
	slices.SortStableFunc(c.out.Verdicts, func(a, b Verdict) int {
		if by := place(a.Class) - place(b.Class); by != 0 {
			return by
		}
		return strings.Compare(a.Cell, b.Cell)
	})
}
