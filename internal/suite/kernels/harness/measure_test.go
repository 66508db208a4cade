package harness_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/suite/kernels/evaluator"
	"github.com/accelgate/accelgate/internal/suite/kernels/harness"
	"github.com/accelgate/accelgate/internal/tensor"
	"github.com/accelgate/accelgate/internal/testing/testtier"
	"github.com/accelgate/accelgate/internal/worker"
)

// open starts a worker: plain, or one of the cheats.
func open(t testing.TB, mode string, limits harness.Limits, env ...string) (*harness.Session, error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w := &worker.Isolated{Grace: 10 * time.Millisecond, MaxStdout: 1 << 20}
	req := worker.Request{Args: []string{self}, Env: append(env, childMode+"="+mode, "GORACE=atexit_sleep_ms=0")}
	s, err := harness.Open(within(t), w, req, harness.Hello{}, limits, time.Now)
	if err == nil {
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return s, err
}

func mustOpen(t testing.TB, mode string, limits harness.Limits, env ...string) *harness.Session {
	t.Helper()
	s, err := open(t, mode, limits, env...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// within ends a test that hangs. No test asserts a time.
func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// small is a multiplication.
var small = harness.Case{
	Definition: "gemm_n64_k96", Workload: "w",
	Inputs: []harness.Input{
		{Name: "A", DType: tensor.F16, Shape: []int{32, 96}},
		{Name: "B", DType: tensor.F16, Shape: []int{64, 96}},
	},
	Outputs: []harness.Output{{Name: "C", DType: tensor.F16, Shape: []int{32, 64}}},
}

func program(s *harness.Session, entry string) harness.Program {
	return harness.Program{Session: s, Build: harness.Build{Language: "go", EntryPoint: "builtin::" + entry, DPS: true}}
}

// same judges by equality, which both versions of gemm have.
func same(p harness.Pair) (evaluator.Status, error) {
	for i, want := range p.Reference {
		if !bytes.Equal(want.Tensor.Data, p.Solution[i].Tensor.Data) {
			return evaluator.IncorrectNumerical, nil
		}
	}
	return evaluator.Passed, nil
}

// quick is too little to check a timer.
func quick(t testing.TB) harness.Settings {
	return harness.Settings{Warmup: 1, Iterations: 4, Trials: 2, MaxIterations: 8, MinTime: time.Hour, MaxFresh: 16, Dir: t.TempDir(), Judge: same}
}

func TestMeasureHonest(t *testing.T) {
	t.Parallel()
	var pairs []harness.Pair
	s := quick(t)
	s.Judge = func(p harness.Pair) (evaluator.Status, error) {
		pairs = append(pairs, p)
		return same(p)
	}
	ref, sol := mustOpen(t, "plain", harness.Limits{}), mustOpen(t, "plain", harness.Limits{})
	m, err := harness.Measure(within(t), small, program(ref, "gemm"), program(sol, "gemm_blocked"), s)
	if err != nil || m.Status != evaluator.Passed || m.Failed != nil {
		t.Fatalf("status %s, reason %q, error %v", m.Status, m.Reason, err)
	}
	if len(pairs) < s.Trials*3+2+3+3 { // more where the host is disturbed, or calls are fast
		t.Errorf("%d pairs were judged, want 3 before the timing of each trial, 2 of rounds with fresh inputs, 3 between inputs that were met before, and 3 in the end", len(pairs))
	}
	for i, p := range pairs {
		for _, q := range pairs[:i] {
			if bytes.Equal(p.Reference[0].Tensor.Data, q.Reference[0].Tensor.Data) != (p.Trial == q.Trial && p.Set == q.Set) {
				t.Errorf("trial %d set %d and trial %d set %d share outputs, or do not and should", p.Trial, p.Set, q.Trial, q.Set)
			}
		}
	}
	for _, timing := range []harness.Timing{m.Reference, m.Solution} {
		if timing.Timer != "wall" || len(timing.NS) != s.Trials || len(timing.NS[0]) < s.Iterations || // fewer where calls are slow
			len(timing.NS[0]) != timing.Calls[0] ||
			len(timing.Slope) != s.Trials || len(timing.Values) != len(timing.Slope[0])+len(timing.Slope[1]) {
			t.Errorf("timer %q, %d trials, %d slopes, calls %v, values %v", timing.Timer, len(timing.NS), len(timing.Slope), timing.Calls, timing.Values)
		}
	}
	if !strings.Contains(strings.Join(m.Warnings, "\n"), "not checked") {
		t.Errorf("warnings %q, want that the timer was not checked", m.Warnings)
	}
	if left, _ := os.ReadDir(s.Dir); len(left) > 0 {
		t.Errorf("%d folders are left behind", len(left))
	}
}

func TestMeasureServesManyCases(t *testing.T) {
	t.Parallel()
	ref, sol := mustOpen(t, "plain", harness.Limits{}), mustOpen(t, "plain", harness.Limits{})
	for _, entry := range []string{"gemm", "no_such_kernel", "gemm_blocked"} {
		m, err := harness.Measure(within(t), small, program(ref, "gemm"), program(sol, entry), quick(t))
		want := evaluator.Passed
		if entry == "no_such_kernel" {
			want = evaluator.CompileError
		}
		if err != nil || m.Status != want {
			t.Errorf("%s: status %s, reason %q, error %v, want %s", entry, m.Status, m.Reason, err, want)
		}
	}
	if ref.Dead() || sol.Dead() {
		t.Error("a worker was ended for a build that failed")
	}
}

// TestCheatsAreCaught runs each cheat as the solution.
func TestCheatsAreCaught(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]struct {
		status evaluator.Status
		kind   harness.Kind
		reason string
		limits harness.Limits
	}{
		"prints":       {evaluator.RuntimeError, harness.Broke, "here I am", harness.Limits{}},
		"prints json":  {evaluator.RuntimeError, harness.Broke, "neither an event nor a reply", harness.Limits{}},
		"floods":       {evaluator.RuntimeError, harness.Broke, "more than 1048576 bytes", harness.Limits{}},
		"other seq":    {evaluator.RuntimeError, harness.Broke, "replies to request 1,", harness.Limits{}},
		"odd event":    {evaluator.RuntimeError, harness.Broke, "unknown event", harness.Limits{}},
		"closes":       {evaluator.RuntimeError, harness.Died, "closed its output", harness.Limits{}},
		"exits":        {evaluator.RuntimeError, harness.Died, "exit code 0", harness.Limits{}},
		"mute":         {evaluator.Timeout, harness.Silent, "no sign of life", harness.Limits{Silence: 3 * time.Second}},
		"loud sleeper": {evaluator.Timeout, harness.TimedOut, "no reply within", harness.Limits{Run: 2 * time.Second}},
		"skips":        {evaluator.IncorrectNumerical, harness.Unwritten, `"C" was left`, harness.Limits{}},
		"skips timed":  {evaluator.IncorrectNumerical, harness.Unwritten, `"C" was left`, harness.Limits{}},
		"other file":   {evaluator.RuntimeError, harness.Runtime, "cannot be read", harness.Limits{}},
		"symlink":      {evaluator.RuntimeError, harness.Runtime, "cannot be read", harness.Limits{}},
		"few times":    {evaluator.RuntimeError, harness.Broke, "times for", harness.Limits{}},
		"past times":   {evaluator.RuntimeError, harness.Broke, "negative time", harness.Limits{}},
		"cached":       {evaluator.IncorrectNumerical, "", "", harness.Limits{}},
		"nan":          {evaluator.IncorrectNumerical, "", "", harness.Limits{}},
		"dtype":        {evaluator.IncorrectDType, harness.WrongDType, "bfloat16", harness.Limits{}},
		"shape":        {evaluator.IncorrectShape, harness.WrongShape, "[2048]", harness.Limits{}},
		"lies dtype":   {evaluator.RuntimeError, harness.Runtime, "is declared as int16", harness.Limits{}},
		"lies name":    {evaluator.RuntimeError, harness.Broke, "cannot be true", harness.Limits{}},
		"other inputs": {evaluator.RuntimeError, harness.Broke, "other bytes", harness.Limits{}},
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			ref, sol := mustOpen(t, "plain", harness.Limits{}), mustOpen(t, mode, want.limits)
			m, err := harness.Measure(within(t), small, program(ref, "gemm"), program(sol, "gemm_blocked"), quick(t))
			if err != nil || m.Status != want.status || !strings.Contains(m.Reason, want.reason) {
				t.Fatalf("status %s, reason %q, error %v, want %s and %q", m.Status, m.Reason, err, want.status, want.reason)
			}
			if want.kind == "" {
				return
			}
			if m.Failed == nil || m.Failed.Kind != want.kind || m.Blame != "solution" {
				t.Errorf("failure %v of the %s, want the kind %s of the solution", m.Failed, m.Blame, want.kind)
			}
			if ref.Dead() || sol.Dead() != m.Failed.Dead {
				t.Errorf("dead: reference %v, solution %v, want false and %v", ref.Dead(), sol.Dead(), m.Failed.Dead)
			}
		})
	}
}

