package kernels

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// python returns an interpreter itself, not a script that looks for one on every start.
func python(t *testing.T) string {
	t.Helper()
	path, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		testtier.Missing(t, "no evaluator was run: install python3")
	}
	return strings.TrimSpace(string(path))
}

// TestExternalEvaluator has a program of its own judge: it computes what is right
// from the inputs, and looks at all draws of samples.
func TestExternalEvaluator(t *testing.T) {
	if testtier.Race {
		t.Skip("other cells have the same goroutines")
	}
	t.Parallel()
	externalEvaluator(t, false)
}

// TestExternalEvaluatorThorough judges as many draws as there are without settings.
func TestExternalEvaluatorThorough(t *testing.T) {
	testtier.Thorough(t)
	t.Parallel()
	externalEvaluator(t, true)
}

func externalEvaluator(t *testing.T, thorough bool) {
	python := python(t)
	judge, err := filepath.Abs("testdata/judge.py")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, definition, workload, args, settings string
		outcome                                    bench.Outcome
		reason                                     string
		thorough                                   bool
	}{
		{"right", "gemm_n128_k256", "m1", "", "", bench.Passed, "", false},
		{"wrong", "gemm_n128_k256", "m1", ", --factor, '2'", "", bench.Incorrect, "INCORRECT_NUMERICAL", false},
		{"samples", "top_k_sampling_from_probs_v256", "batch4", ", --least, '5000'", "", bench.Passed, "", true},
		{"too few samples", "top_k_sampling_from_probs_v256", "batch4", ", --least, '5001'", "", bench.Incorrect, "5000 draws of 4 rows, want at least 5001 of 4", false},
		{"more samples", "top_k_sampling_from_probs_v256", "batch4", ", --least, '6000'",
			"op_type_config: {sampling: {extra: {sampling_validation_trials: 6000}}}\n", bench.Passed, "", false},
	} {
		if c.thorough != thorough {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := dataset(t)
			writeFile(t, filepath.Join(dir, "eval.yaml"), fmt.Sprintf("%sevaluators: {%q: {command: [%q, -S, %q%s]}}\n", c.settings, c.definition, python, judge, c.args))
			s := mustOpen(t, dir, quick+"dataset: .\nconfig: eval.yaml\nreference: go\ndefinitions: ["+c.definition+"]\nworkloads: ["+c.workload+"]\n")
			r, err := s.Measure(t.Context(), s.Plan().Cells[0], bench.Device{})
			if err != nil || r.Outcome != c.outcome || !strings.Contains(r.Reason, c.reason) {
				t.Errorf("%v %s: %s, want %s: %s\n%s", err, r.Outcome, r.Reason, c.outcome, c.reason, r.Log)
			}
			if left, _ := os.ReadDir(s.outputs); c.outcome == bench.Passed && r.Sample("max_absolute_error") == nil || hasPrefix(left, "verdict-") {
				t.Errorf("samples %v, files left %v", r.Samples, left)
			}
		})
	}
}

func hasPrefix(entries []os.DirEntry, prefix string) bool {
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) {
			return true
		}
	}
	return false
}
