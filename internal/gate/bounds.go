package gate

import (
	"fmt"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/text"
)

// Bound is a smallest or largest median that passes, in the metric's unit.
type Bound struct {
	Value float64
	// Sure is the confidence, above 0 and below 1, with which the median is to be within the bound; 0 asks for the
	// median alone.
	Sure float64
}

// bounded judges the medians of a cell that passed by the bounds of the configuration, and adds the
// bounds to the verdicts on the metrics. No reference, noise or state of the host
// counts.
func bounded(in *inputs, c cell, verdicts []Verdict) []Verdict {
	if c.got.Outcome != bench.Passed {
		return verdicts
	}
	broken := map[string]bool{}
	for _, force := range []Force{Required, ByLevel, Advisory} {
		metrics := in.byForce[force][c.id]
		var names []string
		for metric, l := range metrics {
			if l.min != nil || l.max != nil || in.limitsResource(metric) {
				names = append(names, metric)
			}
		}
		slices.Sort(names)
		for _, metric := range names {
			l := metrics[metric]
			if broken[metric] {
				continue
			}
			min, max := l.tightest()
			for i := range verdicts {
				if v := &verdicts[i]; v.Metric == metric && force != Advisory {
					v.Evidence.Min, v.Evidence.Max = min, max
				}
			}
			if v, ok := l.judge(in.run, c, metric); ok && !(v.Finding == Missing && lacking(verdicts, metric)) {
				broken[metric] = true
				verdicts = append(verdicts, v)
			}
		}
	}
	return verdicts
}

// hasBounds reports whether a bound judges a number of the cell.
func (in *inputs) hasBounds(c cell) bool {
	return slices.ContainsFunc(c.got.Samples, func(s bench.Sample) bool {
		l := in.limits.of(c.id, s.Metric)
		return l.min != nil || l.max != nil
	})
}

// tightest returns the values of the bounds; nil where there is none.
func (l *limit) tightest() (min, max *float64) {
	for _, r := range l.min {
		if min == nil || r.Min.Value > *min {
			min = &r.Min.Value
		}
	}
	for _, r := range l.max {
		if max == nil || r.Max.Value < *max {
			max = &r.Max.Value
		}
	}
	return min, max
}

// limitsResource reports whether a metric is a resource: only its limits demand it.
func (in *inputs) limitsResource(metric string) bool {
	if m := in.run.Metric(metric); m != nil {
		return m.IsResource()
	}
	m := in.metric(metric)
	return m == nil && bench.Resource(metric) != nil || m != nil && m.IsResource()
}

func lacking(verdicts []Verdict, metric string) bool {
	return slices.ContainsFunc(verdicts, func(v Verdict) bool { return v.Metric == metric && v.Finding == Missing })
}

// judge is the verdict on a median beyond its bounds; ok is false where it is within
// them. A metric that some cells need not report may be absent.
func (l *limit) judge(run *bench.Run, c cell, metric string) (v Verdict, ok bool) {
	min, max := l.tightest()
	v = Verdict{Cell: c.id, Metric: metric, Finding: OutOfBounds, Evidence: Evidence{Method: MethodBound, Min: min, Max: max}}
	sample, m := c.got.Sample(metric), run.Metric(metric)
	if sample == nil {
		v.Finding, v.Evidence.Method = Missing, NoMethod
		v.Reason = "the configuration bounds " + text.Visible(metric, maxName) + " and the cell does not report it"
		if m != nil && m.IsResource() {
			v.Reason = "the configuration limits " + metric + " and it could not be measured here (" + m.Definition +
				"): remove the limit, or name the hosts that can in its when, as in when: {host: gpu-*}"
		}
		return v, m == nil || !m.Optional && m.FallbackFor == ""
	}
	s := sample.Summarize()
	v.New, v.Evidence.NewN, v.Evidence.Noise = s.Median, s.N, noise(s)
	for _, r := range slices.Concat(l.min, l.max) {
		if v.Reason = r.beyond(sample, s.Median, &v); v.Reason != "" {
			v.Force = r.Force
			if r.Force != ByLevel {
				v.Entry = r.Source
			}
			break
		}
	}
	if v.Reason == "" {
		return v, false
	}
	if sample.Caveat != "" && m != nil && m.IsResource() {
		v.Reason = text.Reasons(v.Reason, sample.Caveat)
	}
	return v, true
}

// beyond returns how a median is beyond a bound of the rule; "" if it is not. NaN is within no bounds.
func (l *Limit) beyond(s *bench.Sample, median float64, v *Verdict) string {
	if l.Min != nil {
		low, what, known := l.Min.end(s, median, -1)
		switch {
		case !known:
			v.Finding, v.Evidence.Method = Missing, NoMethod
			return what
		case !(low >= l.Min.Value):
			return fmt.Sprintf("%s is below the minimum %v", what, l.Min.Value)
		}
	}
	if l.Max != nil {
		high, what, known := l.Max.end(s, median, 1)
		switch {
		case !known:
			v.Finding, v.Evidence.Method = Missing, NoMethod
			return what
		case !(high <= l.Max.Value):
			return fmt.Sprintf("%s is above the maximum %v", what, l.Max.Value)
		}
	}
	return ""
}

// end is the median, or the end of its interval on one side, with its words; known is false if the bound asks for an
// interval and the program reports neither a number of trials nor a standard error.
func (b *Bound) end(s *bench.Sample, median float64, side int) (value float64, what string, known bool) {
	if b.Sure == 0 {
		return median, fmt.Sprint(median), true
	}
	low, high, how, ok := s.Interval(b.Sure)
	if !ok {
		return 0, "the bound needs an interval, and the program reports neither n nor a standard error: " +
			"name one with n or stderr in the metric, or remove \"at\" from the bound", false
	}
	value = high
	if side < 0 {
		value = low
	}
	return value, fmt.Sprintf("%.5g, the end of the %.4g %% interval (%s) of %v,", value, 100*b.Sure, how, median), true
}
