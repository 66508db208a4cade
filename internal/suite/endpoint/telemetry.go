package endpoint

import (
	"context"
	"fmt"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite/endpoint/telemetry"
)

// serverMetrics are what the server reports of itself during a load.
var serverMetrics = []bench.Metric{
	{
		Name:          "server_queue_mean",
		Better:        bench.Lower,
		Informational: true,
		Explains:      1,
		Definition:    "requests that wait in the server, mean of the readings of its /metrics",
	},
	{
		Name:          "server_queue_max",
		Better:        bench.Lower,
		Informational: true,
		Definition:    "most requests that wait in the server, of its /metrics",
	},
	{
		Name:          "server_running_max",
		Better:        bench.Higher,
		Informational: true,
		Definition:    "most requests that the server works on at once, of its /metrics",
	},
	{
		Name:          "server_kv_use_max",
		Better:        bench.Lower,
		Informational: true,
		Explains:      0.05,
		Definition:    "largest share of the KV cache in use, of the server's /metrics",
	},
	{
		Name:          "server_preemptions",
		Better:        bench.Lower,
		Informational: true,
		Explains:      1,
		Definition:    "requests that the server preempted during the load, of its /metrics",
	},
	{
		Name:          "server_prefix_hit_rate",
		Better:        bench.Higher,
		Informational: true,
		Explains:      0.02,
		Definition:    "prompt tokens found in the prefix cache / tokens looked up during the load, of the server's /metrics",
	},
}

// readEvery is how often the server's page is read.
const readEvery = time.Second

// watchServer reads the server's page of metrics until the returned function
// ends it and sums up. A server without such a page is asked once.
func (m *measurement) watchServer(ctx context.Context) func() telemetry.Summary {
	ctx, stop := context.WithCancel(ctx)
	read := make(chan []telemetry.Snapshot, 1)
	go func() { read <- m.snapshots(ctx) }()
	return func() telemetry.Summary {
		stop()
		list := <-read
		return telemetry.Summarize(list)
	}
}

func (m *measurement) snapshots(ctx context.Context) (list []telemetry.Snapshot) {
	tick := time.NewTicker(readEvery)
	defer tick.Stop()
	for {
		page, err := m.client.Page(ctx, "/metrics")
		s, known := telemetry.Parse(page)
		if err != nil || !known {
			return list
		}
		list = append(list, s)
		select {
		case <-ctx.Done():
			return list
		case <-tick.C:
		}
	}
}

func telemetrySamples(s telemetry.Summary) (samples []bench.Sample) {
	for i, v := range []float64{s.QueueMean, s.QueueMax, s.RunningMax, s.KVUseMax, s.Preemptions, s.HitRate} {
		if bench.Finite(v) {
			samples = append(samples, bench.Sample{Metric: serverMetrics[i].Name, Values: []float64{v}})
		}
	}
	return samples
}

// addTelemetry adds what the server reported, and what of it explains the
// numbers.
func addTelemetry(r *bench.Result, s telemetry.Summary) {
	r.Samples = append(r.Samples, telemetrySamples(s)...)
	if s.QueueMean >= 1 {
		r.Warnings = append(r.Warnings,
			fmt.Sprintf("%.3g requests waited in the server's queue on average, and %.0f at most, so TTFT is mostly the queue: "+
				"send less at once to measure the engine", s.QueueMean, s.QueueMax))
	}
	if s.Preemptions > 0 {
		r.Warnings = append(r.Warnings,
			fmt.Sprintf("the server preempted %.0f requests for lack of KV cache (largest use %.0f %%), which are computed again: "+
				"give the cache more memory, or send less at once", s.Preemptions, 100*max(0, s.KVUseMax)))
	}
}
