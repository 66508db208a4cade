package gates_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/e2e/script"
)

func TestMain(m *testing.M)   { script.Main(m) }
func TestScript(t *testing.T) { script.Run(t) }

// TestExamplesAreProved finds a script for each configuration in examples/ that has selftest prove its gate.
func TestExamplesAreProved(t *testing.T) {
	var scripts strings.Builder
	names, err := filepath.Glob("*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\ncode 0 accelgate selftest ") {
			scripts.Write(text)
		}
	}
	examples, found := os.DirFS(filepath.Join("..", "..", "examples")), 0
	err = fs.WalkDir(examples, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".yaml" {
			return err
		}
		found++
		if !strings.Contains(scripts.String(), "\ncp $EXAMPLES/"+path+" ") {
			t.Errorf("no script runs examples/%s and then accelgate selftest", path)
		}
		return nil
	})
	if err != nil || found < 15 {
		t.Errorf("%d examples, %v", found, err)
	}
}
