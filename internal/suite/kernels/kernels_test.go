package kernels

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
	"github.com/accelgate/accelgate/internal/suite/kernels/harness/builtin"
	"github.com/accelgate/accelgate/internal/suite/kernels/harness/workers"
	"github.com/accelgate/accelgate/internal/testing/testtier"
	"github.com/accelgate/accelgate/internal/worker"
)

func env(t testing.TB, dir string) suite.Env {
	t.Helper()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return suite.Env{Worker: &worker.Isolated{Environ: os.Environ()}, Environ: os.Environ(), Executable: executable, Dir: dir, Now: time.Now}
}

// quick measures as little as is measured at all; open leaves the worker's timer unchecked.
const quick = "flags: {iterations: 3, warmup_runs: 1, num_trials: 1}\n"

func open(t testing.TB, dir, text string, alter ...func(*suite.Env)) (*Suite, error) {
	t.Helper()
	indented := strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n    ")
	file, err := config.Parse("x.yaml", []byte("version: 1\nsuites:\n  - name: k\n    kind: kernels\n    "+indented+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	env := env(t, dir)
	for _, a := range alter {
		a(&env)
	}
	opened, err := Open(&file.Suites[0], env)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() {
		if err := opened.Close(); err != nil {
			t.Error(err)
		}
	})
	s := opened.(*Suite)
	s.minTime, s.maxCalls, s.fresh = time.Hour, 8, 16 // too little to check a timer, which package kernel tests
	s.tools.built.Do(func() { s.tools.c, s.tools.cErr = compiled() })
	return s, nil
}

// compiled is the C worker, made once for all tests that are not about making it.
var compiled = sync.OnceValues(func() (string, error) {
	args, program := workers.Compile("cc", fixtures)
	if err := workers.Write(fixtures); err != nil {
		return "", err
	}
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		return "", unavailable{fmt.Errorf("the C worker cannot be compiled: %w: %s", err, out)}
	}
	return program, nil
})

