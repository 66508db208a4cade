package report_test

import (
	"fmt"
	"io"
	"runtime"
	"runtime/metrics"
	"sync"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/report"
)

// BenchmarkCompareAndRender does what a command does between measuring and
// exit. peak-MB is the largest heap seen during an iteration, garbage not yet
// collected and both runs included.
func BenchmarkCompareAndRender(b *testing.B) {
	for _, cells := range []int{10_000, 100_000} {
		b.Run(fmt.Sprint(cells), func(b *testing.B) {
			h, policy := host(cells), gate.DefaultPolicy()
			runtime.GC()
			stop := watchHeap()
			b.ReportAllocs()
			for b.Loop() {
				h.Comparison = gate.Compare("linux-cpu", h.Reference, h.Run, policy)
				decision := gate.Decide([]gate.Comparison{h.Comparison}, policy)
				r := report.New(report.Input{Tool: "accelgate", Policy: policy, Decision: decision, Hosts: []report.HostInput{h}})
				for _, f := range []report.Renderer{report.Markdown, report.Terminal, report.JSON} {
					if err := f(io.Discard, r); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(stop())/1e6, "peak-MB")
			b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/op")
		})
	}
}

// watchHeap samples the heap each millisecond until the function it returns is
// called, which tells the highest sample in bytes.
func watchHeap() (peak func() uint64) {
	var highest uint64
	var wg sync.WaitGroup
	done := make(chan struct{})
	wg.Go(func() {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			metrics.Read(sample)
			highest = max(highest, sample[0].Value.Uint64())
			select {
			case <-done:
				return
			case <-tick.C:
			}
		}
	})
	return func() uint64 {
		close(done)
		wg.Wait()
		return highest
	}
}
