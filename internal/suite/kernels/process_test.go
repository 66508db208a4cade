//go:build unix

package kernels

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/measure/runner"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

const inC = `#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#define LOG(word) do { FILE *f = fopen("LOGFILE", "a"); \
    fprintf(f, "%d %s %d %s\n", (int)getpid(), getenv("CUDA_VISIBLE_DEVICES"), (int)hidden_states->shape[0], word); fclose(f); } while (0)
`

// addC adds a solution of rmsnorm_h256 in C to a dataset: the one that ships with
// accelgate, which does something before it computes. LOG(word) there writes the
// process, its device and the number of rows into the file that addC returns.
func addC(t *testing.T, dir, name, before string) (log string) {
	t.Helper()
	if _, err := exec.LookPath("cc"); err != nil && os.Getenv("ACCELGATE_TEST_REQUIRE") != "1" {
		t.Skip("SKIPPED: there is no cc: install a C compiler to run solutions in C")
	}
	ds, err := flashinfer.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := *ds.Solution("accelgate_c_rmsnorm_h256")
	const begin = "DLTensor *output) {\n"
	source := s.Sources[0]
	if !strings.Contains(source.Content, begin) {
		t.Fatalf("the solution begins otherwise:\n%s", source.Content)
	}
	log = filepath.Join(dir, "log."+name)
	source.Content = strings.ReplaceAll(inC, "LOGFILE", log) + strings.Replace(source.Content, begin, begin+before+"\n    usleep(500); /* so that a busy machine matters less */\n", 1)
	s.Name, s.Sources = name, []flashinfer.Source{source}
	writeSolution(t, dir, ds.Definition(s.Definition), &s)
	return log
}

// told are the lines of a log, split.
func told(t *testing.T, path string) (lines [][]string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		lines = append(lines, strings.Fields(line))
	}
	return lines
}

// column returns the values of a column, each once, sorted.
func column(lines [][]string, n int) (values []string) {
	for _, line := range lines {
		values = append(values, line[n])
	}
	slices.Sort(values)
	return slices.Compact(values)
}

// gone demands that processes end.
func gone(t *testing.T, pids []string) {
	t.Helper()
	for _, pid := range pids {
		number := 0
		if _, err := fmt.Sscan(pid, &number); err != nil || number < 2 {
			t.Fatalf("%q is not a process", pid)
		}
		if err := syscall.Kill(number, 0); err != syscall.ESRCH {
			t.Errorf("process %d is still there: %v", number, err)
		}
	}
}

// onceEach is C that logs when the number of rows changes.
const onceEach = `static int64_t last; if (last != hidden_states->shape[0]) { last = hidden_states->shape[0]; LOG("computes"); }`

const rmsnorm = quick + "dataset: .\nreference: go\ndefinitions: [rmsnorm_h256]\n"

// watched has the Go workers of a suite tell which processes they are.
func watched(log string) func(*suite.Env) {
	return func(e *suite.Env) {
		script := fmt.Sprintf("#!/bin/sh\necho \"$$ $CUDA_VISIBLE_DEVICES\" >> '%s'\nexec '%s' \"$@\"\n", log, e.Executable)
		if err := os.WriteFile(log+".sh", []byte(script), 0o755); err != nil {
			panic(err)
		}
		e.Executable = log + ".sh"
	}
}

