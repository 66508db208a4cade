//go:build unix

package kernels

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite/kernels/evaluator"
	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
	"github.com/accelgate/accelgate/internal/suite/kernels/harness"
	"github.com/accelgate/accelgate/internal/tensor"
	"github.com/accelgate/accelgate/internal/tensor/safetensors"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// inPython is a solution of gqa_paged_decode_h8_kv2_d64_ps16 for arrays of numpy and for tensors of torch, in
// destination-passing style. plan finds the tokens of each sequence.
const inPython = `import numpy as np


def plan(kv_indptr, kv_indices, kv_last_page_len):
    begin, pages, last = (np.asarray(x).tolist() for x in (kv_indptr, kv_indices, kv_last_page_len))
    return [[p * 16 + t for p in pages[a:b] for t in range(16)][: (b - a - 1) * 16 + n] for a, b, n in zip(begin, begin[1:], last)]


def numbers(x):
    return np.asarray(x.float() if hasattr(x, "float") else x)


def attend(q, k_cache, v_cache, sm_scale, output, lse, tokens):
    queries, keys, values = numbers(q), numbers(k_cache).reshape(-1, 2, 64), numbers(v_cache).reshape(-1, 2, 64)
    for row, chosen in enumerate(tokens):
        for head in range(8):
            logits = keys[chosen, head // 4] @ queries[row, head] * sm_scale
            weights = np.exp(logits - logits.max())
            put(output, (row, head), weights @ values[chosen, head // 4] / weights.sum())
            put(lse, (row, head), (np.log(weights.sum()) + logits.max()) / np.log(2))


def put(x, at, value):
    if hasattr(x, "new_tensor"):
        value = x.new_tensor(value)
    x[at] = value
`

const (
	planning = inPython + `

def setup(kv_indptr, kv_indices, kv_last_page_len):
    return {"tokens": plan(kv_indptr, kv_indices, kv_last_page_len)}


def run(q, k_cache, v_cache, kv_indptr, kv_indices, kv_last_page_len, sm_scale, output, lse, *, tokens):
    attend(q, k_cache, v_cache, sm_scale, output, lse, tokens)
`
	atOnce = inPython + `

def run(q, k_cache, v_cache, kv_indptr, kv_indices, kv_last_page_len, sm_scale, output, lse):
    attend(q, k_cache, v_cache, sm_scale, output, lse, plan(kv_indptr, kv_indices, kv_last_page_len))
`
)

// numpy returns a Python that has it, torch or not.
func numpy(t *testing.T) string {
	t.Helper()
	for _, python := range []string{os.Getenv("ACCELGATE_TEST_PYTHON"), "python3", "/usr/bin/python3"} {
		if python != "" && exec.Command(python, "-c", "import numpy").Run() == nil {
			return python
		}
	}
	testtier.Missing(t, "solutions with a setup were NOT measured: no python3 has numpy: install python3-numpy")
	return ""
}

// TestSetup measures attention that plans in its setup, as FlashInfer's wrappers do, and the same without a setup.
func TestSetup(t *testing.T) {
	if testtier.Race {
		t.Skip("other cells have the same goroutines")
	}
	t.Parallel()
	python, dir := numpy(t), dataset(t)
	ds, err := flashinfer.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	d := ds.Definition("gqa_paged_decode_h8_kv2_d64_ps16")
	for name, text := range map[string]string{"planning": planning, "at_once": atOnce} {
		writeSolution(t, dir, d, &flashinfer.Solution{Name: name, Definition: d.Name, Author: "me", Language: "python", EntryPoint: "main.py::run",
			DestinationPassing: true, TargetHardware: []string{"cpu"}, Sources: []flashinfer.Source{{Path: "main.py", Content: text}}})
	}
	body := quick + "dataset: .\nreference: go\ndevice: cpu\ntraces: .\nworkloads: [batch1]\nsolutions: [planning, at_once]\npython: " + python + "\n"
	s := mustOpen(t, dir, body)
	for _, cell := range s.Plan().Cells {
		r, err := s.Measure(t.Context(), cell, bench.Device{})
		if err != nil || r.Outcome != bench.Passed {
			t.Fatalf("%s: %v %s %s\n%s", cell.ID(), err, r.Outcome, r.Reason, r.Log)
		}
		checkSetup(t, dir, r)
	}
	resumed := mustOpen(t, dir, body+"resume: true\n")
	for _, cell := range resumed.Plan().Cells {
		r, err := resumed.Measure(t.Context(), cell, bench.Device{})
		if err != nil || !isKept(r) {
			t.Fatalf("%s: %v, warnings %q", cell.ID(), err, r.Warnings)
		}
		checkSetup(t, dir, r)
	}
}

// checkSetup demands the times of a setup of the solution that has one, in the result and in the trace, and none of the other.
func checkSetup(t *testing.T, dir string, r bench.Result) {
	t.Helper()
	name := r.Cell.Get("solution")
	gate, alone, both := lastTrace(t, dir, name).Gate, r.Sample("setup_ms"), r.Sample("e2e_ms")
	if name == "at_once" {
		if alone != nil || both != nil || gate.Setup != nil {
			t.Errorf("without a setup: %v, %v, trace %+v", alone, both, gate.Setup)
		}
		if line := traceLine(t, dir, name); strings.Contains(line, "setup") {
			t.Errorf("a trace without a setup has one: %s", line)
		}
		return
	}
	if alone == nil || both == nil || gate.Setup == nil {
		t.Fatalf("%s: no times of setup: %v, %v, trace %+v", name, alone, both, gate.Setup)
	}
	latency, took, e2e := r.Sample("latency_ms").Values[0], alone.Values[0], both.Values[0]
	if took < 0 || e2e != took+latency || gate.Setup.SetupMS != took || gate.Setup.E2EMS != e2e || len(gate.Setup.NS) < 1 {
		t.Errorf("latency %v ms, setup %v ms, both %v ms, trace %+v", latency, took, e2e, gate.Setup)
	}
}

