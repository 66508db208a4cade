package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
)

const threeSuites = `version: 1
suites:
  - {name: k, kind: kernels}
  - {name: a, kind: analysis, level: fail, packing: {scenarios: [compare/1_small]}}
  - {name: e, kind: endpoint, gate: [tpot_p50_ms, joules_per_token], load: {concurrency: [1], requests: 4}}
`

// TestThreeSuitesPassThoughOneIsNeverCompared: the numbers of a doubtful endpoint never
// got into the baseline, the run passed all the same, and its headline said that no
// answer was checked.
func TestThreeSuitesPassThoughOneIsNeverCompared(t *testing.T) {
	t.Parallel()
	run := reporting()
	run.Results = slices.Clone(run.Results[2:5])
	kernel, analysis, endpoint := &run.Results[0], &run.Results[1], &run.Results[2]
	kernel.Checked, analysis.Checked, endpoint.Caveat = bench.CheckedOutput, bench.CheckedAnalysis, "the client was slower than the server"
	run.Results = append(run.Results, *kernel)
	run.Results[3].Cell.Raw += "b"
	dir := t.TempDir()
	config, from := filepath.Join(dir, "accelgate.yaml"), filepath.Join(dir, "run.json")
	write := func() {
		t.Helper()
		data, err := json.Marshal(run)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(from, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(config, []byte(threeSuites), 0o644); err != nil {
		t.Fatal(err)
	}
	write()
	if code, out := accelgate("baseline", "update", "--config", config, "--from", from, "--reason", "first"); code != 0 || !strings.Contains(out, "doubtful") {
		t.Fatalf("baseline update: exit %d\n%s", code, out)
	}
	code, out := accelgate("report", from, "--config", config, "--require-baseline")
	if code != 1 || !strings.Contains(out, "ACTION REQUIRED") || !strings.Contains(out, "no number of suite e was compared") {
		t.Errorf("one suite was not compared: exit %d\n%s", code, out)
	}
	endpoint = &run.Results[2]
	endpoint.Caveat = ""
	write()
	if code, out := accelgate("baseline", "update", "--config", config, "--from", from, "--reason", "second"); code != 0 {
		t.Fatalf("baseline update: exit %d\n%s", code, out)
	}
	code, out = accelgate("report", from, "--config", config, "--require-baseline")
	headline, _, _ := strings.Cut(out, "\n")
	for _, want := range []string{"PASS", "2 kernel outputs and 1 analysis were checked", "16 numbers compared"} {
		if code != 0 || !strings.Contains(headline, want) {
			t.Errorf("exit %d, want %q in the headline\n%s", code, want, out)
		}
	}
}
