package load

import (
	"context"
	"math"
	"runtime"
	"runtime/metrics"
	"slices"
	"time"
)

// Health describes how hard this process worked while it measured.
type Health struct {
	// CPUShare is the processor time of the whole process over the time that
	// its cores (GOMAXPROCS) had, from 0 to about 1. NaN where the system does
	// not say or no time passed.
	CPUShare float64
	// GCPauseMax is an upper bound of the longest time for which the garbage
	// collector stopped all goroutines, by the runtime's histogram, whose
	// buckets are some percent wide. 0 is none, -1 unknown.
	GCPauseMax time.Duration
	// WakeDelayP99 is how late a goroutine was woken that asked for it fifty times
	// a second: what every stream waits for its processor. In a closed loop it is
	// what a schedule's delay is in an open one. -1 if it was woken too rarely to
	// tell.
	WakeDelayP99 time.Duration
	// WakeDelayP50 is the same in the middle, -1 if it was woken too rarely.
	WakeDelayP50 time.Duration
}

// Watch starts observing this process until ctx ends, and returns the function
// that ends it and tells what was seen. now is a monotonic clock.
func Watch(ctx context.Context, now func() time.Duration) func() Health {
	wall, cpu, pauses := now(), cpuTime(), gcPauses()
	ctx, stop := context.WithCancel(ctx)
	late := make(chan []time.Duration, 1)
	go func() { late <- wakeDelays(ctx, now) }()
	return func() Health {
		stop()
		cores := time.Duration(runtime.GOMAXPROCS(0))
		p50, p99 := percentiles(<-late)
		return Health{
			CPUShare:     portion(cpuTime()-cpu, cores*(now()-wall)),
			GCPauseMax:   longest(pauses, gcPauses()),
			WakeDelayP99: p99,
			WakeDelayP50: p50,
		}
	}
}

const (
	wakeEvery = 20 * time.Millisecond
	minWakes  = 25
)

// wakeDelays notes how late it is woken until ctx ends.
func wakeDelays(ctx context.Context, now func() time.Duration) (late []time.Duration) {
	w := waiter{now: now}
	defer w.stop()
	for due := now() + wakeEvery; w.until(ctx, due); due = max(due, now()) + wakeEvery {
		late = append(late, now()-due)
	}
	return late
}

func percentiles(delays []time.Duration) (p50, p99 time.Duration) {
	if len(delays) < minWakes {
		return -1, -1
	}
	slices.Sort(delays)
	return delays[len(delays)/2], delays[len(delays)*99/100]
}

func portion(used float64, available time.Duration) float64 {
	if available <= 0 {
		return math.NaN()
	}
	return used / available.Seconds()
}

// gcPauses returns the histogram of pauses so far, nil if this Go has none.
func gcPauses() *metrics.Float64Histogram {
	sample := []metrics.Sample{{Name: "/sched/pauses/total/gc:seconds"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindFloat64Histogram {
		return nil
	}
	return sample[0].Value.Float64Histogram()
}

// longest returns the upper end of the highest bucket that grew.
func longest(before, after *metrics.Float64Histogram) time.Duration {
	if before == nil || after == nil || len(before.Counts) != len(after.Counts) {
		return -1
	}
	for i := len(after.Counts) - 1; i >= 0; i-- {
		if after.Counts[i] > before.Counts[i] {
			bound := after.Buckets[i+1]
			if math.IsInf(bound, 1) {
				bound = after.Buckets[i] // the last bucket has no end: at least this
			}
			return time.Duration(bound * 1e9)
		}
	}
	return 0
}
