package gate

import (
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/text"
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
func tensorSharp(in *inputs, c cell) findings {
	id, ref, got := c.id, c.ref, c.got
	is := got.Outcome == bench.Passed
	was := ref != nil && ref.Outcome == bench.Passed
	switch {
	case got.Outcome == bench.Skipped:
		return found(Verdict{Cell: id, Finding: Skipped, Outcome: bench.Skipped, Reason: got.Reason})
	case ref == nil:
		return found(Verdict{Cell: id, Finding: Untracked, Reason: text.Reasons("the baseline does not have this cell", got.Reason)})
	case was && !is:
		return found(failure(c))
	case !was && is:
		return found(Verdict{Cell: id, Finding: Fixed, Reason: "failed in the baseline, passes now"})
	case !was && !is:
		v := failure(c)
		v.Delta, v.Excuse, v.Reason = 0, in.knownFailure(), text.Reasons("fails as in the baseline", got.Reason)
		return found(v)
	}
	return throughput(in, c)
}

// throughput judges decode if either side has it above 0, else prefill. The
// arithmetic is TensorSharp's to the last bit: no tolerance, and a change of
// exactly the threshold passes.
func throughput(in *inputs, c cell) findings {
	v, tracked := Verdict{Cell: c.id, Metric: prefill, Finding: Unchanged}, false
	if applies(c.ref, decode) || applies(c.got, decode) {
		v.Metric = decode
	}
	old, new := classic(c.ref, v.Metric), classic(c.got, v.Metric)
	v.Old, v.New = old.Median, new.Median
	switch {
	case in.unjudged != "":
		v.Finding, v.Reason = Untracked, "speed was not judged: "+in.unjudged
	case old.Median <= 0 && new.Median <= 0:
		v.Metric = "" // there is nothing to judge
		tracked = true
	case old.Median <= 0:
		v.Reason = "the baseline is 0, which TensorSharp finds nothing about"
	default:
		tracked = true
		v.Delta = (v.New - v.Old) / v.Old * 100
		v.Interval = [2]float64{v.Delta, v.Delta}
		v.Evidence = Evidence{
			Method: MethodThreshold,
			Limit:  in.policy.Threshold,
			OldN:   old.N,
			NewN:   new.N,
			Noise:  max(noise(old), noise(new)),
		}
		if s := c.got.Sample(v.Metric); s != nil {
			v.Interval = interval(&bench.Metric{Better: bench.Higher}, v.Old, s, v.Delta)
		}
		if v.Delta < -in.policy.Threshold {
			v.Finding = Regressed
			if new.N == 1 {
				v.Reason = single
			}
		}
	}
	return findings{verdicts: []Verdict{v}, tracked: tracked}
}

// classic is the metric's summary; all 0 where the result does not have it, as
// TensorSharp reads it.
func classic(r *bench.Result, metric string) bench.Summary {
	if s := r.Sample(metric); s != nil {
		return s.Summarize()
	}
	return bench.Summary{}
}

// gated reports whether the policy judges the metric at all.
func (p *Policy) gated(m *described) bool {
	if p.Compat == CompatTensorSharp {
		return m.Name == decode || m.Name == prefill
	}
	return !m.Informational
}

// tensorSharpOrder is the order of its findings; verdicts on the host come
// before them, and what it does not list after them.
var tensorSharpOrder = []Finding{OtherHost, Crashed, Incorrect, Regressed, Fixed, Untracked}

// inTensorSharpOrder sorts by finding, and by case id within one. What fails as in the
// baseline is none there.
func inTensorSharpOrder(verdicts []Verdict) []Verdict {
	place := func(v *Verdict) int {
		if v.Cell == "" {
			return 0 // verdicts on the host come first
		}
		if i := slices.Index(tensorSharpOrder, v.Finding); i >= 0 && v.Excused() != KnownFailure {
			return i
		}
		return len(tensorSharpOrder)
	}
	sorted := slices.Clone(verdicts)
	slices.SortStableFunc(sorted, func(a, b Verdict) int {
		if by := place(&a) - place(&b); by != 0 {
			return by
		}
		return strings.Compare(a.Cell, b.Cell)
	})
	return sorted
}