// TestTamperedFileIsSuspect has another process change what the reference saved,
// as a process that a solution left behind could.
func TestTamperedFileIsSuspect(t *testing.T) {
	t.Parallel()
	ref, sol := mustOpen(t, "nan", harness.Limits{}), mustOpen(t, "plain", harness.Limits{})
	m, err := harness.Measure(within(t), small, program(ref, "gemm"), program(sol, "gemm"), quick(t))
	if err != nil || m.Status != evaluator.Suspect || m.Failed == nil || m.Failed.Kind != harness.Tampered || m.Blame != "solution" {
		t.Errorf("status %s, reason %q, error %v, blame %q, want a suspicion", m.Status, m.Reason, err, m.Blame)
	}
	if ref.Dead() || sol.Dead() {
		t.Error("a worker was ended for a file")
	}
}

func TestPatchedTimerIsSuspect(t *testing.T) {
	if testtier.Race {
		t.Skip("TestMeasureServesManyCases has the same goroutines")
	}
	t.Parallel()
	s := harness.Settings{Warmup: 1, Iterations: 4, Trials: 3, MinTime: 3 * time.Millisecond, MaxFresh: 16, Dir: t.TempDir(), Judge: same}
	ref, sol := mustOpen(t, "plain", harness.Limits{}), mustOpen(t, "fast timer", harness.Limits{})
	suspected := func(m harness.Measurement) bool {
		return m.Status == evaluator.Suspect && strings.Contains(m.Reason, "reports that a call takes 100ns")
	}
	m, err := harness.Measure(within(t), small, program(ref, "gemm"), program(sol, "gemm"), s)
	for n := 1; n < 4 && err == nil && !suspected(m); n++ { // a loaded host decides nothing
		t.Logf("attempt %d of 4: the timer is not suspected: %s %s", n, m.Status, m.Reason)
		m, err = harness.Measure(within(t), small, program(ref, "gemm"), program(sol, "gemm"), s)
	}
	switch {
	case err == nil && suspected(m):
	case err == nil && (m.Status == evaluator.Inconclusive || m.Status == evaluator.Suspect): // nothing that counts
	case err == nil && m.Status == evaluator.Passed && stats.Median(m.Solution.Values) > 1000: // TestCheats has hosts that decide
		t.Log("no attempt of 4 suspected the timer, and its lie did not count: the times are by our clock")
	default:
		t.Errorf("status %s, reason %q, error %v, values %v, want a suspicion, or times by our clock", m.Status, m.Reason, err, m.Solution.Values)
	}
	if len(m.Solution.NS) != s.Trials {
		t.Errorf("%d trials were kept for whoever looks into it, want %d", len(m.Solution.NS), s.Trials)
	}
}

