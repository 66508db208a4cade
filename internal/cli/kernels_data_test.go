package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/cli"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/suite/kernels/evaluator"
	"github.com/accelgate/accelgate/internal/tensor"
	"github.com/accelgate/accelgate/internal/tensor/safetensors"
)

// kernels runs a command below "accelgate kernels".
func kernels(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	c := cli.Command{Stdin: &bytes.Buffer{}, Stdout: &out, Stderr: &err, Getenv: func(string) string { return "" }, Now: time.Now}
	code = c.Main(t.Context(), append([]string{"kernels"}, args...))
	return code, out.String(), err.String()
}

// goldenStats are what flashinfer-bench's own code said of an output.
type goldenStats struct {
	Atol                 float64          `json:"atol"`
	Rtol                 float64          `json:"rtol"`
	RequiredMatchedRatio float64          `json:"required_matched_ratio"`
	MaxAbsoluteError     evaluator.Number `json:"max_absolute_error"`
	MaxRelativeError     evaluator.Number `json:"max_relative_error"`
	MatchedRatio         float64          `json:"matched_ratio"`
	ExceedsTol           bool             `json:"exceeds_tol"`
}

func (s goldenStats) flags() []string {
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	flags := []string{"--json", "--rtol", number(s.Rtol), "--atol", number(s.Atol)}
	if s.RequiredMatchedRatio > 0 {
		flags = append(flags, "--required-matched-ratio", number(s.RequiredMatchedRatio))
	}
	return flags
}

// judgedOutputs is what the command prints.
type judgedOutputs struct {
	Status  evaluator.Status `json:"status"`
	Outputs []struct {
		Name             string           `json:"name"`
		MaxAbsoluteError evaluator.Number `json:"max_absolute_error"`
		MaxRelativeError evaluator.Number `json:"max_relative_error"`
		MatchedRatio     float64          `json:"matched_ratio"`
		WorstIndex       []int            `json:"worst_index"`
	} `json:"outputs"`
}

// judgeFiles runs "kernels evaluate" and demands that the code is the status's.
func judgeFiles(t *testing.T, args ...string) (v judgedOutputs) {
	t.Helper()
	code, stdout, stderr := kernels(t, append([]string{"evaluate"}, args...)...)
	if err := json.Unmarshal([]byte(stdout), &v); err != nil {
		t.Fatalf("exit code %d, %q: %v: %s", code, stdout, err, stderr)
	}
	if passed := v.Status == evaluator.Passed; passed != (code == exit.Passed) || !passed && code != exit.GateFailed {
		t.Errorf("exit code %d for %s", code, v.Status)
	}
	return v
}

func readGolden(t *testing.T, path string) (all map[string]json.RawMessage) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestEvaluateGolden judges saved outputs. Mode fib must give flashinfer-bench's
// numbers; strict must find the same largest absolute error, at the place that
// it names, and accept no element that fib does not.
func TestEvaluateGolden(t *testing.T) {
	t.Parallel()
	data := filepath.Join(testData(t), "flashinfer")
	judged := 0
	for name, text := range readGolden(t, filepath.Join(data, "golden", "expected.json")) {
		if name[0] == '_' {
			continue
		}
		var c struct {
			Outputs map[string]map[string]goldenStats `json:"outputs"`
		}
		definitions, err := filepath.Glob(filepath.Join(data, "flashinfer-trace", "definitions", "*", name+".json"))
		if err := json.Unmarshal(text, &c); err != nil || len(c.Outputs) != 1 {
			t.Fatalf("%s: %d outputs, %v", name, len(c.Outputs), err)
		}
		if err != nil || len(definitions) != 1 {
			t.Fatalf("%s: definitions %q, %v", name, definitions, err)
		}
		files := []string{"--definition", definitions[0], "--reference", filepath.Join(data, "golden", name, "reference.safetensors"),
			"--candidate", filepath.Join(data, "golden", name, "candidate.safetensors")}
		for output, tolerances := range c.Outputs {
			for _, want := range tolerances {
				fib := judgeFiles(t, slices.Concat(files, want.flags(), []string{"--mode", "fib"})...)
				checkGolden(t, name, fib, output, want)
				strict := judgeFiles(t, slices.Concat(files, want.flags())...)
				if o := strict.Outputs[0]; o.MaxAbsoluteError != want.MaxAbsoluteError || len(o.WorstIndex) != 2 {
					t.Errorf("%s, strict: %+v, want %+v", name, o, want)
				}
				judged++
			}
		}
	}
	if judged < 6 {
		t.Errorf("%d comparisons, want at least 6", judged)
	}
}

func same(a, b evaluator.Number) bool { return a == b || a != a && b != b }

