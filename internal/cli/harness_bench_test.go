package cli_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/cli"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/measure/runner"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/suite/models"
	"github.com/accelgate/accelgate/internal/worker"
)

// BenchmarkHarness compares a whole measured cell (command, environment,
// process group, capture, parsing, correctness, journal) with a bare fork and
// exec of the same child, alternately, by their medians. "ratio" is the whole
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
	journal, err := runner.CreateJournal(filepath.Join(b.TempDir(), "journal.jsonl"), []byte("key"))
	if err != nil {
		b.Fatal(err)
	}
	defer journal.Close()
	options := runner.Options{
		Journal: func(r bench.Result, round int) error {
			return journal.Append(runner.Entry{Key: "k", Round: round, Result: r})
		},
		Progress: func(e runner.Event) { io.WriteString(io.Discard, e.Result.Reason) },
	}

	var bare, whole []time.Duration
	for b.Loop() {
		start := time.Now()
		cmd := exec.Command(program, answer)
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
		middle := time.Now()
		results, _, err := runner.Run(b.Context(), s, s.Plan().Cells, options)
		if err != nil || results[0].Outcome != bench.Passed {
			b.Fatal(results, err)
		}
		bare, whole = append(bare, middle.Sub(start)), append(whole, time.Since(middle))
	}
	b.ReportMetric(median(bare)/1e3, "bare-us")
	b.ReportMetric(median(whole)/1e3, "cell-us")
	b.ReportMetric(median(whole)/median(bare), "ratio")
	b.ReportMetric((median(whole)-median(bare))/median(bare), "own/bare")
}

func median(d []time.Duration) float64 {
	slices.Sort(d)
	return float64(d[len(d)/2].Nanoseconds())
}

// matrix712 has as many cells as TensorSharp's for one model on Linux.
const matrix712 = `
version: 1
suites:
  - name: s
    kind: models
    command: [%s]
    models: [m]
    backends: [b1, b2, b3, b4, b5, b6, b7, b8]
    features: [%s]
    metrics: [{name: tps, %s: 'tps%s', better: higher}]
%s
`

// BenchmarkMatrix712 runs the whole command over 712 cells of a program that
// does nothing, once with a process for each cell and once with one for all,
// and compares with the bare processes and the bare round trips of the same
// programs. "own-us/cell" is what accelgate adds to each, its start included.
func BenchmarkMatrix712(b *testing.B) {
	program, err := exec.LookPath("echo")
	if err != nil {
		b.Skip("needs echo: ", err)
	}
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	var features []string
	for i := range 89 {
		features = append(features, fmt.Sprint("f", i))
	}
	list := strings.Join(features, ", ")
	b.Run("isolated", func(b *testing.B) {
		config := fmt.Sprintf(matrix712, program+`, "tps=1"`, list, "regexp", `=(\d+)`, "")
		compare(b, config, func() {
			if err := exec.Command(program, "tps=1").Run(); err != nil {
				b.Fatal(err)
			}
		})
	})
	b.Run("persistent", func(b *testing.B) {
		b.Setenv("ACCELGATE_BENCH_CHILD", "1")
		config := fmt.Sprintf(matrix712, self, list, "json", "", "    worker: {persistent: {}}\n")
		child := exec.Command(self)
		in, _ := child.StdinPipe()
		out, _ := child.StdoutPipe()
		if err := child.Start(); err != nil {
			b.Fatal(err)
		}
		defer func() { in.Close(); child.Wait() }()
		lines := bufio.NewReader(out)
		compare(b, config, func() {
			io.WriteString(in, `{"id":1,"method":"run","params":{}}`+"\n")
			if _, err := lines.ReadString('\n'); err != nil {
				b.Fatal(err)
			}
		})
	})
}

// compare runs accelgate over the configuration alternately with 712 bare steps.
func compare(b *testing.B, config string, bare func()) {
	dir := b.TempDir()
	path := filepath.Join(dir, "accelgate.yaml")
	if err := os.WriteFile(path, []byte(config), 0o644); err != nil {
		b.Fatal(err)
	}
	const cells = 712
	var own, floor []time.Duration
	for b.Loop() {
		start := time.Now()
		for range cells {
			bare()
		}
		middle := time.Now()
		c := cli.Command{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Now: time.Now,
			Getenv: func(name string) string {
				return map[string]string{"ACCELGATE_HOST_LABEL": "desk", "ACCELGATE_HEALTH": "off"}[name]
			}}
		if code := c.Main(b.Context(), []string{"run", "--config", path, "--revision", "r"}); code != 0 {
			b.Fatalf("exit code %d", code)
		}
		floor, own = append(floor, middle.Sub(start)), append(own, time.Since(middle))
	}
	b.ReportMetric(median(floor)/1e3/cells, "bare-us/cell")
	b.ReportMetric((median(own)-median(floor))/1e3/cells, "own-us/cell")
}

// benchChild answers every request at once; see BenchmarkMatrix712.
func benchChild() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var request struct {
			ID     int    `json:"id"`
			Method string `json:"method"`
		}
		if json.Unmarshal(lines.Bytes(), &request) != nil || request.Method == "shutdown" {
			return
		}
		fmt.Printf("{\"id\":%d,\"result\":{\"tps\":1}}\n", request.ID)
	}
}
