package gate

import (
	"fmt"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/text"
)

// ImprovementFail is the [Policy.Improvement] by which a certain gain fails.
const ImprovementFail = "fail"

// gains makes improvements fail that are certain, and that the committed baseline does not
// have: it is to be recorded again, or the gain could be lost later without an alarm. The
// numbers of cases are recorded in their files, which have rules of their own.
func gains(in *inputs, ev *testResults, verdicts []Verdict) []Verdict {
	if !in.failsGains() || !in.tool.Entries || in.unjudged != "" {
		return verdicts
	}
	certain := ev.gained()
	byID := make(map[string]cell, len(in.cells))
	for _, c := range in.cells {
		byID[c.id] = c
	}
	for i := range verdicts {
		v := &verdicts[i]
		number := seriesKey{v.Cell, v.Metric}
		if !in.failsGain(number) || v.Finding != Improved || v.Reference != "" && v.Reference != pairReference {
			continue
		}
		if in.policy.Method != MethodThreshold && !(certain[number] <= ev.share) {
			continue
		}
		limit := v.Evidence.Limit
		if e, weighed := ev.of[number]; !weighed || few(e.Cell) { // two sessions show it
			limit = in.policyOf(number).Threshold
		}
		if unhealthy(in, byID[v.Cell].got) == "" && in.fromZero(v) {
			v.Finding = Unrecorded
			v.Reason = text.Reasons(v.Reason, in.failsGainBy(number)+": update the baseline")
			continue
		}
		gain, ok := in.gainSinceBaseline(v)
		if !ok || gain <= limit+Tolerance || unhealthy(in, byID[v.Cell].got) != "" || in.host.fasterBy(gain) {
			continue
		}
		v.Finding = Unrecorded
		v.Reason = text.Reasons(v.Reason,
			fmt.Sprintf("better than the baseline by %.1f %%, and %s: update the baseline", gain, in.failsGainBy(number)))
	}
	return verdicts
}

// failsGains reports whether a gain of any number fails.
func (in *inputs) failsGains() bool {
	if in.policy.Improvement == ImprovementFail {
		return true
	}
	for id, metrics := range in.limits {
		for metric := range metrics {
			if in.failsGain(seriesKey{id, metric}) {
				return true
			}
		}
	}
	return false
}

// failsGain reports whether a gain of a number fails.
func (in *inputs) failsGain(n seriesKey) bool { return in.failsGainBy(n) != "" }

// failsGainBy returns what makes a gain of a number fail, "" if it does not.
func (in *inputs) failsGainBy(n seriesKey) string {
	if a := in.limits.of(n.cell, n.metric).allowed; a != nil && a.both {
		return "the limit is " + a.by.Text
	}
	if in.policy.Improvement == ImprovementFail {
		return "policy.improvement is fail"
	}
	return ""
}

// gainSinceBaseline is by how much a number is better than the committed baseline, in
// percent; ok is false where that has none.
func (in *inputs) gainSinceBaseline(v *Verdict) (percent float64, ok bool) {
	m, old := in.metric(v.Metric), in.recorded(v)
	if m == nil || old == nil {
		return 0, false
	}
	return m.Better.Gain(old.Median(), v.New)
}

// fromZero reports a change from 0 where the committed baseline is 0 as well.
func (in *inputs) fromZero(v *Verdict) bool {
	old := in.recorded(v)
	return v.Old == 0 && old != nil && old.Median() == 0
}

// recorded is the number of a verdict in the committed baseline; nil if that has none.
func (in *inputs) recorded(v *Verdict) *bench.Sample {
	if r := in.byID[v.Cell]; r != nil {
		return r.Sample(v.Metric)
	}
	return nil
}

// gained returns, for each number that can show a gain, the smallest rate of false alarms
// at which Holm's procedure over all numbers would: of pairs and of at least 3 runs
// against history by the score, and else of two sessions. Both get the same p, and a
// number has one of them.
func (ev *testResults) gained() map[seriesKey]float64 {
	var ps []float64
	var numbers []seriesKey
	for number, e := range ev.of {
		switch s, ok := ev.sides.of(number); {
		case e.Verdict == detect.Untested:
			continue
		case !few(e.Cell) && e.Verdict == detect.Improved:
			ps = append(ps, 1-e.P)
		case few(e.Cell) && ok:
			ps = append(ps, 1-s.P)
		default:
			ps = append(ps, 1)
		}
		numbers = append(numbers, number)
	}
	for number, i := range ev.sides.at {
		if _, ok := ev.of[number]; !ok {
			ps, numbers = append(ps, 1-ev.sides.found[i].P), append(numbers, number)
		}
	}
	q := make(map[seriesKey]float64, len(ps))
	for i, adjusted := range detect.AdjustHolm(ps) {
		q[numbers[i]] = adjusted
	}
	return q
}

// fasterBy reports whether the host may have made a gain: its calibration workload became
// faster since the baseline, by half of the gain or more.
func (s hostShift) fasterBy(gain float64) bool {
	return s.known && s.change < -s.limit && gain <= -2*s.change
}

// Recording returns the policy by which a run is judged that is to become the baseline: a
// gain is what it is recorded for, and no loss is advisory.
func (p Policy) Recording() Policy {
	rules := make([]Rule, 0, len(p.Rules))
	for _, r := range p.Rules {
		switch r := r.(type) {
		case *Advice:
			continue
		case *Limit:
			rules = append(rules, r.recording())
		default:
			rules = append(rules, r)
		}
	}
	p.Improvement, p.Rules, p.AdvisoryBy, p.recording = "", rules, nil, true
	return p
}

// recording is the rule without a limit of changes for the better.
func (l *Limit) recording() *Limit {
	if l.Change == nil || !l.Change.Both {
		return l
	}
	one, change := *l, *l.Change
	change.Both, one.Change = false, &change
	return &one
}
