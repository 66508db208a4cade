//go:build unix

package evaluator_test

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/kernels/evaluator"
	"github.com/accelgate/accelgate/internal/tensor"
	"github.com/accelgate/accelgate/internal/tensor/safetensors"
)

// pythonCompares prints the CPU milliseconds that numpy and torch take on one
// thread to read both files and compare them as flashinfer-bench does: the
// largest absolute and relative error, and the share beyond both tolerances.
const pythonCompares = `
import json, struct, sys, time
import numpy as np, torch
torch.set_num_threads(1)

def raw(path):
    with open(path, "rb") as f:
        f.seek(8 + struct.unpack("<Q", f.read(8))[0])
        return np.frombuffer(f.read(), np.uint16)

def with_numpy(y, x):
    y, x = ((t.astype(np.uint32) << 16).view(np.float32) for t in (y, x))
    d = np.abs(x - y)
    rel = d / (np.abs(y) + np.float32(1e-8))
    return d.max(), rel.max(), ((d > 0.01) & (rel > 0.01)).sum()

def with_torch(y, x):
    y, x = (torch.from_numpy(t.view(np.int16).copy()).view(torch.bfloat16).float() for t in (y, x))
    d = (x - y).abs()
    rel = d / (y.abs() + 1e-8)
    return d.max(), rel.max(), ((d > 0.01) & (rel > 0.01)).sum()

for compare in with_numpy, with_torch:
    best = 1e9
    for _ in range(3):
        start = time.process_time()
        compare(raw(sys.argv[1]), raw(sys.argv[2]))
        best = min(best, time.process_time() - start)
    print(best * 1000)
`

// BenchmarkFiles reads and compares files of 8.4 M bfloat16, by both modes, numpy
// and torch, and reports the CPU time of each. Without both libraries theirs is
// left out. ACCELGATE_BENCH_PYTHON names another python3 than that of PATH.
func BenchmarkFiles(b *testing.B) {
	y, x := random(tensor.BF16)
	var paths [2]string
	for i, t := range []tensor.Tensor{y, x} {
		paths[i] = filepath.Join(b.TempDir(), strconv.Itoa(i))
		if err := safetensors.Write(paths[i], []safetensors.Named{{Name: "y", Tensor: t}}); err != nil {
			b.Fatal(err)
		}
	}
	for _, mode := range []evaluator.Mode{evaluator.Fib, evaluator.Strict} {
		b.Run(string(mode), func(b *testing.B) {
			before, calls := cpuSeconds(b), 0
			for b.Loop() {
				compareFiles(b, paths, mode)
				calls++
			}
			b.ReportMetric((cpuSeconds(b)-before)/float64(calls)*1000, "cpu-ms/op")
		})
	}
	b.Run("python", func(b *testing.B) {
		var numpy, torch float64
		for b.Loop() {
			out, err := exec.CommandContext(b.Context(), cmp.Or(os.Getenv("ACCELGATE_BENCH_PYTHON"), "python3"), "-c", pythonCompares, paths[0], paths[1]).Output()
			if err != nil {
				b.Skipf("python3 without numpy and torch: %v", err)
			}
			if _, err := fmt.Fscan(strings.NewReader(string(out)), &numpy, &torch); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(numpy, "numpy-cpu-ms")
		b.ReportMetric(torch, "torch-cpu-ms")
	})
}

func compareFiles(b *testing.B, paths [2]string, mode evaluator.Mode) {
	var outputs [2][]evaluator.Output
	for i, path := range paths {
		file, err := safetensors.Read(path, 1<<30)
		if err != nil {
			b.Fatal(err)
		}
		t, err := file.Tensor("y")
		if err != nil {
			b.Fatal(err)
		}
		outputs[i] = []evaluator.Output{{Name: "y", Tensor: t}}
	}
	if r, err := evaluator.Elementwise(outputs[0], outputs[1], evaluator.Params{Mode: mode}); err != nil || r.Outputs[0].MatchedRatio < 0.5 {
		b.Fatalf("%+v %v", r, err)
	}
}

func cpuSeconds(b *testing.B) float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}
