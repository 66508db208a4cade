package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/cli"
)

// TestMutationsAreNamed judges 100 damaged copies of configuration, run and
// baseline: none may pass without a line that names the damage.
func TestMutationsAreNamed(t *testing.T) {
	dir := t.TempDir()
	config, from := filepath.Join(dir, "accelgate.yaml"), filepath.Join(dir, "run.json")
	write := func(path string, text []byte) {
		t.Helper()
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(config, []byte(mutatedConfig))
	run, err := json.Marshal(mutatedRun())
	if err != nil {
		t.Fatal(err)
	}
	write(from, run)
	var out, trouble bytes.Buffer
	c := cli.Command{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &trouble, Getenv: func(string) string { return "" },
		Now: func() time.Time { return time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC) }}
	code := c.Main(t.Context(), []string{"selftest", "--config", config, "--from", from})
	if code != 0 || !strings.Contains(out.String(), "proved      100 mutations") {
		t.Errorf("exit %d\n%s%s", code, out.String(), trouble.String())
	}
}

const mutatedConfig = `version: 1
suites:
  - name: s
    kind: models
    command: [engine, "{feature}"]
    models: [m]
    backends: [cpu]
    features: [a, b, c]
    metrics:
      - {name: tps, json: tps, unit: tok/s, better: higher}
      - {name: latency, json: latency, unit: ms, better: lower}
  - name: other
    kind: models
    command: [engine, "{feature}"]
    models: [m]
    backends: [cpu]
    features: [d]
    metrics:
      - {name: tps, json: tps, unit: tok/s, better: higher}
`

// mutatedRun has a rate and a time, of which one is not above the other.
func mutatedRun() *bench.Run {
	run := &bench.Run{
		Schema: bench.RunSchema, Tool: "accelgate", Revision: "0123abc", Started: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC),
		Host:    bench.Host{Label: "lab", Fingerprint: bench.Fingerprint{OS: "linux", Arch: "amd64", CPU: "EPYC", Cores: 8}},
		Metrics: []bench.Metric{{Name: "tps", Unit: "tok/s", Better: bench.Higher}, {Name: "latency", Unit: "ms", Better: bench.Lower}},
	}
	for i, feature := range []string{"a", "b", "c", "d"} {
		suite := "s"
		if feature == "d" {
			suite = "other"
		}
		r := bench.Result{Outcome: bench.Passed, Output: "blue", Cell: bench.Cell{Suite: suite, Params: []bench.Param{
			{Key: "model", Value: "m"}, {Key: "backend", Value: "cpu"}, {Key: "feature", Value: feature}, {Key: "sweep", Value: "baseline"}}}}
		tps, ms := 40+float64(i), 25-float64(i)
		r.Samples = []bench.Sample{{Metric: "tps", Values: []float64{tps, tps + 0.1, tps}}, {Metric: "latency", Values: []float64{ms, ms, ms + 0.1}}}
		run.Results = append(run.Results, r)
	}
	return run
}
