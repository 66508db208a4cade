package kernels

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
	"github.com/accelgate/accelgate/internal/tensor/safetensors"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

func isKept(r bench.Result) bool {
	return strings.Contains(strings.Join(r.Warnings, "\n"), "kept from the traces")
}

// traces counts those of a dataset, all of which must be whole.
func traces(t *testing.T, dir string) int {
	t.Helper()
	ds, err := flashinfer.Load(dir)
	if err != nil || len(ds.Warnings) > 0 {
		t.Fatal(err, ds.Warnings)
	}
	return len(ds.Traces)
}

// TestChangesAreMeasuredAgain changes one thing each that a result rests on.
func TestChangesAreMeasuredAgain(t *testing.T) {
	if testtier.Race {
		t.Skip("one goroutine; 20 times slower with the race detector")
	}
	t.Parallel()
	dir := dataset(t)
	judge := filepath.Join(dir, "judge.sh")
	writeFile(t, judge, "#!/bin/sh\necho '{\"status\": \"PASSED\"}'\n")
	if err := os.Chmod(judge, 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "eval.yaml"), "evaluators: {\"gqa_*\": {command: [./judge.sh]}}\n")
	const body = "dataset: .\ntraces: .\nconfig: eval.yaml\ndefinitions: [gqa_paged_decode_h8_kv2_d64_ps16]\nworkloads: [batch1]\nreference: go\nresume: true\n"
	kept := func(settings string) bool {
		t.Helper()
		s := mustOpen(t, dir, settings+body)
		r, err := s.Measure(t.Context(), s.Plan().Cells[0], bench.Device{})
		if err != nil || r.Outcome != bench.Passed {
			t.Fatal(err, r.Outcome, r.Reason)
		}
		return isKept(r)
	}
	const same = "flags: {iterations: 3, warmup_runs: 1, num_trials: 1}\n"
	for _, step := range []struct {
		name, settings string
		change         func()
		kept           bool
	}{
		{"nothing before", same, func() {}, false},
		{"the same", same, func() {}, true},
		{"another blob", same, func() { reverse(t, dir, "kv_indices") }, false},
		{"another setting", "flags: {iterations: 4, warmup_runs: 1, num_trials: 1}\n", func() {}, false},
		{"as before", same, func() {}, true},
		{"another evaluator", same, func() { writeFile(t, judge, "#!/bin/sh\n# stricter\necho '{\"status\": \"PASSED\"}'\n") }, false},
	} {
		if step.change(); kept(step.settings) != step.kept {
			t.Errorf("%s: kept %v, want %v", step.name, !step.kept, step.kept)
		}
	}
	if n := traces(t, dir); n != 4 {
		t.Errorf("%d traces, want one of each measurement", n)
	}
	seen := map[flashinfer.Key]string{}
	for _, settings := range []string{same, "flags: {iterations: 3, warmup_runs: 1, num_trials: 1, rtol: 0.5}\n", same + "isolated: true\n",
		same + "cold_cache: false\n", same + "cold_cache: true\n"} {
		s := mustOpen(t, dir, settings+body)
		if key := s.key(s.points[0]); seen[key] != "" {
			t.Errorf("%s has the key of %s", settings, seen[key])
		} else {
			seen[key] = settings
		}
	}
}

// reverse writes an input's file with its elements in another order.
func reverse(t *testing.T, dir, input string) {
	t.Helper()
	ds, err := flashinfer.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	in := ds.Workload("gqa_paged_decode_h8_kv2_d64_ps16", "batch1").Workload.Inputs[input]
	file, err := safetensors.Read(ds.BlobPath(in), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	var all []safetensors.Named
	for _, name := range file.Names() {
		tensor, err := file.Tensor(name)
		if err != nil {
			t.Fatal(err)
		}
		if name == in.TensorKey {
			values := make([]int64, tensor.Elements())
			tensor.Ints(values, 0)
			slices.Reverse(values)
			tensor.SetInts(values, 0)
		}
		all = append(all, safetensors.Named{Name: name, Tensor: tensor})
	}
	if err := safetensors.Write(ds.BlobPath(in), all); err != nil {
		t.Fatal(err)
	}
}