// TestTwoDevicesAtOnce measures on two devices at the same time: a solution goes
// on only when the other device has begun. Each device has a worker of its own
// for the reference and one for the solution, which stay there and build in
// folders of their own.
func TestTwoDevicesAtOnce(t *testing.T) {
	t.Parallel()
	dir := dataset(t)
	meet := fmt.Sprintf(`static int met; if (!met) { met = 1; char mine[4096], other[4096];
		const char *device = getenv("CUDA_VISIBLE_DEVICES");
		snprintf(mine, sizeof mine, "%[1]s/at.%%s", device); snprintf(other, sizeof other, "%[1]s/at.%%d", 1 - atoi(device));
		fclose(fopen(mine, "w"));
		for (int i = 0; i < 5000 && access(other, F_OK); i++) usleep(10000);
		if (access(other, F_OK)) return 77;
		Dl_info at; if (!dladdr((void *)rmsnorm, &at)) return 78;
		LOG(at.dli_fname); }`, dir)
	log, references := addC(t, dir, "meets", meet), filepath.Join(dir, "references")
	s := mustOpen(t, dir, rmsnorm+"solutions: [meets]\n", watched(references), func(e *suite.Env) {
		e.Pin = func(d bench.Device) []string { return []string{"CUDA_VISIBLE_DEVICES=" + d.ID} }
	})
	devices := []bench.Device{{Vendor: "nvidia", ID: "0"}, {Vendor: "nvidia", ID: "1"}}
	results, _, err := runner.Run(t.Context(), s, s.Plan().Cells, runner.Options{Device: func(c bench.Cell) bench.Device {
		return devices[slices.IndexFunc(s.Plan().Cells, func(other bench.Cell) bool { return other.ID() == c.ID() })]
	}, Repeats: func(bench.Cell) int { return 2 }})
	if err != nil || len(results) != 2 {
		t.Fatalf("%d results, %v", len(results), err)
	}
	for i, r := range results {
		if r.Outcome != bench.Passed || r.Device != devices[i].String() || len(r.Sample("latency_ms").Values) != 2 {
			t.Errorf("%s on %s: %s %s\n%s", r.Cell.ID(), r.Device, r.Outcome, r.Reason, r.Log)
		}
	}
	solutions, others := told(t, log), told(t, references)
	if len(solutions) != 2 || len(column(solutions, 0)) != 2 || !slices.Equal(column(solutions, 1), []string{"0", "1"}) || len(column(solutions, 2)) != 2 ||
		len(column(solutions, 3)) != 2 {
		t.Errorf("solutions ran as %v, want one process on each device, with a library of its own", solutions)
	}
	if len(others) != 2 || len(column(others, 0)) != 2 || !slices.Equal(column(others, 1), []string{"0", "1"}) {
		t.Errorf("references ran as %v, want one process on each device", others)
	}
	if err := s.Release(devices[0]); err != nil {
		t.Fatal(err)
	}
	for _, lines := range [][][]string{solutions, others} {
		for _, line := range lines {
			if err := exec.Command("kill", "-0", line[0]).Run(); (err == nil) != (line[1] == "1") {
				t.Errorf("after device 0 was left, process %v: %v", line, err)
			}
		}
	}
	if err := s.Release(devices[1]); err != nil {
		t.Fatal(err)
	}
	gone(t, slices.Concat(column(solutions, 0), column(others, 0)))
}

// TestIsolated has a process for each solution and workload, and otherwise one
// for each solution. The solutions fail, which is faster and ends no worker.
func TestIsolated(t *testing.T) {
	t.Parallel()
	for isolated, want := range map[string]int{"isolated: true\n": 4, "isolated: false\n": 2, "config: eval.yaml\n": 4} {
		t.Run(isolated, func(t *testing.T) {
			t.Parallel()
			dir := dataset(t)
			writeFile(t, filepath.Join(dir, "eval.yaml"), "use_isolated_runner: true\n")
			logs := []string{addC(t, dir, "one", `LOG("fails"); return 3;`), addC(t, dir, "two", `LOG("fails"); return 4;`)}
			s := mustOpen(t, dir, rmsnorm+isolated+"solutions: [one, two]\n")
			if len(s.Plan().Cells) != 4 {
				t.Fatalf("%d cells", len(s.Plan().Cells))
			}
			for _, cell := range s.Plan().Cells {
				if r, err := s.Measure(t.Context(), cell, bench.Device{}); err != nil || !strings.Contains(r.Reason, "RUNTIME_ERROR") {
					t.Fatalf("%v %s: %s\n%s", err, r.Outcome, r.Reason, r.Log)
				}
			}
			lines := slices.Concat(told(t, logs[0]), told(t, logs[1]))
			if len(lines) != 4 || len(column(lines, 0)) != want {
				t.Errorf("solutions ran as %v, want %d processes", lines, want)
			}
		})
	}
}

// TestCancelled ends a run in the middle: nothing of it is left, its traces hold
// what was finished, and the next run goes on from there.
func TestCancelled(t *testing.T) {
	t.Parallel()
	dir := dataset(t)
	hang := filepath.Join(dir, "hang")
	log := addC(t, dir, "hangs", fmt.Sprintf(`if (hidden_states->shape[0] == 64 && !access("%s", F_OK)) { LOG("hangs"); for (;;) pause(); }`, hang)+onceEach)
	writeFile(t, hang, "")
	body, workers := rmsnorm+"traces: .\nsolutions: [hangs]\n", filepath.Join(dir, "workers")
	s := mustOpen(t, dir, body, watched(workers))
	first, second := s.Plan().Cells[0], s.Plan().Cells[1]
	if r, err := s.Measure(t.Context(), first, bench.Device{}); err != nil || r.Outcome != bench.Passed {
		t.Fatalf("%v %s: %s\n%s", err, r.Outcome, r.Reason, r.Log)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for ctx.Err() == nil && !slices.Contains(column(told(t, log), 3), "hangs") {
			time.Sleep(10 * time.Millisecond)
		}
		cancel()
	}()
	if r, err := s.Measure(ctx, second, bench.Device{}); err == nil {
		t.Fatalf("a cancelled measurement is %s: %s", r.Outcome, r.Reason)
	}
	gone(t, column(told(t, log), 0))
	if err := s.Release(bench.Device{}); err != nil {
		t.Fatal(err)
	}
	gone(t, column(told(t, workers), 0))
	if err := os.Remove(hang); err != nil {
		t.Fatal(err)
	}
	if n := traces(t, dir); n != 1 {
		t.Errorf("%d traces after the end, want that of the first case", n)
	}
	again := mustOpen(t, dir, body+"resume: true\n", watched(workers))
	for cell, kept := range map[*bench.Cell]bool{&first: true, &second: false} {
		r, err := again.Measure(t.Context(), *cell, bench.Device{})
		if err != nil || r.Outcome != bench.Passed || isKept(r) != kept {
			t.Errorf("%s: %v %s %s, kept %v, want %v", cell.ID(), err, r.Outcome, r.Reason, isKept(r), kept)
		}
	}
	if n := traces(t, dir); n != 2 {
		t.Errorf("%d traces at last, want 2", n)
	}
}

