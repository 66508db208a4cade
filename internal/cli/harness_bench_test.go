package cli_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/runner"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/suite/models"
	"github.com/accelgate/accelgate/internal/worker"
)

// BenchmarkHarness compares a whole measured cell (command, environment,
// process group, capture, parsing, correctness, journal) with a bare fork and
// exec of the same child, in turns, by their medians. "ratio" is the whole
// cell over the bare child, "own/bare" is what the harness adds.
func BenchmarkHarness(b *testing.B) {
	program, err := exec.LookPath("echo")
	if err != nil {
		b.Skip("needs echo: ", err)
	}
	const answer = `{"tps": 1, "text": "blue"}`
	file, err := config.Parse("accelgate.yaml", []byte(`
version: 1
suites:
  - name: s
    kind: models
    command: [`+program+`, '{`+answer+`}']
    models: [{id: m}]
    backends: [{id: cpu}]
    features: [{id: f}]
    metrics: [{name: tps, json: tps, better: higher}]
    answer: {json: text}
    expect: [{contains: [blue]}]
`))
	if err != nil {
		b.Fatal(err)
	}
	s, err := models.Open(&file.Suites[0], suite.Env{Worker: &worker.Isolated{Environ: os.Environ()}})
	if err != nil {
		b.Fatal(err)
	}
	journal, err := runner.CreateJournal(filepath.Join(b.TempDir(), "journal.jsonl"))
	if err != nil {
		b.Fatal(err)
	}
	defer journal.Close()
	options := runner.Options{Journal: journal.Append, Progress: func(e runner.Event) { io.WriteString(io.Discard, e.Result.Reason) }}

	var bare, whole []time.Duration
	for b.Loop() {
		start := time.Now()
		cmd := exec.Command(program, answer)
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
		middle := time.Now()
		results, err := runner.Run(b.Context(), s, s.Cells(), options)
		if err != nil || results[0].Outcome != bench.Passed {
			b.Fatal(results, err)
		}
		bare, whole = append(bare, middle.Sub(start)), append(whole, time.Since(middle))
	}
	median := func(d []time.Duration) float64 {
		slices.Sort(d)
		return float64(d[len(d)/2].Nanoseconds())
	}
	b.ReportMetric(median(bare)/1e3, "bare-us")
	b.ReportMetric(median(whole)/1e3, "cell-us")
	b.ReportMetric(median(whole)/median(bare), "ratio")
	b.ReportMetric((median(whole)-median(bare))/median(bare), "own/bare")
}
