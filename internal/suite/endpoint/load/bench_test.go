package load

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// BenchmarkDispatch is what one request costs besides its own work: an
// operation is a request that returns at once, sent in batches of 100000. The
// open loops are due every microsecond.
func BenchmarkDispatch(b *testing.B) {
	const batch = 100_000
	for name, p := range map[string]Plan{
		"closed":     {Mode: Closed, Concurrency: 16, Requests: batch, Drain: 4 * time.Second},
		"open":       {Mode: Constant, Rate: maxRate, Requests: batch, Drain: 4 * time.Second},
		"open/cap=4": {Mode: Constant, Rate: maxRate, Requests: batch, Concurrency: 4, Drain: 4 * time.Second},
	} {
		b.Run(name, func(b *testing.B) {
			s := lay(b, p)
			var n atomic.Int64
			b.ReportAllocs()
			b.ResetTimer()
			for done := 0; done < b.N; done += batch {
				if log, err := Run(b.Context(), s, clock(), func(context.Context, Shot) { n.Add(1) }); err != nil || log.Measure.Sent != batch {
					b.Fatal(err, log)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n.Load()), "ns/request")
		})
	}
}

// BenchmarkScheduleDelay sends 1000 requests per second and reports how late,
// beside a loop over time.Sleep to the same absolute times.
func BenchmarkScheduleDelay(b *testing.B) {
	const n, rate = 2000, 1000
	b.Run("run", func(b *testing.B) {
		delays, now, stop := make([]time.Duration, n), clock(), Watch(b.Context(), clock())
		for b.Loop() {
			s := lay(b, Plan{Mode: Constant, Rate: rate, Requests: n})
			if _, err := Run(b.Context(), s, now, func(_ context.Context, shot Shot) {
				if shot.Phase == Measure {
					delays[shot.Index] = now() - shot.Due
				}
			}); err != nil {
				b.Fatal(err)
			}
		}
		report(b, delays, stop())
	})
	b.Run("time.Sleep", func(b *testing.B) {
		delays, now, stop := make([]time.Duration, n), clock(), Watch(b.Context(), clock())
		for b.Loop() {
			start := now()
			for i := range delays {
				due := start + time.Duration(i)*time.Second/rate
				time.Sleep(due - now())
				delays[i] = now() - due
			}
		}
		report(b, delays, stop())
	})
}

func report(b *testing.B, delays []time.Duration, h Health) {
	slices.Sort(delays)
	b.ReportMetric(float64(delays[len(delays)/2].Microseconds()), "p50-us")
	b.ReportMetric(float64(delays[len(delays)*99/100].Microseconds()), "p99-us")
	b.ReportMetric(h.CPUShare, "cpu-share")
}
