package site_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/command/site"
	"github.com/accelgate/accelgate/internal/reference/history"
)

// newest is when the newest run of all histories here started.
var newest = time.Date(2026, 3, 20, 9, 0, 0, 0, time.UTC)

// record writes the history of a host: cells with two metrics of three values each, of which one cell in fifty lost a tenth
// ten runs ago.
func record(t testing.TB, dir, label string, cells, runs int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, uint64(len(label))))
	file := history.File{Keep: runs}
	for i := range runs {
		run := &bench.Run{Schema: bench.RunSchema, Revision: fmt.Sprintf("%040x", i+1), Started: newest.Add(-time.Duration(runs-1-i) * 6 * time.Hour), Host: bench.Host{Label: label},
			Metrics: []bench.Metric{{Name: "decode_tps", Unit: "tok/s", Better: bench.Higher}, {Name: "prefill_ms", Unit: "ms", Better: bench.Lower}}}
		for c := range cells {
			level := 100.0 + float64(c%17)
			if c%50 == 0 && i >= runs-10 {
				level *= 0.9
			}
			value := func() float64 { return level * (1 + 0.01*rng.NormFloat64()) }
			run.Results = append(run.Results, bench.Result{Cell: bench.Cell{Raw: fmt.Sprintf("model%d__cuda__f%03d__baseline", c/100, c)}, Outcome: bench.Passed, Samples: []bench.Sample{
				{Metric: "decode_tps", Values: []float64{value(), value(), value()}}, {Metric: "prefill_ms", Values: []float64{value(), value(), value()}}}})
		}
		if _, err := file.Add(run); err != nil {
			t.Fatal(err)
		}
	}
	if err := file.Save(history.Path(dir, label)); err != nil {
		t.Fatal(err)
	}
}

// BenchmarkSite builds the pages of 20 hosts with 200 runs of 700 cells each. The promise is 60 s on two processors and
// 500 MB. On Linux it reports the largest memory of the process, generating the histories included, which takes less.
//
//	go test ./internal/command/site -run '^$' -bench Site -benchtime 1x -cpu 2
func BenchmarkSite(b *testing.B) {
	dir := b.TempDir()
	for i := range 20 {
		record(b, dir, fmt.Sprintf("host-%02d", i), 700, 200)
	}
	runtime.GC()
	for b.Loop() {
		out := filepath.Join(b.TempDir(), "site")
		built, err := site.Build(b.Context(), []string{dir}, site.Options{Out: out, Now: newest, Title: "bench", Tool: "accelgate devel"})
		if err != nil || built.Cells != 14000 {
			b.Fatal(built, err)
		}
		b.ReportMetric(float64(built.Pages), "pages")
		b.ReportMetric(size(b, out)/1e6, "site-MB")
	}
	if status, err := os.ReadFile("/proc/self/status"); err == nil {
		var peak float64
		for line := range strings.Lines(string(status)) {
			if n, _ := fmt.Sscanf(line, "VmHWM: %f kB", &peak); n == 1 {
				b.ReportMetric(peak/1000, "peak-MB")
			}
		}
	}
}

// size is that of all files below a folder, in bytes.
func size(b *testing.B, dir string) (bytes float64) {
	err := filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			bytes += float64(info.Size())
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return bytes
}