// traceLine is the last line of a solution's traces.
func traceLine(t *testing.T, dir, solution string) (last string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "traces", "me", "gqa_paged", "gqa_paged_decode_h8_kv2_d64_ps16.jsonl"))
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, `"solution":"`+solution+`"`) {
			last = line
		}
	}
	if err != nil || last == "" {
		t.Fatalf("no trace of %s: %v", solution, err)
	}
	return last
}

// TestSetupIsRefused where all inputs come from files. It is a failure of the solution, which no other attempt changes.
func TestSetupIsRefused(t *testing.T) {
	if testtier.Race {
		t.Skip("other cells have the same goroutines")
	}
	t.Parallel()
	python, dir := numpy(t), dataset(t)
	ds, err := flashinfer.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	d, inputs := ds.Definition("gemm_n128_k256"), map[string]flashinfer.Input{}
	var named []safetensors.Named
	for name, shape := range map[string][]int{"A": {1, 256}, "B": {128, 256}} {
		x := tensor.Tensor{DType: tensor.F16, Shape: shape, Data: make([]byte, 2*shape[0]*shape[1])}
		named, inputs[name] = append(named, safetensors.Named{Name: name, Tensor: x}), flashinfer.Input{Type: flashinfer.Safetensors, Path: "blob/ab.safetensors", TensorKey: name}
	}
	if err := safetensors.Write(filepath.Join(dir, "blob", "ab.safetensors"), named); err != nil {
		t.Fatal(err)
	}
	writeDefinition(t, dir, d, flashinfer.Workload{UUID: "files", Axes: map[string]int{"M": 1}, Inputs: inputs})
	writeSolution(t, dir, d, &flashinfer.Solution{Name: "early", Definition: d.Name, Author: "me", Language: "python", EntryPoint: "main.py::run", TargetHardware: []string{"cpu"},
		Sources: []flashinfer.Source{{Path: "main.py", Content: "def setup(A, B):\n    return {'C': A @ B.T}\n\n\ndef run(A, B, C):\n    return C + 0\n"}}})
	s := mustOpen(t, dir, quick+"dataset: .\nreference: go\ndevice: cpu\ntraces: .\nworkloads: [files]\nsolutions: [early]\npython: "+python+"\n")
	r, err := s.Measure(t.Context(), s.Plan().Cells[0], bench.Device{})
	const why = "setup was not called, because no input of the workload is random"
	if err != nil || r.Outcome != bench.Failed || r.Cause != "" || len(r.Samples) > 0 || !strings.Contains(r.Reason, why) {
		t.Errorf("%v, %s, cause %q, samples %v: %s", err, r.Outcome, r.Cause, r.Samples, r.Reason)
	}
	if e := lastTrace(t, dir, "early"); e.Status != flashinfer.RuntimeError || !strings.Contains(e.Log, why) || e.Gate.Setup != nil {
		t.Errorf("the trace has %s, %+v and the log %q", e.Status, e.Gate.Setup, e.Log)
	}
}

// TestFirstSetupDoesNotCount: it may compile. It counts where it is the only one.
func TestFirstSetupDoesNotCount(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ns         []float64
		setup, e2e float64
	}{{[]float64{900e6, 1e6, 3e6, 2e6}, 2, 7}, {[]float64{900e6}, 900, 905}} {
		o := outcome{status: evaluator.Passed, measured: harness.Measurement{Setup: c.ns, Solution: harness.Timing{Values: []float64{4e6, 5e6, 6e6}}}}
		if got := o.setup(); got == nil || got.SetupMS != c.setup || got.E2EMS != c.e2e || len(got.NS) != len(c.ns) || got.NS[0] != 900_000_000 {
			t.Errorf("%v: got %+v, want %v and %v ms", c.ns, got, c.setup, c.e2e)
		}
		if o.status = evaluator.Suspect; o.setup() != nil {
			t.Error("a suspect solution has times of its setup")
		}
	}
	if o := (outcome{status: evaluator.Passed, measured: harness.Measurement{Solution: harness.Timing{Values: []float64{4e6}}}}); o.setup() != nil {
		t.Error("a solution without a setup has times of one")
	}
}

// TestReferencesHaveNoSetup: their text may have a function of that name for another purpose.
func TestReferencesHaveNoSetup(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, dataset(t), quick+"dataset: .\ndefinitions: [gemm*]\nworkloads: [m1]\nsolutions: [reference, accelgate_*]\n")
	allowed := map[string]bool{}
	for _, p := range s.points {
		b, err := s.buildOf(&lane{}, p)
		if err != nil {
			t.Fatal(err)
		}
		allowed[p.solution.Name] = b.Setup
	}
	if want := map[string]bool{"reference": false, "accelgate_go_gemm_n128_k256": true}; !maps.Equal(allowed, want) {
		t.Errorf("which solutions may have a setup: %v, want %v", allowed, want)
	}
}