// TestFailuresAreMeasuredAgain: what failed may pass now, and only what passed is
// kept.
func TestFailuresAreMeasuredAgain(t *testing.T) {
	if testtier.Race {
		t.Skip("one goroutine; 20 times slower with the race detector")
	}
	t.Parallel()
	dir := dataset(t)
	broken := filepath.Join(dir, "broken")
	addC(t, dir, "fails", fmt.Sprintf(`if (!access("%s", F_OK)) return 3;`, broken))
	writeFile(t, broken, "")
	for i, want := range []struct {
		outcome bench.Outcome
		kept    bool
		traces  int
	}{{bench.Failed, false, 1}, {bench.Failed, false, 2}, {bench.Passed, false, 3}, {bench.Passed, true, 3}} {
		if i == 2 {
			if err := os.Remove(broken); err != nil {
				t.Fatal(err)
			}
		}
		s := mustOpen(t, dir, rmsnorm+"workloads: [rows4]\ntraces: .\nresume: true\nsolutions: [fails]\n")
		r, err := s.Measure(t.Context(), s.Plan().Cells[0], bench.Device{})
		if err != nil || r.Outcome != want.outcome || isKept(r) != want.kept || traces(t, dir) != want.traces {
			t.Errorf("run %d: %v %s %s, kept %v, %d traces, want %+v", i+1, err, r.Outcome, r.Reason, isKept(r), traces(t, dir), want)
		}
	}
}

// TestCPlusPlus compiles a solution that needs more than C, in a C worker that the suite compiles.
func TestCPlusPlus(t *testing.T) {
	if testtier.Race {
		t.Skip("one goroutine; 20 times slower with the race detector")
	}
	t.Parallel()
	dir := dataset(t)
	addC(t, dir, "inc", "")
	const source = `#include <cmath>
#include <cstring>
#include <numeric>
#include <unistd.h>
#include <vector>
#include "fib_dlpack.h"

template <typename T> static T as(const void *from) { T to; std::memcpy(&to, from, sizeof to); return to; }
static float widen(uint16_t b) { uint32_t bits = uint32_t(b) << 16; return as<float>(&bits); }
static uint16_t narrow(float f) { auto bits = as<uint32_t>(&f); return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16); }

FIB_EXPORT int32_t run(const DLTensor *x, const DLTensor *w, DLTensor *y) {
    usleep(500);
    for (int64_t row = 0; row < x->shape[0]; row++) {
        std::vector<float> v(x->shape[1]);
        for (size_t i = 0; i < v.size(); i++) v[i] = widen(static_cast<uint16_t *>(x->data)[row * v.size() + i]);
        double squares = std::inner_product(v.begin(), v.end(), v.begin(), 0.0);
        float scale = float(1 / std::sqrt(squares / double(v.size()) + 1e-6));
        for (size_t i = 0; i < v.size(); i++)
            static_cast<uint16_t *>(y->data)[row * v.size() + i] = narrow(v[i] * scale * widen(static_cast<uint16_t *>(w->data)[i]));
    }
    return 0;
}
`
	ds, err := flashinfer.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	solution := *ds.Solution("inc")
	solution.Name, solution.Language, solution.EntryPoint = "incpp", "cpp", "main.cpp::run"
	solution.Sources = []flashinfer.Source{{Path: "main.cpp", Content: source}}
	writeSolution(t, dir, ds.Definition(solution.Definition), &solution)
	s := mustOpen(t, dir, rmsnorm+"workloads: [rows4]\nsolutions: [incpp]\n")
	s.tools = tools{}
	r, err := s.Measure(t.Context(), s.Plan().Cells[0], bench.Device{})
	if err != nil || r.Outcome != bench.Passed {
		t.Errorf("%v %s: %s\n%s", err, r.Outcome, r.Reason, r.Log)
	}
}
