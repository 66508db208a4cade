package worker_test

import (
	"slices"
	"testing"
	"time"
)

// BenchmarkContainer shows what Do costs above the engine's own command that
// runs the same image and removes the container. The two take turns, so that
// noise on the host hits both alike; "ratio" is that of the medians.
func BenchmarkContainer(b *testing.B) {
	e := newEngine(b)
	w, req := e.worker(b), e.request(b, "exit", "0")
	req.Timeout = time.Minute
	bare := func() {
		if out, err := e.command("run", "--rm", "--network=none", "--entrypoint=/cell", e.image, "exit", "0").CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
	}
	contained := func() {
		if got, err := w.Do(b.Context(), req); err != nil || !got.OK() {
			b.Fatal(got.Reason(), err)
		}
	}
	bare()
	contained() // finds the engine
	var times [2][]time.Duration
	for b.Loop() {
		for i, run := range []func(){bare, contained} {
			start := time.Now()
			run()
			times[i] = append(times[i], time.Since(start))
		}
	}
	var medians [2]float64
	for i := range times {
		slices.Sort(times[i])
		medians[i] = float64(times[i][len(times[i])/2].Microseconds()) / 1000
	}
	b.ReportMetric(medians[0], "bare-ms")
	b.ReportMetric(medians[1], "container-ms")
	b.ReportMetric(medians[1]/medians[0], "ratio")
}
