//go:build unix

package kernels

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
	"github.com/accelgate/accelgate/internal/suite/kernels/harness/workers"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

const multiplyAdd = `{"name": "multiply_add", "op_type": "elementwise", "description": "x times w plus x.",
	"axes": {"N": {"type": "var"}}, "inputs": {"x": {"shape": ["N"], "dtype": "float32"}, "w": {"shape": ["N"], "dtype": "float32"}},
	"outputs": {"y": {"shape": ["N"], "dtype": "float32"}}, "reference": "def run(x, w):\n    return x * w + x\n"}`

// Sources that compute it. The first is what documentation of torch shows and takes half a minute to compile.
const (
	inTorch = `#include <torch/extension.h>
#include "add.h"
void run(torch::Tensor x, torch::Tensor w, torch::Tensor y) {
    TORCH_CHECK(x.is_contiguous() && w.is_contiguous() && y.is_contiguous(), "not contiguous");
    add(x.data_ptr<float>(), w.data_ptr<float>(), y.data_ptr<float>(), x.numel());
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
`
	inPybind = `#include <pybind11/pybind11.h>
#include "add.h"
namespace py = pybind11;
static float *data(const py::object &t) { return reinterpret_cast<float *>(t.attr("data_ptr")().cast<uintptr_t>()); }
static void run(py::object x, py::object w, py::object y) { add(data(x), data(w), data(y), x.attr("numel")().cast<int64_t>()); }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
`
	inTVM = `#include <cstdint>
#include "add.h"
struct Tensor { float *data; int32_t device[2]; int32_t ndim; uint8_t code, bits; uint16_t lanes; int64_t *shape, *strides; uint64_t offset; };
struct Any { int32_t index; uint32_t len; Tensor *tensor; };
extern "C" int __tvm_ffi_run(void *, const Any *args, int32_t n, Any *) {
    if (n != 3 || args[0].index != 7) return -1;
    add(args[0].tensor->data, args[1].tensor->data, args[2].tensor->data, args[0].tensor->shape[0]);
    return 0;
}
`
	header = `#include <cstdint>
void add(const float *x, const float *w, float *y, int64_t n);
`
	onCPU = `#include "add.h"
void add(const float *x, const float *w, float *y, int64_t n) { for (int64_t i = 0; i < n; i++) y[i] = x[i] * w[i] + x[i]; }
`
	onDeviceOrCPU = `#include "add.h"
#ifdef __CUDACC__
__global__ void kernel(const float *x, const float *w, float *y, int64_t n) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * w[i] + x[i];
}
#endif
void add(const float *x, const float *w, float *y, int64_t n) {
#ifdef __CUDACC__
    kernel<<<(n + 255) / 256, 256>>>(x, w, y, n);
#else
    for (int64_t i = 0; i < n; i++) y[i] = x[i] * w[i] + x[i];
#endif
}
`
)

// native is a solution that is compiled.
func native(name, language, binding, entry string, targets []string, sources ...string) *flashinfer.Solution {
	s := &flashinfer.Solution{Name: name, Definition: "multiply_add", Author: "me", Language: language, Binding: binding, EntryPoint: entry,
		DestinationPassing: true, TargetHardware: targets}
	for i := 0; i < len(sources); i += 2 {
		s.Sources = append(s.Sources, flashinfer.Source{Path: sources[i], Content: sources[i+1]})
	}
	return s
}

// multiply writes a dataset of one workload with some solutions.
func multiply(t *testing.T, solutions ...*flashinfer.Solution) (dir string) {
	t.Helper()
	dir = t.TempDir()
	d, err := flashinfer.ParseDefinition("d.json", []byte(multiplyAdd))
	if err != nil {
		t.Fatal(err)
	}
	random := flashinfer.Input{Type: flashinfer.Random}
	writeDefinition(t, dir, d, flashinfer.Workload{UUID: "w", Axes: map[string]int{"N": 100_000}, Inputs: map[string]flashinfer.Input{"x": random, "w": random}})
	for _, s := range solutions {
		writeSolution(t, dir, d, s)
	}
	return dir
}

