package load

import (
	"math"
	"runtime"
	"runtime/metrics"
	"testing"
	"time"
)

func TestWatchSeesWorkAndPauses(t *testing.T) {
	now := clock()
	stop := Watch(t.Context(), now)
	runtime.GC()
	for start := cpuTime(); cpuTime()-start < 0.05; { // busy for 50 ms of processor time
		runtime.GC()
	}
	h := stop()
	if runtime.GOOS == "linux" && !(h.CPUShare > 0) {
		t.Errorf("CPU share is %v after work", h.CPUShare)
	}
	if h.GCPauseMax <= 0 || h.GCPauseMax > time.Hour {
		t.Errorf("longest pause is %v after a collection", h.GCPauseMax)
	}
}

func TestHealthIsUnknownWhereNothingSaysIt(t *testing.T) {
	t.Parallel()
	still := func() time.Duration { return 0 }
	if h := Watch(t.Context(), still)(); !math.IsNaN(h.CPUShare) {
		t.Errorf("CPU share is %v over no time", h.CPUShare)
	}
	if got := longest(nil, gcPauses()); got != -1 {
		t.Errorf("longest pause is %v without a histogram", got)
	}
}

func TestLongestPauseIsOfTheHighestBucketThatGrew(t *testing.T) {
	t.Parallel()
	inf := math.Inf(1)
	hist := func(counts ...uint64) *metrics.Float64Histogram {
		return &metrics.Float64Histogram{Counts: counts, Buckets: []float64{math.Inf(-1), 0, 0.001, 0.002, inf}}
	}
	for _, c := range []struct {
		after *metrics.Float64Histogram
		want  time.Duration
	}{{hist(0, 5, 7, 1), 0}, {hist(0, 6, 7, 1), time.Millisecond}, {hist(0, 6, 8, 1), 2 * time.Millisecond}, {hist(0, 5, 7, 2), 2 * time.Millisecond}} {
		if got := longest(hist(0, 5, 7, 1), c.after); got != c.want {
			t.Errorf("after %v: %v, want %v", c.after.Counts, got, c.want)
		}
	}
}
