//go:build unix

package safetensors_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/accelgate/accelgate/internal/tensor/safetensors"
)

// TestPipesAreNotWaitedFor: a pipe under the name of a file has no writer, and
// opening it would never return.
func TestPipesAreNotWaitedFor(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := safetensors.Open(path); err == nil {
		t.Error("a pipe is opened")
	}
	if _, err := safetensors.Read(path, 9); err == nil {
		t.Error("a pipe is read")
	}
	for _, name := range []string{"model.safetensors", "model.safetensors.index.json"} {
		dir := t.TempDir()
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := safetensors.OpenCheckpoint(dir); err == nil {
			t.Errorf("a checkpoint of a pipe %s is opened", name)
		}
	}
}