// builder returns a Python with torch on a host that compiles for it.
func builder(t *testing.T) string {
	t.Helper()
	python := torch(t)
	for _, tool := range []string{"ninja", "c++"} {
		if _, err := exec.LookPath(tool); err != nil {
			testtier.Missing(t, "solutions in C++ for torch were NOT built: install g++ ninja-build libtorch-dev pybind11-dev")
		}
	}
	for _, header := range []string{"/usr/include/torch/extension.h", "/usr/include/pybind11/pybind11.h"} {
		if _, err := os.Stat(header); err != nil && python == "/usr/bin/python3" {
			testtier.Missing(t, "solutions in C++ for torch were NOT built: install libtorch-dev pybind11-dev")
		}
	}
	return python
}

// wrapped is a Python with more variables.
func wrapped(t *testing.T, python string, variables ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "python")
	writeFile(t, path, "#!/bin/sh\nexec env "+strings.Join(variables, " ")+" "+python+" \"$@\"\n")
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// patient is quick with time for a compiler on a host that is busy.
const patient = "flags: {iterations: 3, warmup_runs: 1, num_trials: 1, timeout_seconds: 840}\ntimeouts: {build: 14m}\n"

func measureEach(t *testing.T, dir, text string) map[string]bench.Result {
	t.Helper()
	if !strings.Contains(text, "device:") {
		text = "device: cpu\n" + text
	}
	s, results := mustOpen(t, dir, patient+"dataset: .\nreference: torch\n"+text), map[string]bench.Result{}
	for _, cell := range s.Plan().Cells {
		r := measureOne(t, s, cell)
		for range 2 { // three calls are few: TestHonestIsNotSuspectThorough holds the rate of false suspicion
			if r.Cause != bench.CauseMachine && !strings.Contains(r.Reason, "SUSPECT") {
				break
			}
			t.Logf("%s is measured once more: %s", cell.ID(), r.Reason)
			r = measureOne(t, s, cell)
		}
		results[s.byID[cell.ID()].solution.Name] = r
	}
	return results
}