func checkGolden(t *testing.T, name string, got judgedOutputs, output string, want goldenStats) {
	t.Helper()
	if len(got.Outputs) != 1 || got.Outputs[0].Name != output {
		t.Fatalf("%s: %+v, want the output %s", name, got, output)
	}
	o := got.Outputs[0]
	if !same(o.MaxAbsoluteError, want.MaxAbsoluteError) || !same(o.MaxRelativeError, want.MaxRelativeError) || o.MatchedRatio != want.MatchedRatio {
		t.Errorf("%s: %+v, want %+v", name, o, want)
	}
	if failed := got.Status == evaluator.IncorrectNumerical; failed != want.ExceedsTol {
		t.Errorf("%s: %s, want exceeds_tol %v", name, got.Status, want.ExceedsTol)
	}
}

const scalarDefinition = `{"name": "one", "op_type": "test", "axes": {"n": {"type": "var"}}, "inputs": {"x": {"shape": ["n"], "dtype": "float32"}},
 "outputs": {"y": {"shape": ["n"], "dtype": "float32"}}, "reference": "def run(x):\n    return x\n"}`

// TestEvaluateNonFinite judges pairs with NaN and infinities: fib as upstream
// does, strict by what they are.
func TestEvaluateNonFinite(t *testing.T) {
	t.Parallel()
	var cases []struct {
		Output    evaluator.Number `json:"output"`
		Reference evaluator.Number `json:"reference"`
		Stats     goldenStats      `json:"compute_error_stats"`
		Status    evaluator.Status `json:"upstream_default_status"`
	}
	all := readGolden(t, filepath.Join(testData(t), "flashinfer", "golden", "expected.json"))
	if err := json.Unmarshal(all["_nonfinite_cases"], &cases); err != nil || len(cases) < 9 {
		t.Fatal(len(cases), err)
	}
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(path("d.json"), []byte(scalarDefinition), 0o644); err != nil {
		t.Fatal(err)
	}
	save := func(name string, v evaluator.Number) {
		x := tensor.Tensor{DType: tensor.Float32, Shape: []int{1}, Data: make([]byte, 4)}
		x.SetFloats64([]float64{float64(v)}, 0)
		if err := safetensors.Write(path(name), []safetensors.Named{{Name: "y", Tensor: x}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range cases {
		save("r.safetensors", c.Reference)
		save("c.safetensors", c.Output)
		files := append([]string{"--definition", path("d.json"), "--reference", path("r.safetensors"), "--candidate", path("c.safetensors")}, c.Stats.flags()...)
		fib := judgeFiles(t, append(files, "--mode", "fib")...)
		if o := fib.Outputs[0]; fib.Status != c.Status || !same(o.MaxAbsoluteError, c.Stats.MaxAbsoluteError) || o.MatchedRatio != c.Stats.MatchedRatio {
			t.Errorf("%v for %v: %+v, want %s and %+v", c.Output, c.Reference, fib, c.Status, c.Stats)
		}
		want := evaluator.IncorrectNumerical
		if d := c.Output - c.Reference; same(c.Output, c.Reference) || d < 0.01 && d > -0.01 {
			want = evaluator.Passed
		}
		if strict := judgeFiles(t, files...); strict.Status != want {
			t.Errorf("strict: %v for %v: %s, want %s", c.Output, c.Reference, strict.Status, want)
		}
	}
}

// TestLintOfTheDataset finds the four definitions whose references take their
// inputs in another order.
func TestLintOfTheDataset(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(testData(t), "flashinfer", "flashinfer-trace")
	code, stdout, stderr := kernels(t, "lint", "--strict", dir)
	if code != exit.GateFailed {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	var found []string
	for line := range strings.Lines(stdout) {
		if strings.HasSuffix(line, " [run-order]\n") {
			path, rest, _ := strings.Cut(line, ".json:")
			found = append(found, filepath.Base(path))
			if !strings.Contains(rest, `: error: run takes "routing_bias" as its parameter 2`) {
				t.Error(line)
			}
		}
	}
	slices.Sort(found)
	if want := []string{
		"trtllm_fp4_block_scale_moe_topk1_e128_h5120_i8192", "trtllm_fp4_block_scale_moe_topk1_e16_h5120_i8192",
		"trtllm_fp8_per_tensor_scale_moe_topk1_e128_h5120_i8192", "trtllm_fp8_per_tensor_scale_moe_topk1_e16_h5120_i8192",
	}; !slices.Equal(found, want) {
		t.Errorf("run-order is found in %q, want %q", found, want)
	}
	if !strings.Contains(stdout, ": 156 definitions, 2 solutions, 663 workloads, 78 traces: ") {
		t.Error("the summary is not that of the dataset:", stdout[max(len(stdout)-300, 0):])
	}
}
