package workers_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/suite/kernels/evaluator"
	"github.com/accelgate/accelgate/internal/suite/kernels/harness"
	"github.com/accelgate/accelgate/internal/tensor"
	"github.com/accelgate/accelgate/internal/testing/testtier"
	"github.com/accelgate/accelgate/internal/worker"
)

// sum is y = x * w + x, which every program here claims to compute.
var sum = harness.Case{
	Definition: "multiply_add", Workload: "w",
	Inputs: []harness.Input{
		{Name: "x", DType: tensor.Float32, Shape: []int{48, 32}},
		{Name: "w", DType: tensor.Float32, Shape: []int{48, 32}},
	},
	Outputs: []harness.Output{{Name: "y", DType: tensor.Float32, Shape: []int{48, 32}}},
	Odd: []harness.Case{{
		Definition: "multiply_add", Workload: "w",
		Inputs: []harness.Input{
			{Name: "x", DType: tensor.Float32, Shape: []int{37, 13}},
			{Name: "w", DType: tensor.Float32, Shape: []int{37, 13}},
		},
		Outputs: []harness.Output{{Name: "y", DType: tensor.Float32, Shape: []int{37, 13}}},
	}},
}

// TestCheats measures each program in testdata/cheats as a solution, against
// plain.py as the reference. What must become of it stands in its first lines,
// "# key: value", or "// key: value" in C:
//
//	want    the status, or several between "or" for a solution that gains nothing: then reported counts
//	kind    of the failure, if there is one
//	reason  a part of it
//	style   dps; values are returned otherwise
//	worker  numpy unless it says another, whose reference is numpy's all the same
//	least   nanoseconds that every timed call takes by the worker's timer
//	reference  plain.py unless it says another
//	reported nanoseconds that a call must be reported to take
//	timed   yes has enough calls for the timer to be checked
//	child   yes says that child.pid names a process that must be gone in the end
//	alone   yes where others must not be measured meanwhile
//	tier    thorough for those of a kind that another program shows as well, and for those that
//	        times alone give away, which a busy host hides: harness.TestDoubts has their times, generated
func TestCheats(t *testing.T) {
	t.Parallel()
	cheats(t, "", "", (*testing.T).Parallel)
}

func TestCheatsThorough(t *testing.T) {
	testtier.Thorough(t)
	t.Parallel()
	cheats(t, "", "thorough", (*testing.T).Parallel)
}

func TestCheatsThatHarmOthers(t *testing.T) {
	cheats(t, "yes", "", func(*testing.T) {})
}

func cheats(t *testing.T, alone, tier string, first func(*testing.T)) {
	files, err := filepath.Glob("testdata/cheats/*.*")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d programs (%v)", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		e := expectations(string(text))
		if e["alone"] != alone || e["tier"] != tier {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			first(t)
			try(t, file, e)
		})
	}
}

// TestCheatsOnDeviceThorough measures with torch, on the device that ACCELGATE_TEST_DEVICE names, the programs that do
// not need numpy: what is a tensor to them may lie anywhere. Without a device one of them runs on the CPU.
func TestCheatsOnDeviceThorough(t *testing.T) {
	testtier.Thorough(t)
	device := os.Getenv("ACCELGATE_TEST_DEVICE")
	files, err := filepath.Glob("testdata/cheats/*.py")
	if err != nil {
		t.Fatal(err)
	}
	if device == "" {
		device, files = "cpu", []string{"testdata/cheats/cached_by_identity.py"}
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if e := expectations(string(text)); e["worker"] == "numpy" && !strings.Contains(string(text), "numpy") && !strings.Contains(string(text), "np.") {
			e["worker"], e["device"] = "torch", device
			t.Run(filepath.Base(file), func(t *testing.T) { try(t, file, e) })
		}
	}
}

type expectation map[string]string

func expectations(text string) expectation {
	e := expectation{"worker": "numpy", "reference": "plain.py"}
	for line := range strings.Lines(text) {
		comment, python := strings.CutPrefix(line, "# ")
		comment, c := strings.CutPrefix(comment, "// ")
		if key, value, ok := strings.Cut(comment, ": "); ok && (python || c) {
			e[key] = strings.TrimSpace(value)
		}
	}
	return e
}