func measureOne(t *testing.T, s *Suite, cell bench.Cell) bench.Result {
	t.Helper()
	r, err := s.Measure(t.Context(), cell, bench.Device{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// wantPassed ends with the reason: the log of a build is long.
func wantPassed(t *testing.T, r bench.Result) {
	t.Helper()
	if r.Outcome != bench.Passed || r.Sample("latency_ms") == nil {
		t.Errorf("%s\n%s: %s: %s", r.Log, r.Cell.ID(), r.Outcome, r.Reason)
	}
}

// TestBuildsForTorchThorough compiles solutions in C++ with torch's own builder, for a CPU, and measures them. The
// headers of torch take half a minute.
func TestBuildsForTorchThorough(t *testing.T) {
	testtier.Thorough(t)
	t.Parallel()
	python, cache := builder(t), filepath.Join(t.TempDir(), "kept")
	cpu := []string{"cpu"}
	dir := multiply(t,
		native("refused", "cpp", "torch", "main.cpp::run", cpu, "main.cpp", "int run( { }\n"),
		native("nameless", "cpp", "torch", "main.cpp::other", cpu, "main.cpp", inPybind, "add.h", header, "add.cc", onCPU),
		native("hostile", "cpp", "torch", "a$(touch here).cpp::run", cpu, "a$(touch here).cpp", inPybind))
	writeFile(t, filepath.Join(dir, "solutions", "me", "elementwise", "multiply_add", "mine.json"), documented(t))
	text := "python: " + python + "\nbuild_cache: " + cache + "\n"
	results := measureEach(t, dir, text)
	wantPassed(t, results["mine"])
	for name, want := range map[string]string{"refused": "main.cpp:1:", "nameless": "exports no function other", "hostile": "use letters, digits"} {
		r := results[name]
		if r.Outcome == bench.Passed || !strings.Contains(r.Reason, "COMPILE_ERROR") || !strings.Contains(r.Reason, want) {
			t.Errorf("%s: %s: %s\n%s", name, r.Outcome, r.Reason, r.Log)
		}
	}
	if !strings.Contains(results["refused"].Log, "error:") {
		t.Errorf("the log has no words of the compiler:\n%s", results["refused"].Log)
	}
	before := builds(t, cache)
	wantPassed(t, measureEach(t, dir, text+"solutions: [mine]\n")["mine"])
	if after := builds(t, cache); len(before) != 2 || fmt.Sprint(before) != fmt.Sprint(after) {
		t.Errorf("kept libraries were %v and are %v, want the same two", before, after)
	}
}

// documented is the solution that docs/kernels.md shows.
func documented(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../../docs/kernels.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, found := strings.Cut(string(page), "```json\n")
	block, _, closed := strings.Cut(block, "```")
	if !found || !closed {
		t.Fatal("docs/kernels.md shows no solution")
	}
	return block
}

// builds are the kept libraries with the times when they were made.
func builds(t *testing.T, cache string) (list []string) {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(cache, "*", "build.log"))
	if err != nil {
		t.Fatal(err)
	}
	for _, log := range logs {
		info, err := os.Stat(log)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, fmt.Sprint(filepath.Dir(log), info.ModTime()))
	}
	return list
}

// TestBuildsForDevicesThorough compiles CUDA sources with a stand-in for nvcc, by torch's builder and by a stand-in for
// tvm-ffi's. What it makes runs on the CPU, so that all between the source and the verdict is real.
func TestBuildsForDevicesThorough(t *testing.T) {
	testtier.Thorough(t)
	t.Parallel()
	python, home := builder(t), t.TempDir()
	calls := filepath.Join(home, "calls")
	toolkit(t, home)
	stand, err := filepath.Abs("testdata/native")
	if err != nil {
		t.Fatal(err)
	}
	python = wrapped(t, python, "CUDA_HOME="+home, "LD_LIBRARY_PATH="+home+"/lib64", "STANDIN_CALLS="+calls, "PYTHONPATH="+stand)
	cpu, cuda := []string{"H100", "cpu"}, []string{"H100"}
	dir := multiply(t,
		native("torch", "cuda", "torch", "main.cpp::run", cpu, "main.cpp", inPybind, "add.h", header, "kernel.cu", onDeviceOrCPU),
		native("ffi", "cuda", "", "main.cpp::run", cpu, "main.cpp", inTVM, "add.h", header, "kernel.cu", onDeviceOrCPU),
		native("ffi-cpp", "cpp", "tvm-ffi", "main.cpp::run", cpu, "main.cpp", inTVM, "add.h", header, "add.cc", onCPU),
		native("device", "cuda", "torch", "kernel.cu::run", cuda, "kernel.cu", onDeviceOrCPU),
		native("amd", "hip", "torch", "kernel.hip::run", cpu, "kernel.hip", onDeviceOrCPU),
		native("tiles", "tilelang", "", "main.py::run", cpu, "main.py", "def run(x, w, y): pass\n"))
	results := measureEach(t, dir, "python: "+python+"\n")
	for _, name := range []string{"torch", "ffi", "ffi-cpp"} {
		wantPassed(t, results[name])
	}
	for name, want := range map[string]string{"device": "cuda runs on a GPU", "amd": "built for ROCm", "tiles": "needs the Python package tilelang"} {
		if r := results[name]; r.Outcome != bench.Skipped || !strings.Contains(r.Reason, want) {
			t.Errorf("%s: %s: %s\n%s", name, r.Outcome, r.Reason, r.Log)
		}
	}
	text, err := os.ReadFile(calls)
	if err != nil || strings.Count(string(text), "\n") != 2 {
		t.Errorf("nvcc was called so (%v), want once for each solution that runs:\n%s", err, text)
	}
}

const inHIP = `#include <hip/hip_runtime.h>
#include "add.h"
__global__ void kernel(const float *x, const float *w, float *y, int64_t n) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * w[i] + x[i];
}
void add(const float *x, const float *w, float *y, int64_t n) { kernel<<<(n + 255) / 256, 256>>>(x, w, y, n); }
`

// TestBuildsForAMDThorough compiles HIP with the real hipcc, called as tvm-ffi's builder calls it.
func TestBuildsForAMDThorough(t *testing.T) {
	testtier.Thorough(t)
	t.Parallel()
	python, dir := builder(t), t.TempDir()
	if _, err := exec.LookPath("hipcc"); err != nil {
		testtier.Missing(t, "HIP was NOT compiled: install Debian's hipcc")
	}
	for name, text := range map[string]string{"main.cpp": inTVM, "add.h": header, "kernel.hip": inHIP} {
		if err := os.MkdirAll(filepath.Join(dir, "source"), 0o755); err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(dir, "source", name), text)
	}
	if err := workers.Write(dir); err != nil {
		t.Fatal(err)
	}
	stand, err := filepath.Abs("testdata/native")
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), python, "testdata/native/amd.py", dir, dir)
	command.Env = append(os.Environ(), "PYTHONPATH="+stand)
	if out, err := command.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// toolkit makes a folder as that of CUDA: a stand-in for nvcc, and libraries with nothing in them.
