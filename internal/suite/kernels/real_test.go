//go:build unix

package kernels

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
	"github.com/accelgate/accelgate/internal/tensor"
	"github.com/accelgate/accelgate/internal/tensor/safetensors"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// torch returns a Python that has torch.
func torch(t *testing.T) string {
	t.Helper()
	for _, python := range []string{os.Getenv("ACCELGATE_TEST_PYTHON"), "python3", "/usr/bin/python3"} { // Debian's python3-torch is the last one's
		if python != "" && exec.Command(python, "-c", "import torch").Run() == nil {
			return python
		}
	}
	testtier.Missing(t, "real references were NOT run: no python3 has torch: install python3-torch")
	return ""
}

// realDefinition is one of the published dataset at a point that a CPU computes
// at once. Inputs that cannot be random are given.
type realDefinition struct {
	name string
	axes map[string]int
	ints map[string][]int64
	real map[string]float64
}

var realDefinitions = []realDefinition{
	{name: "rmsnorm_h128", axes: map[string]int{"batch_size": 4}},
	{name: "fused_add_rmsnorm_h2048", axes: map[string]int{"batch_size": 3}},
	{name: "gemm_n128_k2048", axes: map[string]int{"M": 4}},
	{name: "gqa_paged_decode_h5_kv1_d128_ps1", axes: map[string]int{"batch_size": 2, "num_pages": 16, "len_indptr": 3, "num_kv_indices": 7},
		ints: map[string][]int64{"kv_indptr": {0, 3, 7}, "kv_indices": {1, 5, 2, 15, 0, 9, 4}}, real: map[string]float64{"sm_scale": 0.088}},
	{name: "gqa_paged_decode_h32_kv8_d128_ps1", axes: map[string]int{"batch_size": 1, "num_pages": 63, "len_indptr": 2, "num_kv_indices": 4},
		ints: map[string][]int64{"kv_indptr": {0, 4}, "kv_indices": {62, 5, 2, 30}}, real: map[string]float64{"sm_scale": 0.088}},
	{name: "mla_paged_decode_h8_ckv512_kpe64_ps1", axes: map[string]int{"batch_size": 2, "num_pages": 8, "len_indptr": 3, "num_kv_indices": 5},
		ints: map[string][]int64{"kv_indptr": {0, 2, 5}, "kv_indices": {7, 0, 3, 1, 6}}, real: map[string]float64{"sm_scale": 0.1}},
	{name: "gdn_decode_qk4_v8_d128_k_last", axes: map[string]int{"batch_size": 2}, real: map[string]float64{"scale": 0.088}},
	{name: "rope_with_cos_sin_cache_neox_style_d128_rd64",
		axes: map[string]int{"num_tokens": 3, "num_qo_heads": 4, "num_kv_heads": 2, "max_seq_len": 32}, ints: map[string][]int64{"positions": {0, 31, 7}}},
}

// TestRealDefinitionsThorough measures references of the published dataset against
// themselves, in two processes of torch, and the Go worker's kernels where there
// are any.
func TestRealDefinitionsThorough(t *testing.T) {
	testtier.Thorough(t) // and not parallel: builds of other tests take the processors from one of two workers
	data := testtier.Data(t, "real definitions were NOT measured", "flashinfer/flashinfer-trace")
	python, dir := torch(t), t.TempDir()
	types := map[string]bool{}
	for _, r := range realDefinitions {
		types[r.write(t, filepath.Join(data, "flashinfer", "flashinfer-trace", "definitions"), dir)] = true
	}
	if len(realDefinitions) < 8 || len(types) < 6 {
		t.Errorf("%d definitions of %d types, want 8 of 6", len(realDefinitions), len(types))
	}
	s := mustOpen(t, dir, quick+"dataset: .\nreference: torch\ndevice: cpu\nsolutions: [reference, builtin]\npython: "+python)
	passed, budget := 0, 2 // cases that what else the host does may cost
	for _, cell := range s.Plan().Cells {
		result, err := s.Measure(t.Context(), cell, bench.Device{})
		if err == nil && result.Outcome != bench.Passed && budget > 0 {
			budget--
			t.Logf("%s: %s: %s; measured again, %d more may be", cell.ID(), result.Outcome, result.Reason, budget)
			result, err = s.Measure(t.Context(), cell, bench.Device{})
		}
		if err != nil {
			t.Fatal(err)
		}
		if result.Outcome != bench.Passed {
			t.Errorf("%s: %s: %s\n%s", cell.ID(), result.Outcome, result.Reason, result.Log)
		}
		passed++
	}
	if passed < len(realDefinitions)+5 {
		t.Errorf("%d cases were measured", passed)
	}
}