// attempts is how often a program is measured whose calls are recognised by their times, which a loaded host stretches.
const attempts = 4

// differs returns what became of the program other than what was expected, or "".
func (e expectation) differs(m harness.Measurement) string {
	kind := ""
	if m.Failed != nil {
		kind = string(m.Failed.Kind)
	}
	if minimum, _ := strconv.ParseFloat(e["reported"], 64); m.Status == evaluator.Passed && stats.Median(m.Solution.Values) < minimum {
		return fmt.Sprintf("a call is reported to take %v ns, and takes at least %v", stats.Median(m.Solution.Values), minimum)
	}
	if slices.Contains(strings.Split(e["want"], " or "), string(m.Status)) && kind == e["kind"] && strings.Contains(m.Reason, e["reason"]) {
		return ""
	}
	return fmt.Sprintf("status %s, kind %q, reason %q; want %s, %q, %q", m.Status, kind, m.Reason, e["want"], e["kind"], e["reason"])
}

func try(t *testing.T, file string, e expectation) {
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	limits := harness.Limits{}
	if e["want"] == "TIMEOUT" {
		limits.Run, limits.Build = 2*time.Second, 5*time.Second
	}
	kind := e["worker"] // of the reference
	if kind == "c" {
		kind = "numpy"
	}
	reference, solution := openOn(ctx, t, kind, e["device"], true, harness.Limits{}), openOn(ctx, t, e["worker"], e["device"], false, limits)
	dir := filepath.Join(t.TempDir(), "solution")
	settings := harness.Settings{Warmup: 1, Iterations: 4, Trials: 2, MaxIterations: 8, MinTime: time.Hour, MaxFresh: 16, Dir: t.TempDir(), Judge: equal}
	if e["tier"] == "" {
		settings.Trials = 1
	}
	if e["timed"] == "yes" {
		settings.MinTime, settings.MaxIterations, settings.MaxFresh = 10*time.Millisecond, 0, 0
	}
	plain := program(t, reference, "testdata/cheats/"+e["reference"], t.TempDir(), "")
	cheat := program(t, solution, file, dir, e["style"])
	var m harness.Measurement
	for n := 1; ; n++ {
		var err error
		if m, err = harness.Measure(ctx, sum, plain, cheat, settings); err != nil {
			t.Fatal(err)
		}
		wrong := e.differs(m)
		if wrong == "" {
			break
		}
		if e["timed"] != "yes" || n == attempts {
			t.Errorf("%s\n%s", wrong, solution.Log())
			break
		}
		t.Logf("attempt %d of %d: %s", n, attempts, wrong)
	}
	if reference.Dead() {
		t.Error("the reference's worker was ended")
	}
	takesAsLong(t, m.Solution, e["least"])
	if err := solution.Close(); err != nil {
		t.Error(err)
	}
	if e["child"] == "yes" {
		gone(t, filepath.Join(dir, "child.pid"))
	}
}

// TestHonestIsNotSuspectThorough measures kernels of about 5 us, 100 us and 2 ms
// twice, and TestHonestIsNotSuspectNightly five times. They are not parallel: what others do to the host is not their
// subject. What they do all the same may cost the budget.
func TestHonestIsNotSuspectThorough(t *testing.T) {
	testtier.Thorough(t)
	honest(t, 2)
}

func TestHonestIsNotSuspectNightly(t *testing.T) {
	testtier.Nightly(t)
	honest(t, 5)
}

func honest(t *testing.T, times int) {
	const budget = 1 // of each kernel
	for _, rows := range []int{48, 5_000, 50_000} {
		t.Run(strconv.Itoa(rows), func(t *testing.T) {
			suspected := 0
			for n := range times + budget {
				if n == times+suspected {
					break
				}
				switch m := measureHonest(t, rows, n == times-1); {
				case m.Status == evaluator.Suspect:
					suspected++
					t.Logf("measurement %d: %s", n, m.Reason)
				case m.Status == evaluator.Inconclusive: // others use this host
					t.Logf("measurement %d: %s", n, m.Reason)
				case m.Status != evaluator.Passed:
					t.Fatalf("measurement %d: status %s, reason %q", n, m.Status, m.Reason)
				}
			}
			t.Logf("%d of %d measurements were suspect, the budget is %d", suspected, times, budget)
			if suspected > budget {
				t.Error("a plain kernel is suspect")
			}
		})
	}
}