func mustOpen(t testing.TB, dir, text string, alter ...func(*suite.Env)) *Suite {
	t.Helper()
	s, err := open(t, dir, text, alter...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestBuiltin measures everything that ships with accelgate, without Python.
func TestBuiltin(t *testing.T) {
	if testtier.Race {
		t.Skip("one goroutine; 20 times slower with the race detector")
	}
	t.Parallel()
	measureAll(t, mustOpen(t, t.TempDir(), quick+"reference: go\nmax_workloads: 1"))
}

// TestBuiltinThorough measures all workloads, and the first of each definition for as long as users do.
func TestBuiltinThorough(t *testing.T) {
	testtier.Thorough(t)
	measureAll(t, mustOpen(t, t.TempDir(), quick+"reference: go"))
	s := mustOpen(t, t.TempDir(), "reference: go\nmax_workloads: 1")
	s.minTime, s.maxCalls, s.fresh = 0, 0, 0
	measureAll(t, s)
}

func measureAll(t *testing.T, s *Suite) {
	t.Helper()
	if len(s.Plan().Cells) < 9 {
		t.Fatalf("%d cells", len(s.Plan().Cells))
	}
	run := bench.Run{Schema: bench.RunSchema, Metrics: s.Plan().Metrics}
	for _, cell := range s.Plan().Cells {
		r, err := s.Measure(t.Context(), cell, bench.Device{})
		if err != nil {
			t.Fatal(err)
		}
		if skipped(t, r) {
			continue
		}
		if r.Outcome != bench.Passed || r.Sample("latency_ms") == nil || r.Sample("speedup_factor") == nil {
			t.Errorf("%s: %s %s, samples %v", cell.ID(), r.Outcome, r.Reason, r.Samples)
		}
		run.Results = append(run.Results, r)
	}
	if err := run.Validate(); err != nil {
		t.Error(err)
	}
}

// skipped lets a machine without a C compiler pass, where none is demanded.
func skipped(t *testing.T, r bench.Result) bool {
	if r.Outcome != bench.Skipped || os.Getenv("ACCELGATE_TEST_REQUIRE") == "1" {
		return false
	}
	t.Logf("%s: %s", r.Cell.ID(), r.Reason)
	return true
}

// dataset writes the built-in one for changing.
func dataset(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := builtin.Write(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// edit replaces text in the only file that matches.
func edit(t *testing.T, dir, glob, old, new string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, glob))
	if err != nil || len(files) != 1 {
		t.Fatalf("%s matches %d files, %v", glob, len(files), err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	changed := regexp.MustCompile(old).ReplaceAllString(string(data), new)
	if changed == string(data) {
		t.Fatalf("%s holds no %s", files[0], old)
	}
	if err := os.WriteFile(files[0], []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestOutcomes breaks a dataset in one place each and looks at what becomes of a
// case.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	const gemm = "definitions: [gemm_n128_k256]\nworkloads: [m1]\nreference: go\n"
	for _, c := range []struct {
		name, body      string
		break_          func(t *testing.T, dir string)
		outcome, reason string
	}{
		{"another kernel", gemm, func(t *testing.T, dir string) {
			edit(t, dir, "solutions/*/gemm/gemm_n128_k256/*.json", "builtin::gemm_blocked", "builtin::rmsnorm_blocked")
		}, "failed", "RUNTIME_ERROR|COMPILE_ERROR"},
		{"no such kernel", gemm, func(t *testing.T, dir string) {
			edit(t, dir, "solutions/*/gemm/gemm_n128_k256/*.json", "builtin::gemm_blocked", "builtin::nothing")
		}, "failed", "COMPILE_ERROR"},
		{"a language without a builder", gemm, func(t *testing.T, dir string) {
			edit(t, dir, "solutions/*/gemm/gemm_n128_k256/*.json", `"language": "go"`, `"binding": "torch", "language": "c"`)
		}, "skipped", "no worker builds c with the binding torch: set the language to cpp"},
		{"a language without its package", gemm + "python: /nowhere/python3\n", func(t *testing.T, dir string) {
			edit(t, dir, "solutions/*/gemm/gemm_n128_k256/*.json", `"language": "go"`, `"language": "cuda"`)
		}, "skipped", "python3"},
		{"constraint", gemm, func(t *testing.T, dir string) {
			edit(t, dir, "definitions/gemm/gemm_n128_k256.json", `"reference"`, `"constraints": ["M > 5"], "reference"`)
		}, "failed", "M > 5"},
		{"missing blob", "definitions: [gqa_paged_decode_h8_kv2_d64_ps16]\nworkloads: [batch1]\nreference: go\n", func(t *testing.T, dir string) {
			if err := os.RemoveAll(filepath.Join(dir, "blob")); err != nil {
				t.Fatal(err)
			}
		}, "failed", "the blob of input .* is missing: download the dataset's blobs"},
		{"too large", gemm + "max_input_gib: 0.00001\n", func(*testing.T, string) {}, "skipped", "raise max_input_gib"},
		{"tolerance", gemm, func(*testing.T, string) {}, "passed", "^$"},
		{"no worker", gemm + "python: /nowhere/python3\nsolutions: [reference]\n", func(*testing.T, string) {}, "skipped", "python3"},
		{"evaluator that fails", gemm + "config: eval.yaml\n", func(t *testing.T, dir string) {
			writeFile(t, filepath.Join(dir, "eval.yaml"), "evaluators: {\"gemm_*\": {command: [sh, -c, \"exit 3\"]}}\n")
		}, "failed", "cannot be judged: external evaluator sh: exit code 3"},
		{"evaluator of the user's", gemm + "config: eval.yaml\n", func(t *testing.T, dir string) {
			writeFile(t, filepath.Join(dir, "eval.yaml"), "evaluators: {\"gemm_*\": {command: [sh, -c, \"grep -q accelgate-evaluator/1 && echo '{\\\"status\\\":\\\"INCORRECT_NUMERICAL\\\"}'\"]}}\n")
		}, "incorrect", "INCORRECT_NUMERICAL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := dataset(t)
			c.break_(t, dir)
			s := mustOpen(t, dir, quick+c.body+"dataset: .")
			results := s.Plan().Skipped
			if len(results) == 0 {
				r, err := s.Measure(t.Context(), s.Plan().Cells[0], bench.Device{})
				if err != nil {
					r = bench.Result{Outcome: "error", Reason: err.Error()}
				}
				results = []bench.Result{r}
			}
			if got := results[0]; string(got.Outcome) != c.outcome || !regexp.MustCompile(c.reason).MatchString(got.Reason) {
				t.Errorf("%s: %s, want %s: %s\n%s", got.Outcome, got.Reason, c.outcome, c.reason, got.Log)
			}
		})
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestTraces writes what flashinfer-bench reads, and goes on from it: what
// passed is kept, what was changed is measured again.
func TestTraces(t *testing.T) {
	if testtier.Race {
		t.Skip("one goroutine; 20 times slower with the race detector")
	}
	t.Parallel()
	dir := dataset(t)
	body := quick + "dataset: .\ntraces: .\ndefinitions: [gemm_n128_k256]\nworkloads: [m1]\nreference: go\n"
	first := mustOpen(t, dir, body)
	r, err := first.Measure(t.Context(), first.Plan().Cells[0], bench.Device{})
	if err != nil || r.Outcome != bench.Passed {
		t.Fatal(err, r.Reason)
	}
	loaded, err := flashinfer.Load(dir)
	if err != nil || len(loaded.Traces) != 1 {
		t.Fatalf("%d traces, %v", len(loaded.Traces), err)
	}
	if e := loaded.Traces[0].Evaluation; e.Status != flashinfer.Passed || e.Performance.LatencyMS <= 0 || len(e.Gate.Samples) == 0 {
		t.Errorf("the trace is %+v", e)
	}
	kept := func() bool {
		s := mustOpen(t, dir, body+"resume: true\n")
		r, err := s.Measure(t.Context(), s.Plan().Cells[0], bench.Device{})
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(strings.Join(r.Warnings, "\n"), "kept from the traces")
	}
	if !kept() {
		t.Error("what passed was measured again")
	}
	edit(t, dir, "solutions/*/gemm/gemm_n128_k256/*.json", "builtin::gemm_blocked", "builtin::gemm")
	if kept() {
		t.Error("a changed solution was taken for the one that passed")
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"dataset: nowhere":         "nowhere",
		"definitions: [gem_n128*]": `"gem_n128\*" names nothing in the dataset`,
		"solutions: [nemo]":        `"nemo" names nothing in the dataset`,
		"definitions: [gemm_n128_k256]\nsolutions: [accelgate_c_rmsnorm_h256]": "no solution and workload",
		"reference: julia":     "unknown worker",
		"resume: true":         "set traces",
		"flags: {rtol: -1}":    "rtol",
		"repeats: 0":           "repeats",
		"config: nowhere.yaml": "correct config",
	} {
		if _, err := open(t, t.TempDir(), body); err == nil || !regexp.MustCompile(want).MatchString(err.Error()) {
			t.Errorf("%s: %v, want %s", body, err, want)
		}
	}
}