// write copies the definition into a dataset and gives it a workload. It returns
// the op type.
func (r realDefinition) write(t *testing.T, definitions, dir string) string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(definitions, "*", r.name+".json"))
	if err != nil || len(paths) != 1 {
		t.Fatalf("%s: %d files, %v", r.name, len(paths), err)
	}
	text, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	d, err := flashinfer.ParseDefinition(paths[0], text)
	if err != nil {
		t.Fatal(err)
	}
	w := flashinfer.Workload{UUID: "small", Axes: r.axes, Inputs: map[string]flashinfer.Input{}}
	for _, in := range d.Inputs {
		w.Inputs[in.Name] = r.input(t, dir, in)
	}
	writeDefinition(t, dir, d, w)
	return d.OpType
}

func (r realDefinition) input(t *testing.T, dir string, in flashinfer.Tensor) flashinfer.Input {
	t.Helper()
	if v, ok := r.real[in.Name]; ok {
		return flashinfer.Input{Type: flashinfer.Scalar, Value: v}
	}
	ints, ok := r.ints[in.Name]
	if !ok {
		return flashinfer.Input{Type: flashinfer.Random}
	}
	made := tensor.Tensor{DType: in.DType, Shape: []int{len(ints)}, Data: make([]byte, in.DType.Size(len(ints)))}
	made.SetInts(ints, 0)
	name := "blob/" + r.name + "_" + in.Name + ".safetensors"
	if err := safetensors.Write(filepath.Join(dir, name), []safetensors.Named{{Name: in.Name, Tensor: made}}); err != nil {
		t.Fatal(err)
	}
	return flashinfer.Input{Type: flashinfer.Safetensors, Path: "./" + name, TensorKey: in.Name}
}

// TestWithoutTorchThorough measures a solution on numpy arrays where Python has no torch.
func TestWithoutTorchThorough(t *testing.T) {
	testtier.Thorough(t)
	t.Parallel()
	python, dir := torch(t), dataset(t)
	blocked := t.TempDir()
	writeFile(t, filepath.Join(blocked, "torch.py"), "raise ImportError('not here')\n")
	wrapper := filepath.Join(blocked, "python")
	writeFile(t, wrapper, "#!/bin/sh\nPYTHONPATH="+blocked+" exec "+python+" \"$@\"\n")
	if err := os.Chmod(wrapper, 0o755); err != nil {
		t.Fatal(err)
	}
	d, err := flashinfer.ParseDefinition("d.json", []byte(`{"name": "gemm_n16_k32", "op_type": "gemm", "description": "A times B transposed.",
		"axes": {"M": {"type": "var"}, "N": {"type": "const", "value": 16}, "K": {"type": "const", "value": 32}},
		"inputs": {"A": {"shape": ["M", "K"], "dtype": "float32", "description": "a"}, "B": {"shape": ["N", "K"], "dtype": "float32", "description": "b"}},
		"outputs": {"C": {"shape": ["M", "N"], "dtype": "float32", "description": "c"}}, "reference": "def run(A, B):\n    return A @ B.T\n"}`))
	if err != nil {
		t.Fatal(err)
	}
	solution := &flashinfer.Solution{Name: "on_arrays", Definition: d.Name, Author: "me", Language: "python", EntryPoint: "main.py::run",
		TargetHardware: []string{"cpu"}, Sources: []flashinfer.Source{{Path: "main.py", Content: "def run(A, B):\n    return A @ B.T\n"}}}
	work := flashinfer.Workload{UUID: "w", Axes: map[string]int{"M": 4}, Inputs: map[string]flashinfer.Input{"A": {Type: flashinfer.Random}, "B": {Type: flashinfer.Random}}}
	writeDefinition(t, dir, d, work)
	writeSolution(t, dir, d, solution)
	s := mustOpen(t, dir, quick+"dataset: .\nreference: go\nsolutions: [on_arrays]\npython: "+wrapper)
	r, err := s.Measure(t.Context(), s.Plan().Cells[0], bench.Device{})
	if err != nil || r.Outcome != bench.Passed {
		t.Fatalf("%v %s: %s\n%s", err, r.Outcome, r.Reason, r.Log)
	}
}