func toolkit(t *testing.T, home string) {
	t.Helper()
	nvcc, err := os.ReadFile("testdata/native/nvcc")
	for _, folder := range []string{"bin", "lib64"} {
		err = errors.Join(err, os.MkdirAll(filepath.Join(home, folder), 0o755))
	}
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(home, "bin", "nvcc"), string(nvcc))
	if err := os.Chmod(filepath.Join(home, "bin", "nvcc"), 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(home, "lib64", "empty.c"), "")
	for _, name := range []string{"cudart", "c10_cuda", "torch_cuda"} {
		command := exec.Command("cc", "-shared", "-o", filepath.Join(home, "lib64", "lib"+name+".so"), filepath.Join(home, "lib64", "empty.c"))
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
}

// Sources that compute it on a GPU only, by the stream that is current.
const (
	inTriton = `import torch
import triton
import triton.language as tl

@triton.jit
def kernel(x, w, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + i, mask=i < n)
    tl.store(y + i, a * tl.load(w + i, mask=i < n) + a, mask=i < n)

def run(x, w, y):
    kernel[(triton.cdiv(x.numel(), 1024),)](x, w, y, x.numel(), BLOCK=1024)
`
	inCUDAForTVM = `#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/function.h>
__global__ void kernel(const float *x, const float *w, float *y, int64_t n) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * w[i] + x[i];
}
void run(tvm::ffi::TensorView x, tvm::ffi::TensorView w, tvm::ffi::TensorView y) {
    cudaStream_t stream = static_cast<cudaStream_t>(TVMFFIEnvGetStream(x.device().device_type, x.device().device_id));
    kernel<<<(x.size(0) + 255) / 256, 256, 0, stream>>>(static_cast<const float *>(x.data_ptr()),
        static_cast<const float *>(w.data_ptr()), static_cast<float *>(y.data_ptr()), x.size(0));
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
`
)

// TestOnDeviceThorough measures solutions in Python, Triton and CUDA on the device that ACCELGATE_TEST_DEVICE names, with
// the real compilers. Without a device only the one in Python runs, on the CPU.
func TestOnDeviceThorough(t *testing.T) {
	testtier.Thorough(t)
	t.Parallel()
	python, device, all := torch(t), os.Getenv("ACCELGATE_TEST_DEVICE"), "solutions: [python]\n"
	if device == "" {
		device = "cpu"
	} else {
		all = ""
	}
	gpu := []string{"cuda"}
	dir := multiply(t,
		native("python", "python", "", "main.py::run", gpu, "main.py", "def run(x, w, y):\n    y.copy_(x * w + x)\n"),
		native("triton", "triton", "", "main.py::run", gpu, "main.py", inTriton),
		native("torch", "cuda", "torch", "main.cpp::run", gpu, "main.cpp", inTorch, "add.h", header, "kernel.cu", onDeviceOrCPU),
		native("ffi", "cuda", "", "kernel.cu::run", gpu, "kernel.cu", inCUDAForTVM))
	results := measureEach(t, dir, all+"traces: .\ncuda_graph: true\npython: "+python+"\ndevice: "+device+"\n")
	wantPassed(t, results["python"])
	for name, r := range results {
		if r.Outcome == bench.Skipped {
			t.Logf("%s was NOT measured: %s", name, r.Reason)
			continue
		}
		wantPassed(t, r)
	}
}

// TestRealSolutionsThorough measures the published solutions, which are CUDA with either binding: where there is no GPU
// each is skipped, and its reason says what it needs.
func TestRealSolutionsThorough(t *testing.T) {
	testtier.Thorough(t)
	t.Parallel()
	data := testtier.Data(t, "real solutions were NOT looked at", "flashinfer/flashinfer-trace")
	s := mustOpen(t, filepath.Join(data, "flashinfer", "flashinfer-trace"), patient+"dataset: .\ndevice: cpu\nmax_workloads: 1\npython: "+torch(t)+"\n")
	if len(s.Plan().Cells) != 2 || len(s.Plan().Skipped) != 0 {
		t.Errorf("%d cells and %d skipped ones, want one of each solution", len(s.Plan().Cells), len(s.Plan().Skipped))
	}
	for _, cell := range s.Plan().Cells {
		r, err := s.Measure(t.Context(), cell, bench.Device{})
		if err != nil || r.Outcome != bench.Skipped || !strings.Contains(r.Reason, "cuda runs on a GPU") {
			t.Errorf("%s: %v %s: %s", cell.ID(), err, r.Outcome, r.Reason)
		}
	}
}
