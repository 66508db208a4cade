package inferencebench

import (
	"fmt"
	"math"
	"strings"
)

// shares are metrics from 0 to 1.
var shares = whole(`(?:.*_)?(?:ok|compliance|accept|acceptance|pass|exact_match|error|timeout|cached_token)_rate`)

// positive are metrics that are not negative.
var positive = whole(`.*_ms|.*_tok_per_s|req_per_s.*|goodput.*|joules_per_.*|cost_usd_.*|power_.*_w|energy_joules_total|duration_s|n_.*`)

// ImpossibleValue returns why the metric of a load generator with this name cannot
// have the value, or "".
func ImpossibleValue(name string, v float64) string {
	switch {
	case math.IsInf(v, 0):
		return fmt.Sprintf("%.80q is infinite", name)
	case shares.MatchString(name) && (v < 0 || v > 1):
		return fmt.Sprintf("%.80q is %v, and a share is 0 to 1", name, v)
	case positive.MatchString(name) && v < 0:
		return fmt.Sprintf("%.80q is %v, and it is not negative", name, v)
	}
	return ""
}

// impossibleOrder returns which percentile of one latency is above a higher one, or
// "". value returns a metric, NaN for one that is absent.
func impossibleOrder(value func(metric string) float64) string {
	for _, latency := range []string{"ttft", "ttft_sched", "ttfc", "tpot", "total", "e2e", "e2e_sched", "icl", "schedule_delay"} {
		last, at := 0.0, ""
		for _, p := range []string{"p50", "p95", "p99"} {
			name := latency + "_" + p + "_ms"
			v := value(name)
			if v < last {
				return fmt.Sprintf("%s is %v, below %s, which is %v", name, v, at, last)
			}
			if !math.IsNaN(v) {
				last, at = v, name
			}
		}
	}
	return ""
}

// Impossible returns which number of the envelope cannot be, or "".
func (e *Envelope) Impossible() string {
	values := make(map[string]float64, len(e.Metrics))
	for _, m := range e.Metrics {
		if m.Has {
			values[m.Name] = m.Value
			if why := ImpossibleValue(m.Name, m.Value); why != "" {
				return why
			}
		}
	}
	return impossibleOrder(func(name string) float64 {
		if v, has := values[name]; has {
			return v
		}
		return math.NaN()
	})
}

// Loaded reports whether the envelope holds numbers of requests under load,
// which mean nothing without the load, and whether it states the load.
func (e *Envelope) Loaded() (loaded, stated bool) {
	for _, m := range e.Metrics {
		loaded = loaded || strings.HasPrefix(m.Name, "ttft_") || strings.HasPrefix(m.Name, "tpot_") || strings.HasPrefix(m.Name, "total_p") ||
			strings.HasSuffix(m.Name, "_tok_per_s") ||
			strings.HasPrefix(m.Name, "req_per_s")
	}
	for _, name := range []string{"concurrency", "rate", "arrival"} {
		_, says := e.body.get("driver_options." + name)
		stated = stated || says
	}
	return loaded, stated
}
