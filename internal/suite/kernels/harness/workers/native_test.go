//go:build unix

package workers_test

import (
	"os/exec"
	"testing"

	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// TestParts runs what the programs in testdata/native demand of single parts of the torch worker, without torch.
func TestParts(t *testing.T) {
	t.Parallel()
	python := interpreter("json")
	if python == "" {
		testtier.Missing(t, "compiled solutions and device times were NOT tested: install python3")
	}
	for _, program := range []string{"kept.py", "observe.py"} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			command := exec.CommandContext(t.Context(), python, "testdata/native/"+program, folder(t), t.TempDir())
			if out, err := command.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