func TestSurvivorIsEnded(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conns := make(chan []net.Conn, 1)
	go func() {
		first, err1 := l.Accept()
		second, err2 := l.Accept()
		if errors.Join(err1, err2) == nil {
			for _, c := range []net.Conn{first, second} {
				_, _ = c.Write([]byte("x"))
			}
		}
		conns <- []net.Conn{first, second}
	}()
	ref, sol := mustOpen(t, "plain", harness.Limits{}), mustOpen(t, "survivor", harness.Limits{}, childAddr+"="+l.Addr().String())
	m, err := harness.Measure(within(t), small, program(ref, "gemm"), program(sol, "gemm"), quick(t))
	if err != nil || m.Status != evaluator.RuntimeError || m.Failed.Kind != harness.Died {
		t.Errorf("status %s, reason %q, error %v, want that it died", m.Status, m.Reason, err)
	}
	for _, conn := range <-conns {
		_ = conn.SetDeadline(time.Now().Add(time.Minute))
		if _, err := io.Copy(io.Discard, conn); err != nil && !strings.Contains(err.Error(), "reset") {
			t.Errorf("a process lives on: %v", err)
		}
		conn.Close()
	}
}

func TestBrokenReferenceIsBlamed(t *testing.T) {
	t.Parallel()
	ref, sol := mustOpen(t, "exits", harness.Limits{}), mustOpen(t, "plain", harness.Limits{})
	m, err := harness.Measure(within(t), small, program(ref, "gemm"), program(sol, "gemm"), quick(t))
	if err != nil || m.Status != evaluator.RuntimeError || m.Blame != "reference" {
		t.Errorf("status %s, blamed %q, error %v, want the reference blamed", m.Status, m.Blame, err)
	}
}

