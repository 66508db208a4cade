package worker_test

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/accelgate/accelgate/internal/testing/testtier"
	"github.com/accelgate/accelgate/internal/worker"
)

// After a timeout nothing lives of a tree that does all it can to live on.
func containerTimeout(t *testing.T, e *testEngine) {
	marker := "marker-" + rand.Text()
	w := e.worker(t)
	w.Grace = 100 * time.Millisecond
	req := e.request(t, "tree", marker)
	for req.Timeout = time.Second; ; req.Timeout *= 2 {
		got, err := w.Do(within(t), req)
		if err != nil {
			t.Fatal(err)
		}
		if got.End != worker.TimedOut || got.ExitCode != -1 || got.Signal != "killed" || !strings.Contains(got.Reason(), "timed out after") {
			t.Errorf("response %+v (%s), want one that was killed at the time limit", got, got.Reason())
		}
		if n := marked(t, marker); n != 0 {
			t.Errorf("%d processes live on", n)
		}
		if strings.Count(got.Log, "here") == 4 || t.Failed() {
			return
		}
	}
}

// A command that handles SIGTERM ends by itself.
func containerEndsInTime(t *testing.T, e *testEngine) {
	for code, want := range map[string]worker.Response{
		"7":   {End: worker.TimedOut, ExitCode: 7},
		"143": {End: worker.TimedOut, ExitCode: -1, Signal: "terminated"},
	} {
		w := e.worker(t)
		w.Grace = time.Minute
		req := e.request(t, "stay", code)
		for req.Timeout = time.Second; ; req.Timeout *= 2 {
			got, err := w.Do(within(t), req)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Stdout) == 0 { // not up in time
				continue
			}
			if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(worker.Response{}, "Wall", "Log", "Stdout"), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("response (-want +got):\n%s", diff)
			}
			break
		}
	}
}

func containerCancelled(t *testing.T, e *testEngine) {
	marker := "marker-" + rand.Text()
	w := e.worker(t)
	w.Grace = 10 * time.Millisecond
	reason := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		waitFor(t, "the container", func() bool { return marked(t, marker) > 0 })
		cancel(reason)
	}()
	got, err := w.Do(ctx, e.request(t, "hold", marker))
	if !errors.Is(err, reason) || got.End != worker.Cancelled {
		t.Errorf("error %v, response %+v, want a cancelled one", err, got)
	}
	if n := marked(t, marker); n != 0 {
		t.Errorf("%d processes live on", n)
	}
	if _, err := w.Do(ctx, e.request(t, "hold", marker)); !errors.Is(err, reason) {
		t.Errorf("error %v, want the cancellation", err)
	}
}

func containerOutOfMemory(t *testing.T, e *testEngine) {
	w := e.worker(t)
	w.Memory = 64 << 20
	got, err := w.Do(within(t), e.request(t, "eat"))
	if err != nil {
		t.Fatal(err)
	}
	if got.End != worker.Signalled || got.Signal != "killed" || got.ExitCode != -1 || !got.OutOfMemory {
		t.Errorf("response %+v (%s), want one that ran out of memory", got, got.Reason())
	}
}

// The engine's death in the middle is an error, as nothing more can be run.
func TestContainerEngineDiesThorough(t *testing.T) {
	testtier.Thorough(t)
	e := newEngine(t)
	if e.cli[0] != "podman" {
		t.Skip("docker is not ours to kill")
	}
	e.socket += "2"
	kill := e.serve(t)
	marker := "marker-" + rand.Text()
	w := e.worker(t)
	go func() {
		waitFor(t, "the container", func() bool { return marked(t, marker) > 0 })
		kill()
	}()
	defer func() { _ = e.command("rm", "--force", "--all").Run() }()
	got, err := w.Do(within(t), e.request(t, "hold", marker))
	if err == nil || !strings.Contains(err.Error(), "start it again") {
		t.Errorf("error %v, response %+v, want an error that says what to do", err, got)
	}
	_, err = w.Do(within(t), e.request(t, "exit", "0"))
	if err == nil || !strings.Contains(err.Error(), "start it again") {
		t.Errorf("error %v, want one that says what to do", err)
	}
}
