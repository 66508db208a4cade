package endpoint

import (
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite/endpoint/load"
)

// clientMetrics describe the load generator, which must not be what is
// measured.
var clientMetrics = []bench.Metric{
	{Name: "client_cpu_share", Better: bench.Lower, Informational: true,
		Definition: "processor time of the load generator / what its processors had, over the whole load"},
	{Name: "client_wake_delay_p99_ms", Unit: "ms", Better: bench.Lower, Informational: true,
		Definition: "how late the load generator was woken, one time in a hundred"},
	{Name: "client_wake_delay_p50_ms", Unit: "ms", Better: bench.Lower, Informational: true,
		Definition: "how late the load generator was woken, every second time"},
	{Name: "client_gc_pause_max_ms", Unit: "ms", Better: bench.Lower, Informational: true,
		Definition: "longest stop of the load generator by its garbage collector"},
}

func clientSamples(h load.Health) (samples []bench.Sample) {
	if bench.Finite(h.CPUShare) {
		samples = append(samples, bench.Sample{Metric: "client_cpu_share", Values: []float64{h.CPUShare}})
	}
	if h.WakeDelayP99 >= 0 {
		samples = append(samples,
			bench.Sample{Metric: "client_wake_delay_p99_ms", Values: []float64{float64(h.WakeDelayP99) / float64(time.Millisecond)}})
	}
	if h.WakeDelayP50 >= 0 {
		samples = append(samples,
			bench.Sample{Metric: "client_wake_delay_p50_ms", Values: []float64{float64(h.WakeDelayP50) / float64(time.Millisecond)}})
	}
	if h.GCPauseMax >= 0 {
		samples = append(samples,
			bench.Sample{Metric: "client_gc_pause_max_ms", Values: []float64{float64(h.GCPauseMax) / float64(time.Millisecond)}})
	}
	return samples
}
