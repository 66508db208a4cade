package gate

import (
	"fmt"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/text"
)

// AnchorReference is the [Verdict.Reference] of verdicts by the level that
// a baseline's entry was pinned to, rather than by the level that moves with it.
const AnchorReference = "anchor"

// DefaultDrift is the change for the worse since its anchor, in percent, beyond
// which a metric has drifted if nothing else is configured.
const DefaultDrift = 10.0

// anchors judges a passed cell by its anchors, metric by metric: those of
// verdicts whose speed was judged and that are not regressed already. Losses
// that were each within the limit add up there.
func anchors(in *inputs, c cell, verdicts []Verdict) (drifts []Verdict) {
	if in.policy.Drift <= 0 || in.unjudged != "" { // anchors are of the machine of the baseline
		return nil
	}
	var since []Verdict
	for i := range verdicts {
		if v := &verdicts[i]; v.driftable() {
			if d, ok := anchored(in, c, v); ok {
				d.Cell, d.Metric, d.Reference = c.id, v.Metric, AnchorReference
				since = append(since, d)
			}
		}
	}
	for _, v := range confirm(in, since) {
		if v.Finding == Regressed && !v.Undecided() {
			drifts = append(drifts, withCaveat(&in.policy, drift(in, c, v)))
		}
	}
	return drifts
}

// driftable reports whether speed was judged, and not for the worse already. An
// exact number has no room to drift, and what did not change has not drifted now.
func (v *Verdict) driftable() bool {
	return (v.Finding != Regressed || v.Undecided()) && v.Evidence.Method.limited()
}

// anchored compares the metric of a verdict with its anchor by the rule of
// [threshold]; ok is false where there is none, or where that is what the verdict
// compared with.
func anchored(in *inputs, c cell, judged *Verdict) (v Verdict, ok bool) {
	m := in.metric(judged.Metric)
	old, now := c.ref.Sample(judged.Metric), c.got.Sample(judged.Metric)
	if m == nil || old == nil || now == nil || !(old.Anchor > 0) || !bench.Finite(old.Anchor) {
		return v, false
	}
	if fresh(old) && judged.Evidence.Method.medians() && !judged.Evidence.InPairs {
		return v, false // nothing has added up
	}
	pinned := bench.Sample{Metric: m.Name, Summary: &bench.Summary{Median: old.Anchor, N: 1}}
	return m.step.caveat(&m.Metric, threshold(&m.Metric, &pinned, now, in.policyOf(seriesKey{c.id, m.Name}).Drift)), true
}

// fresh reports whether the baseline has not moved since the anchor was pinned.
// Neither pairs nor earlier runs compare with it.
func fresh(old *bench.Sample) bool { return old.Anchor == old.Median() }

// drift makes of a loss since the anchor what it means: it blocks, unless the
// known noise of the cell may have made it.
func drift(in *inputs, c cell, v Verdict) Verdict {
	v.Finding = Drifted
	since, old := c.ref.Anchored, c.ref.Sample(v.Metric)
	if noise, ok := byChance(in.metric(v.Metric), old, c.got.Sample(v.Metric)); ok {
		v.undecide(ByRepeats, fmt.Sprintf("%.1f %% worse than its anchor%s, which its noise of %.2g %% can make: "+
			"measure it again with more --repeats", -v.Delta, pinnedOn(since), 100*noise))
		return v
	}
	if fresh(old) && knownNoise(old) == 0 {
		v.undecide(ByRepeats, fmt.Sprintf("%.1f %% worse than its anchor%s, which is its baseline: "+
			"many small losses, or the host on another day, whose noise is unknown: "+
			"look with accelgate history, or measure it with accelgate calibrate --write", -v.Delta, pinnedOn(since)))
		return v
	}
	v.Reason = fmt.Sprintf("many small losses have added up since its anchor%s: find them with accelgate history, "+
		"or accept them with accelgate baseline anchor", pinnedOn(since))
	return v
}

// byChance reports whether the noise of the cell can have made a loss since the
// anchor. What calibrating or earlier runs have shown of it must exclude that
// for certain; what the values of one run show is less than all of the noise, so
// it need only make a suspicion. Where nothing is known, the limit alone decides.
func byChance(m *described, old, now *bench.Sample) (noise float64, ok bool) {
	noise, certain := knownNoise(old), true
	if noise == 0 {
		noise, certain = max(observedNoise(old), observedNoise(now)), false
	}
	if noise == 0 || len(now.Values) == 0 {
		return 0, false
	}
	e := detect.Anchored([]float64{old.Anchor}, now.Values, detect.Options{
		HigherIsBetter: m.Better != bench.Lower,
		MinEffect:      -1, // how large it is, the limit has said
		Own:            noise,
	})
	return noise, e.Verdict != detect.Regressed && (certain || e.Verdict != detect.Suspect)
}

// knownNoise is the noise of one value: what calibrating has found, or what
// earlier runs show; 0 where neither is there.
func knownNoise(s *bench.Sample) float64 {
	if s.Summary != nil && s.Summary.Noise > 0 {
		return s.Summary.Noise
	}
	runs := make([]float64, len(s.History))
	for i, values := range s.History {
		runs[i] = stats.Median(values)
	}
	noise, _ := detect.Own(runs)
	return noise
}

// observedNoise is how much the values of one run differ; 0 where there are too
// few to tell.
func observedNoise(s *bench.Sample) float64 {
	const normal = 1.4826 // median absolute deviation to standard deviation
	if m := s.Summarize(); m.N >= 3 && m.Median > 0 {
		return normal * m.MAD / m.Median
	}
	return 0
}

func pinnedOn(at bench.Point) string {
	revision := text.Visible(at.Revision, shortRevision)
	switch {
	case at.At.IsZero() && revision == "":
		return ""
	case at.At.IsZero():
		return fmt.Sprintf(" (%s)", revision)
	case revision == "":
		return " of " + at.At.Format(time.DateOnly)
	}
	return fmt.Sprintf(" of %s (%s)", at.At.Format(time.DateOnly), revision)
}

const shortRevision = 12 // runes
