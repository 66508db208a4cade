//go:build linux

package worker_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/accelgate/accelgate/internal/worker"
)

// containerTree is the test of the other workers: the same child, which needs
// this machine's libraries in the container.
func containerTree(t *testing.T, e *testEngine) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	mounts := []string{filepath.Dir(self) + ":" + filepath.Dir(self) + ":ro"}
	for _, dir := range []string{"/lib", "/lib64", "/usr/lib"} {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			mounts = append(mounts, real+":"+dir+":ro")
		}
	}
	testNothingSurvives(t, subject{"container", false, func() worker.Worker {
		w := e.worker(t)
		w.Mounts, w.Grace = mounts, soon
		return w
	}}, leftovers, "timeout", "success")
}
