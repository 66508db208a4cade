package kernels

import (
	"math"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/suite/kernels/evaluator"
	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
)

// metrics are those of a dataset's traces, and what else is known here.
func metrics() []bench.Metric {
	metrics := flashinfer.Metrics()
	shown := func(name, unit, definition string) bench.Metric {
		return bench.Metric{Name: name, Unit: unit, Better: bench.Lower, Informational: true, Definition: definition}
	}
	metrics = append(append(metrics, flashinfer.DeviceMetric()), flashinfer.SetupMetrics()...)
	return append(
		metrics,
		shown("latency_mad_ms", "ms", "median absolute deviation of single calls"),
		shown("max_absolute_error", "", "largest difference to the reference, over all outputs and input sets"),
		shown("max_relative_error", "", "largest relative difference to the reference"),
		bench.Metric{
			Name:          "matched_ratio",
			Better:        bench.Higher,
			Informational: true,
			Definition:    "lowest share of elements within the tolerance",
		},
		shown("tvd", "", "largest total variation distance of samples to the reference's distribution"),
	)
}

// samples are the numbers of a case: medians over all blocks of timed calls, by
// our own clock, and of calls on the device, by its worker.
func (o *outcome) samples() (samples []bench.Sample) {
	add := func(name string, value float64, e *bench.Estimate) {
		if !bench.Finite(value) {
			return
		}
		s := bench.Sample{Metric: name, Values: []float64{value}}
		if e != nil {
			s.Estimates = []bench.Estimate{*e}
		}
		samples = append(samples, s)
	}
	own, reference := milliseconds(o.measured.Solution.Values), milliseconds(o.measured.Reference.Values)
	if len(own) > 0 && o.status == evaluator.Passed {
		e := suite.MedianOfCalls(own)
		add("latency_ms", stats.Median(own), &e)
		add("latency_mad_ms", stats.MAD(flat(o.measured.Solution.NS)), nil)
	}
	if ms := flashinfer.OnDevice(onItself(o.measured.Solution.Device)); len(ms) > 0 && o.status == evaluator.Passed {
		e := suite.MedianOfCalls(ms)
		add("device_ms", stats.Median(ms), &e)
	}
	if s := o.setup(); s != nil {
		add("setup_ms", s.SetupMS, nil)
		add("e2e_ms", s.E2EMS, nil)
	}
	if len(own) > 0 && len(reference) > 0 && o.status == evaluator.Passed {
		e := suite.MedianOfCalls(reference)
		add("reference_latency_ms", stats.Median(reference), &e)
		if latency := stats.Median(own); latency > 0 {
			add("speedup_factor", stats.Median(reference)/latency, nil)
		}
	}
	if o.judged {
		add("max_absolute_error", float64(o.verdict.MaxAbsoluteError), nil)
		add("max_relative_error", float64(o.verdict.MaxRelativeError), nil)
		o.extras(add)
	}
	return samples
}

// setup is what the solution's setup took. Its first call, which may compile or tune,
// does not count if there are others. It is nil without a setup, and without a latency.
func (o *outcome) setup() *flashinfer.SetupTimes {
	own, ns := milliseconds(o.measured.Solution.Values), o.measured.Setup
	if len(own) == 0 || len(ns) == 0 || o.status != evaluator.Passed {
		return nil
	}
	s := &flashinfer.SetupTimes{SetupMS: stats.Median(milliseconds(ns[min(1, len(ns)-1):]))}
	s.E2EMS = s.SetupMS + stats.Median(own)
	for _, v := range ns {
		s.NS = append(s.NS, int64(v))
	}
	return s
}

func (o *outcome) extras(add func(string, float64, *bench.Estimate)) {
	ratio := math.Inf(1)
	for _, out := range o.verdict.Outputs {
		ratio = min(ratio, out.MatchedRatio)
	}
	add("matched_ratio", ratio, nil)
	if e := o.verdict.Extra; e != nil && e.TVD != nil {
		add("tvd", *e.TVD, nil)
	}
}

func milliseconds(ns []float64) (ms []float64) {
	for _, v := range ns {
		ms = append(ms, v/1e6)
	}
	return ms
}

// flat returns the times of all trials in milliseconds.
func flat(trials [][]int64) (ms []float64) {
	for _, trial := range trials {
		for _, ns := range trial {
			ms = append(ms, float64(ns)/1e6)
		}
	}
	return ms
}
