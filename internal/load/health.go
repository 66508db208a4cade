package load

import (
	"math"
	"runtime"
	"runtime/metrics"
	"time"
)

// Health says how hard this process worked while it measured.
type Health struct {
	// CPUShare is the processor time of the whole process over the time that
	// its cores (GOMAXPROCS) had, from 0 to about 1. NaN where the system does
	// not say or no time passed.
	CPUShare float64
	// GCPauseMax is an upper bound of the longest time for which the garbage
	// collector stopped all goroutines, by the runtime's histogram, whose
	// buckets are some percent wide. 0 is none, -1 unknown.
	GCPauseMax time.Duration
}

// Watch starts observing this process and returns the function that tells what
// it saw since, at each call. It runs nothing meanwhile. now is a monotonic
// clock.
func Watch(now func() time.Duration) func() Health {
	wall, cpu, pauses := now(), cpuTime(), gcPauses()
	return func() Health {
		cores := time.Duration(runtime.GOMAXPROCS(0))
		return Health{CPUShare: portion(cpuTime()-cpu, cores*(now()-wall)), GCPauseMax: longest(pauses, gcPauses())}
	}
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
