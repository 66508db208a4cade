package browser_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/reference/history"
)

const (
	runs  = 200
	label = "lab"
)

// world is a folder with a configuration of 100 cells a model, a baseline, a history of 200 runs, and a run in which one
// cell in a hundred is 40 % slower, and one crashed.
func world(t *testing.T, models int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	past := history.File{Keep: runs}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range runs {
		if _, err := past.Add(run(rng, models, fmt.Sprintf("%040x", i+1), started.Add(time.Duration(i)*time.Hour), false)); err != nil {
			t.Fatal(err)
		}
	}
	folder := filepath.Join(dir, "baselines", "history")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := past.Save(history.Path(folder, label)); err != nil {
		t.Fatal(err)
	}
	recorded(t, dir, rng, models)
	return dir
}

var started = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// recorded writes the configuration, the baseline and the run.
func recorded(t *testing.T, dir string, rng *rand.Rand, models int) {
	t.Helper()
	write(t, filepath.Join(dir, "accelgate.yaml"), []byte(configuration(models)))
	save := func(name string, r *bench.Run) {
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name), data)
	}
	save("base.json", run(rng, models, fmt.Sprintf("%040x", runs), started.Add(runs*time.Hour), false))
	save("run.json", run(rng, models, strings.Repeat("f", 40), started.Add((runs+1)*time.Hour), true))
	accelgate(t, dir, 0, "baseline", "update", "--from", "base.json", "--reason", "first")
}

func configuration(models int) string {
	ids := func(prefix string, n int) string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf("%s%02d", prefix, i)
		}
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf(`version: 1
host: {label: lab}
suites:
  - name: s
    kind: models
    command: ["true", "{model}", "{backend}", "{feature}"]
    models: [%s]
    backends: [%s]
    features: [%s]
    metrics: [{name: decode_tps, json: decode_tps, unit: tok/s, better: higher}]
    operators: operators
`, ids("m", models), ids("b", 10), ids("f", 10))
}

func run(rng *rand.Rand, models int, revision string, started time.Time, head bool) *bench.Run {
	r := &bench.Run{Schema: bench.RunSchema, Tool: "accelgate", Revision: revision, Started: started,
		Host:    bench.Host{Label: label, Fingerprint: bench.Fingerprint{OS: "linux", Arch: "amd64", CPU: "EPYC", Cores: 8}},
		Metrics: []bench.Metric{{Name: "decode_tps", Unit: "tok/s", Better: bench.Higher}}}
	for i := range 100 * models {
		cell := bench.Cell{Suite: "s", Params: []bench.Param{{Key: "model", Value: fmt.Sprintf("m%02d", i/100)},
			{Key: "backend", Value: fmt.Sprintf("b%02d", i/10%10)}, {Key: "feature", Value: fmt.Sprintf("f%02d", i%10)}, {Key: "baseline", Value: "baseline"}}}
		level, extra := 100.0, 0.0
		if head && i%100 == 7 {
			level, extra = 60, 2
		}
		result := bench.Result{Cell: cell, Outcome: bench.Passed, Command: []string{"true", "m", "b", "f"}, Output: "an answer",
			Samples:    []bench.Sample{{Metric: "decode_tps", Values: []float64{level * (1 + 0.02*rng.NormFloat64()), level * (1 + 0.02*rng.NormFloat64()), level * (1 + 0.02*rng.NormFloat64())}}},
			Breakdowns: []bench.Breakdown{{Title: "operators", Unit: "ms", Entries: []bench.Entry{{Name: "matmul", Total: 3 + extra, Calls: 3}, {Name: "add", Total: 1, Calls: 2}}}}}
		if head && i == 21 {
			result = bench.Result{Cell: cell, Outcome: bench.Failed, Cause: bench.CauseCrash, Reason: "killed by signal 11", Log: "loading\nfatal: no kernel image\n", Command: []string{"true"}}
		}
		r.Results = append(r.Results, result)
	}
	return r
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// accelgate runs the program that `make` built, and returns what it prints.
func accelgate(t *testing.T, dir string, code int, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(filepath.Join(os.Getenv("ACCELGATE_TEST_BIN"), "accelgate"), args...)
	cmd.Dir = dir
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != code {
		t.Fatalf("accelgate %s: %v, want exit code %d\n%s", strings.Join(args, " "), err, code, stderr.String())
	}
	return out
}
