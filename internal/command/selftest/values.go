package selftest

import (
	"maps"
	"math"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/text"
)

// different judges copies of the run in which a number that must be equal is not.
func (t *experiment) different() {
	t.blocks("another value", t.equal, func(_ number, v float64) float64 { return v + 1 + math.Abs(v) })
}

// outOfBounds judges copies of the run in which a number is beyond a bound of the
// configuration.
func (t *experiment) outOfBounds() {
	var numbers []number
	beyond := map[number]float64{}
	for i := range t.run.Results {
		r := &t.run.Results[i]
		limits := t.policy.Bounds(r.Cell, t.run.Host.Label)
		for _, metric := range slices.Sorted(maps.Keys(limits)) {
			n, l := number{r.Cell.ID(), metric}, limits[metric][0]
			switch {
			case r.Outcome != bench.Passed || r.Sample(metric) == nil:
				continue
			case l.Max != nil:
				beyond[n] = math.Floor(l.Max.Value) + 1
			case l.Min != nil:
				beyond[n] = math.Ceil(l.Min.Value) - 1
			default:
				continue
			}
			possible := bench.Result{Samples: []bench.Sample{{Metric: metric, Values: []float64{beyond[n]}}}}
			if t.run.Impossible(&possible) == "" { // nothing is below a minimum of 0
				numbers = append(numbers, n)
			}
		}
	}
	t.bounded = len(numbers)
	t.blocks("beyond its bounds", numbers, func(n number, _ float64) float64 { return beyond[n] })
}

// blocks judges copies of the run in which one of the numbers has another value, which
// must fail by its name.
func (t *experiment) blocks(what string, numbers []number, change func(number, float64) float64) {
	maximum := max(3, maxJudged/max(1, len(t.run.Results)))
	chosen := numbers[:min(len(numbers), maximum)]
	for _, n := range chosen {
		j, verdicts := t.judged(t.with(func(r *bench.Result, _ func(string) *bench.Metric) {
			if r.Cell.ID() == n.cell {
				r.Samples = changed(r.Samples, n.metric, func(v float64) float64 { return change(n, v) })
			}
		}), t.ref)
		named := slices.ContainsFunc(verdicts, func(v gate.Verdict) bool {
			return v.Cell == n.cell && v.Metric == n.metric && v.Blocks
		})
		if !named || j.Exit() != exit.GateFailed {
			t.fail("%s (%s %s) ends in exit %d: %s", what, text.OneLine(n.cell), text.OneLine(n.metric), j.Exit(), t.reasons(verdicts))
			return
		}
	}
	if len(chosen) > 0 {
		t.prove("%s: %s one at a time, each with its name, exit %d", what, text.Plural(len(chosen), "number"), exit.GateFailed)
	}
}

// changed returns the samples with other values of one metric.
func changed(samples []bench.Sample, metric string, value func(float64) float64) []bench.Sample {
	samples = slices.Clone(samples)
	for i := range samples {
		s := &samples[i]
		if s.Metric != metric {
			continue
		}
		s.Values, s.Estimates = slices.Clone(s.Values), nil
		for k := range s.Values {
			s.Values[k] = value(s.Values[k])
		}
		if s.Summary != nil {
			summary := *s.Summary
			summary.Median = value(summary.Median)
			s.Summary = &summary
		}
	}
	return samples
}

// evidence refuses a run in which nothing but a crash can fail: the speed, a value, or an answer.
func (t *experiment) evidence() {
	if len(t.gated) > 0 {
		return
	}
	why := "no cell passed: see 'accelgate run'"
	if len(t.unjudged) > 0 {
		why = t.unjudged[0] + ": " + t.allows("give its suite a metric that is gated")
	}
	switch passed := len(t.passed()); {
	case passed > 0 && (len(t.equal) > 0 || t.bounded > 0 || t.unchecked() < passed):
		t.unjudge("the speed of no cell is judged, so no slow-down can fail")
	default:
		t.fail("the speed of no cell is judged, so no slow-down can fail: %s", why)
	}
}