func TestCorruptedDeviceEndsItsWorker(t *testing.T) {
	t.Parallel()
	ref, sol := mustOpen(t, "plain", harness.Limits{}), mustOpen(t, "corrupts", harness.Limits{})
	m, err := harness.Measure(within(t), small, program(ref, "gemm"), program(sol, "gemm"), quick(t))
	if err != nil || m.Failed == nil || m.Failed.Kind != harness.Runtime || !sol.Dead() {
		t.Errorf("failure %v, dead %v, error %v, want a runtime error and the end of the worker", m.Failed, sol.Dead(), err)
	}
}

func TestDrawsAreStacked(t *testing.T) {
	t.Parallel()
	c := harness.Case{
		Definition: "top_p_sampling_from_probs_v50", Workload: "w", Draws: 200,
		Inputs: []harness.Input{
			{Name: "probs", DType: tensor.Float32, Shape: []int{2, 50}, Dist: harness.Probabilities},
			{Name: "top_p", DType: tensor.Float32, Shape: []int{2}},
		},
		Outputs: []harness.Output{{Name: "samples", DType: tensor.Int64, Shape: []int{2}}},
	}
	s := quick(t)
	draws := 0
	s.Judge = func(p harness.Pair) (evaluator.Status, error) {
		if p.Draws {
			draws++
			if got := p.Solution[0].Tensor.Shape; !slices.Equal(got, []int{200, 2}) {
				t.Errorf("draws of shape %v, want [200 2]", got)
			}
		}
		return evaluator.Passed, nil
	}
	ref, sol := mustOpen(t, "plain", harness.Limits{}), mustOpen(t, "plain", harness.Limits{})
	m, err := harness.Measure(within(t), c, program(ref, "top_p_sampling"), program(sol, "top_p_sampling_blocked"), s)
	if err != nil || m.Status != evaluator.Passed || draws != 1 {
		t.Errorf("status %s, reason %q, error %v, %d draws", m.Status, m.Reason, err, draws)
	}
}

func TestRandomInputsAreWhatWorkersMake(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, "plain", harness.Limits{})
	in := small.Inputs[0]
	c := small
	c.Secret = harness.NewSecret()
	own, err := c.Random(in, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	q := harness.Tensor{Name: "x", DType: in.DType, Shape: in.Shape, Digest: true,
		Random: &harness.Random{Seed: c.Secret.Seed(small.Definition, small.Workload, in.Name, 1, 2)}}
	reply, err := s.Tensor(within(t), q)
	if err != nil || reply.Digest != digestOf(own.Data) {
		t.Errorf("digest %s, error %v, want that of our own", reply.Digest, err)
	}
}
