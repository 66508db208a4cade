package worker_test

import (
	"context"
	"os"
	"os/exec"
	"testing"

	"github.com/accelgate/accelgate/internal/worker"
)

// TestAKilledParentTakesItsChildAlong: kill -9 leaves the worker no time to end
// what it started.
func TestAKilledParentTakesItsChildAlong(t *testing.T) {
	t.Parallel()
	l := listen(t)
	parent := exec.Command(os.Args[0])
	parent.Env = []string{childMode + "=doomed", l.env()}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	child := l.accept()
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	dies(t, child)
}

// doomed runs a child that does not end, until it is killed.
func doomed(string) {
	w := &worker.Isolated{Environ: os.Environ()}
	_, _ = w.Do(context.Background(), worker.Request{Args: []string{os.Args[0]}, Env: []string{childMode + "=hold"}})
}
