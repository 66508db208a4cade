//go:build unix

package workers_test

import (
	"os/exec"
	"testing"

	"github.com/accelgate/accelgate/internal/testtier"
)

// TestKeptLibraries runs what testdata/native/kept.py demands of compiled solutions.
func TestKeptLibraries(t *testing.T) {
	t.Parallel()
	python := interpreter("json")
	if python == "" {
		testtier.Missing(t, "kept libraries of compiled solutions were NOT tested: install python3")
	}
	if out, err := exec.CommandContext(t.Context(), python, "testdata/native/kept.py", folder(t), t.TempDir()).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
