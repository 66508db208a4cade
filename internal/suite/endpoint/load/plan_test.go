package load

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestPlansThatAreRefused(t *testing.T) {
	t.Parallel()
	ms := time.Millisecond
	for name, c := range map[string]struct {
		plan Plan
		want string
	}{
		"no mode":                    {Plan{}, "use closed, constant"},
		"unknown mode":               {Plan{Mode: "poisson"}, `"poisson": use`},
		"nothing to measure":         {Plan{Mode: Closed, Concurrency: 1}, "give a number of requests or a duration"},
		"no slots":                   {Plan{Mode: Closed, Requests: 1}, "concurrency is 0: give"},
		"too many slots":             {Plan{Mode: Closed, Requests: 1, Concurrency: maxConcurrency + 1}, "from 0 to 65536"},
		"negative requests":          {Plan{Mode: Closed, Requests: -1, Concurrency: 1}, "requests is -1"},
		"negative duration":          {Plan{Mode: Closed, Duration: -1, Concurrency: 1}, "duration is -1ns"},
		"endless duration":           {Plan{Mode: Closed, Duration: math.MaxInt64, Concurrency: 1}, "give a time from 0"},
		"durations beyond the limit": {Plan{Mode: Closed, Duration: maxSpan, Drain: maxSpan, Concurrency: 1}, "would last"},
		"closed with a rate":         {Plan{Mode: Closed, Requests: 1, Concurrency: 1, Rate: 1}, "closed has no rate: leave it out"},
		"closed with burstiness":     {Plan{Mode: Closed, Requests: 1, Concurrency: 1, Burstiness: 1}, "no burstiness"},
		"both ramps":                 {Plan{Mode: Closed, Requests: 1, Concurrency: 1, Ramp: ms, AutoRamp: true}, "leave one out"},
		"open with a ramp":           {Plan{Mode: Constant, Requests: 1, Rate: 1, AutoRamp: true}, "no ramp"},
		"open with a trace":          {Plan{Mode: Constant, Requests: 1, Rate: 1, Trace: []time.Duration{}}, "no trace"},
		"no rate":                    {Plan{Mode: Constant, Requests: 1}, "rate is 0: give"},
		"rate is not a number":       {Plan{Mode: Constant, Requests: 1, Rate: math.NaN()}, "rate is NaN: give"},
		"endless rate":               {Plan{Mode: Gamma, Requests: 1, Burstiness: 1, Rate: math.Inf(1)}, "rate is +Inf: give"},
		"no burstiness":              {Plan{Mode: Gamma, Requests: 1, Rate: 1}, "burstiness is 0: give"},
		"burstiness is not a number": {Plan{Mode: Gamma, Requests: 1, Rate: 1, Burstiness: math.NaN()}, "burstiness is NaN: give"},
		"no burst":                   {Plan{Mode: Burst, Requests: 1, Rate: 1}, "burst is 0: give"},
		"a burst that is cut":        {Plan{Mode: Burst, Requests: 10, Rate: 1, Burst: 4}, "measure 8"},
		"a burst that is not full":   {Plan{Mode: Burst, Requests: 3, Rate: 1, Burst: 4}, "measure 4"},
		"too many requests":          {Plan{Mode: Constant, Duration: time.Hour, Rate: 1e6}, "lower the rate"},
		"too slow":                   {Plan{Mode: Constant, Requests: 1000, Rate: 1e-6}, "raise the rate"},
		"a ramp without a duration":  {Plan{Mode: Constant, Requests: 1, Rate: 1, RateEnd: 2, Curve: Linear}, "needs a duration"},
		"a ramp that is cut":         {Plan{Mode: Constant, Requests: 1, Duration: 1, Rate: 1, RateEnd: 2, Curve: Linear}, "leave requests out"},
		"a ramp to nothing":          {Plan{Mode: Constant, Duration: 1, Rate: 1, RateEnd: -1, Curve: Linear}, "rate at the end is -1"},
		"a ramp to NaN":              {Plan{Mode: Constant, Duration: 1, Rate: 1, RateEnd: math.NaN(), Curve: Linear}, "rate at the end is NaN"},
		"a level ramp":               {Plan{Mode: Constant, Duration: 1, Rate: 1, RateEnd: 1, Curve: Linear}, "leave it out"},
		"an unknown curve":           {Plan{Mode: Constant, Duration: 1, Rate: 1, RateEnd: 2, Curve: "cubic"}, "use linear or exponential"},
		"a curve without an end":     {Plan{Mode: Constant, Duration: 1, Rate: 1, Curve: Linear}, "has no end"},
		"a ramp of a closed loop":    {Plan{Mode: Closed, Concurrency: 1, Duration: 1, RateEnd: 1, Curve: Linear}, "choose constant"},
		"a ramp that is too steep":   {Plan{Mode: Constant, Duration: time.Hour, Rate: 1, RateEnd: 1e6, Curve: Linear}, "lower the rate"},
		"an empty trace":             {Plan{Mode: Trace}, "the trace has 0 arrivals: give"},
		"an unsorted trace":          {Plan{Mode: Trace, Trace: []time.Duration{2, 1}}, "arrival 2 of the trace"},
		"a trace before 0":           {Plan{Mode: Trace, Trace: []time.Duration{-1}}, "sort the trace"},
		"an endless trace":           {Plan{Mode: Trace, Trace: []time.Duration{0, math.MaxInt64}}, "cut it to"},
		"a trace that is too short":  {Plan{Mode: Trace, Trace: []time.Duration{0, 1, 2}, Requests: 2, Warmup: WarmupRule{Requests: 2}}, "measure at most 1"},
		"a trace that is all warmup": {Plan{Mode: Trace, Trace: []time.Duration{0, 1, 2}, Warmup: WarmupRule{Requests: 3}}, "shorten the warm-up"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.plan.Schedule()
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}
