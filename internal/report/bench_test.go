package report_test

import (
	"bufio"
	"fmt"
	"io"
	"runtime"
	"runtime/metrics"
	"sync"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/gate/compat"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/suite/cases"
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

// BenchmarkRenderChecks renders 2,000 checks of 200 operators, one in ten of
// which warns. "lines" prints as many lines as MSModelingTest does with
// fmt.Fprintf alone, for comparison.
func BenchmarkRenderChecks(b *testing.B) {
	h := host(1)
	h.Comparison = gate.Comparison{Checks: caseChecks(2000, 200), Measured: 2000, Passed: 2000}
	for _, c := range h.Comparison.Checks {
		v := judgedCell(c.Cell, gate.Unchanged)
		v.Metric, v.Reference = c.Metric, "baseline"
		if c.Status != compat.CheckPass {
			v.Finding, v.Blocks = gate.Regressed, true
		}
		h.Comparison.Verdicts = append(h.Comparison.Verdicts, v)
	}
	policy := gate.DefaultPolicy()
	in := report.Input{Policy: policy, Decision: gate.Decide([]gate.Comparison{h.Comparison}, policy), Hosts: []report.HostInput{h}}
	b.Run("New", func(b *testing.B) {
		for b.Loop() {
			report.New(in)
		}
	})
	r := report.New(in)
	for _, f := range []struct {
		name string
		report.Renderer
	}{
		{"Markdown", report.Markdown}, {"Terminal", report.Terminal}, {"CasesMarkdown", cases.Markdown}, {"JSON", report.JSON},
		{"MSModelingTest", cases.PrintTest}, {"MSModelingCheck", cases.PrintCheck}, {"Anomalies", cases.Anomalies},
	} {
		b.Run(f.name, func(b *testing.B) {
			for b.Loop() {
				if err := f.Renderer(io.Discard, r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("lines", func(b *testing.B) {
		for b.Loop() {
			w := bufio.NewWriter(io.Discard)
			for range 2000 + 2000*20 {
				fmt.Fprintf(w, "%-32s %-44s %10.3fms  %10.3fms  %+10.2f%%  %6d/%d  %10s\n", "model-00001-decode", "tensor_cast.operator_000.default", 12.3, 14.76, 20.0, 92, 91, "WARN")
			}
			w.Flush()
		}
	})
}