// sumOf is sum with 32 columns.
func sumOf(rows int) harness.Case {
	c := sum
	shape := []int{rows, 32}
	c.Inputs = []harness.Input{{Name: "x", DType: tensor.Float32, Shape: shape}, {Name: "w", DType: tensor.Float32, Shape: shape}}
	c.Outputs = []harness.Output{{Name: "y", DType: tensor.Float32, Shape: shape}}
	return c
}

func measureHonest(t *testing.T, rows int, noBaseline bool) harness.Measurement {
	t.Helper()
	c := sumOf(rows)
	reference, solution := open(t.Context(), t, "numpy", true, harness.Limits{}), open(t.Context(), t, "numpy", false, harness.Limits{})
	settings := harness.Settings{Warmup: 1, Iterations: 8, Trials: 3, MinTime: 10 * time.Millisecond, NoBaseline: noBaseline, Dir: t.TempDir(), Judge: equal}
	m, err := harness.Measure(t.Context(), c, program(t, reference, "testdata/cheats/plain.py", t.TempDir(), ""),
		program(t, solution, "testdata/cheats/plain.py", t.TempDir(), ""), settings)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func open(ctx context.Context, t *testing.T, kind string, private bool, limits harness.Limits) *harness.Session {
	t.Helper()
	return openOn(ctx, t, kind, "", private, limits)
}

// openOn opens a worker on a device, "" being the CPU.
func openOn(ctx context.Context, t *testing.T, kind, device string, private bool, limits harness.Limits) *harness.Session {
	t.Helper()
	return openIn(ctx, t, command(t, kind), harness.Hello{Device: cmp.Or(device, "cpu"), Private: private}, limits)
}

// openIn opens a worker with variables of its own.
func openIn(ctx context.Context, t *testing.T, args []string, hello harness.Hello, limits harness.Limits, env ...string) *harness.Session {
	t.Helper()
	w := &worker.Isolated{Environ: os.Environ(), Grace: 100 * time.Millisecond, MaxStdout: 16 << 20}
	s, err := harness.Open(ctx, w, worker.Request{Args: args, Env: env}, hello, limits, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func program(t *testing.T, s *harness.Session, file, dir, style string) harness.Program {
	t.Helper()
	text, err := os.ReadFile(file)
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "main"+filepath.Ext(file)), text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Ext(file) == ".c" {
		return harness.Program{Session: s, Build: harness.Build{Language: "c", EntryPoint: "main.c::run", Dir: dir, DPS: true}}
	}
	return harness.Program{Session: s, Build: harness.Build{Language: "python", EntryPoint: "main.py::run", Dir: dir, DPS: style == "dps", Setup: true}}
}

func equal(p harness.Pair) (evaluator.Status, error) {
	if !bytes.Equal(p.Reference[0].Tensor.Data, p.Solution[0].Tensor.Data) {
		return evaluator.IncorrectNumerical, nil
	}
	return evaluator.Passed, nil
}

func takesAsLong(t *testing.T, timing harness.Timing, minimum string) {
	t.Helper()
	if minimum == "" {
		return
	}
	bound, err := strconv.ParseInt(minimum, 10, 64)
	if err != nil || len(timing.NS) == 0 {
		t.Fatalf("%d trials were timed (%v)", len(timing.NS), err)
	}
	for _, trial := range timing.NS {
		for _, ns := range trial {
			if ns < bound {
				t.Errorf("a call of at least %d ns was timed as %d ns", bound, ns)
			}
		}
	}
}

// gone waits until a process has ended, which takes no longer than the test may.
func gone(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(string(text))
	if err != nil || pid <= 1 {
		t.Fatalf("process %q: %v", text, err)
	}
	for range 500 {
		p, err := os.FindProcess(pid)
		if err != nil || errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %d, which the solution left behind, still runs", pid)
}
