package harness_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/suite/kernels/harness"
	"github.com/accelgate/accelgate/internal/tensor"
	"github.com/accelgate/accelgate/internal/worker"
)

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func TestHello(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, "plain", harness.Limits{})
	h := s.Hello()
	if h.Kind != "go" || h.PID <= 0 || h.PID == os.Getpid() || !slices.Contains(h.DTypes, tensor.BF16) {
		t.Errorf("hello %+v", h)
	}
}

func TestOpenRefusesAnotherProtocol(t *testing.T) {
	t.Parallel()
	_, err := open(t, "other proto", harness.Limits{})
	var f *harness.Failure
	if !errors.As(err, &f) || f.Kind != harness.Broke || !strings.Contains(f.Message, "fib-worker/2") {
		t.Errorf("got %v, want the protocol refused", err)
	}
}

func TestOpenSaysThatThereIsNoProgram(t *testing.T) {
	t.Parallel()
	_, err := harness.Open(within(t), new(worker.Isolated), worker.Request{Args: []string{"no-such-worker"}}, harness.Hello{}, harness.Limits{}, time.Now)
	if !errors.Is(err, worker.ErrNotFound) {
		t.Errorf("got %v, want not found", err)
	}
}

func TestReportedFailureLeavesTheWorkerAlive(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, "plain", harness.Limits{})
	for _, c := range []struct {
		name string
		call func() error
		kind harness.Kind
	}{
		{"unknown function", func() error { _, err := s.Run(within(t), harness.Run{ID: "f"}); return err }, harness.Runtime},
		{"language", func() error { _, err := s.Build(within(t), harness.Build{ID: "f", Language: "cuda"}); return err }, harness.Unsupported},
		{"entry", func() error {
			_, err := s.Build(within(t), harness.Build{ID: "f", Language: "go", DPS: true, EntryPoint: "x::y"})
			return err
		}, harness.Compile},
		{"timer", func() error {
			_, _, err := s.Time(within(t), harness.Time{Order: []int{0}, Timer: "cupti"})
			return err
		}, harness.Unsupported},
	} {
		var f *harness.Failure
		if err := c.call(); !errors.As(err, &f) || f.Kind != c.kind || f.Dead {
			t.Errorf("%s: got %v, want a failure of kind %s", c.name, err, c.kind)
		}
	}
	if err := s.Check(within(t)); err != nil || s.Dead() {
		t.Errorf("after failures: %v, dead %v", err, s.Dead())
	}
}

func TestCancellingEndsTheWorkerAndKeepsItsLog(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, "loud sleeper", harness.Limits{})
	ctx, cancel := context.WithCancelCause(within(t))
	cause := errors.New("enough")
	time.AfterFunc(50*time.Millisecond, func() { cancel(cause) })
	_, err := s.Run(ctx, harness.Run{})
	if !errors.Is(err, cause) || !s.Dead() {
		t.Errorf("got %v, dead %v, want it cancelled", err, s.Dead())
	}
	if err := s.Check(within(t)); !errors.Is(err, cause) {
		t.Errorf("a later request: %v, want the same cause", err)
	}
}

func TestLogEventsAreLogged(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, "talks", harness.Limits{})
	var f *harness.Failure
	if _, err := s.Run(within(t), harness.Run{ID: "none"}); !errors.As(err, &f) || !strings.Contains(f.Log, "warming up") {
		t.Errorf("got %v, log %q", err, s.Log())
	}
}

// BenchmarkRequest compares a request with the bare round trip of as many bytes
// over the pipes of a process that does nothing. They take turns. What a request
// costs besides its kernel is "request-us".
func BenchmarkRequest(b *testing.B) {
	s := mustOpen(b, "plain", harness.Limits{})
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	bare := exec.Command(self)
	bare.Env = append(os.Environ(), childMode+"=echo")
	in, _ := bare.StdinPipe()
	stdout, _ := bare.StdoutPipe()
	if err := bare.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		in.Close()
		_ = bare.Wait()
	})
	out := bufio.NewReader(stdout)
	line := []byte(strings.Repeat("x", 100) + "\n")
	ctx, request := b.Context(), harness.Run{Args: []string{}, Out: []string{}}
	var times [2][]time.Duration
	for b.Loop() {
		start := time.Now()
		if _, err := in.Write(line); err != nil {
			b.Fatal(err)
		}
		if _, err := out.ReadSlice('\n'); err != nil {
			b.Fatal(err)
		}
		turn := time.Now()
		if _, err := s.Run(ctx, request); err != nil {
			b.Fatal(err)
		}
		times[0], times[1] = append(times[0], turn.Sub(start)), append(times[1], time.Since(turn))
	}
	for i, name := range []string{"bare-us", "request-us"} {
		slices.Sort(times[i])
		b.ReportMetric(float64(times[i][len(times[i])/2].Nanoseconds())/1000, name)
	}
}
