package compat

import "github.com/accelgate/accelgate/internal/bench"

// The metrics that TensorSharp judges.
const (
	decode  = "decode_tps"
	prefill = "prefill_tps"
)

// tensorSharp has the rules of TensorSharp.TestMatrix (its comparison at commit 98ca79be). A cell that it does not know
// never blocks, vanished cells are not looked for, and gains are not shown.
var tensorSharp = Rules{
	AnyHost: true,
	RawIDs:  true,
	Judge:   judgeTensorSharp,
	Metrics: []string{decode, prefill},
	Order:   []string{"other_host", "crashed", "incorrect", "regressed", "fixed", "untracked"},
	Totals:  Totals{Groups: true, Written: true},
}

// Class is what a tool finds of a cell or of its total.
type Class int

// The classes.
const (
	Unchanged   Class = iota
	Skipped           // not measured
	Unknown           // the reference does not have the cell
	Failed            // passed in the reference, does not pass now
	StillFails        // passes on neither side
	Fixed             // did not pass in the reference, passes now
	NoSpeed           // passes on both sides, which have no speed
	NoReference       // the reference's speed is 0
	Regressed         // slower by more than the threshold
	TooFast           // faster by more than the tolerance, which fails as well
)

// Judgement is what a tool finds of a cell.
type Judgement struct {
	Class
	// Metric is the one that was judged; "" where outcomes alone were. Old and New are its summaries, which are zero
	// where a side does not have it.
	Metric   string
	Old, New bench.Summary
	Percent  float64 // change, negative for slower; 0 without a reference
	Reason   string  // of the tool; "" for none
}

// judgeTensorSharp is rule by rule what the original does.
func judgeTensorSharp(ref, got *bench.Result, threshold float64) Judgement {
	is := got.Outcome == bench.Passed
	was := ref != nil && ref.Outcome == bench.Passed
	switch {
	case got.Outcome == bench.Skipped:
		return Judgement{Class: Skipped}
	case ref == nil:
		return Judgement{Class: Unknown}
	case was && !is:
		return Judgement{Class: Failed}
	case !was && is:
		return Judgement{Class: Fixed}
	case !was:
		return Judgement{Class: StillFails}
	}
	return throughput(ref, got, threshold)
}

// throughput judges decode if either side has it above 0, else prefill. The
// arithmetic is TensorSharp's to the last bit: no tolerance, and a change of
// exactly the threshold passes.
func throughput(ref, got *bench.Result, threshold float64) Judgement {
	j := Judgement{Metric: prefill}
	if Applies(ref, decode) || Applies(got, decode) {
		j.Metric = decode
	}
	j.Old, j.New = summary(ref, j.Metric), summary(got, j.Metric)
	switch old, now := j.Old.Median, j.New.Median; {
	case old <= 0 && now <= 0:
		j.Class = NoSpeed
	case old <= 0:
		j.Class, j.Reason = NoReference, "the baseline is 0, which TensorSharp finds nothing about"
	default:
		j.Percent = (now - old) / old * 100
		if j.Percent < -threshold {
			j.Class = Regressed
		}
	}
	return j
}

// Applies reports whether the result has the metric above 0, which is how TensorSharp's programs say that it applies.
func Applies(r *bench.Result, metric string) bool {
	s := r.Sample(metric)
	return s != nil && s.Median() > 0
}

// summary is all 0 where the result does not have the metric, as TensorSharp reads it.
func summary(r *bench.Result, metric string) bench.Summary {
	if s := r.Sample(metric); s != nil {
		return s.Summarize()
	}
	return bench.Summary{}
}
