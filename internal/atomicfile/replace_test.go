package atomicfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/accelgate/accelgate/internal/atomicfile"
)

// TestReplaceIsWhole: the new folder has no file of the old one, an error leaves the old one, and nothing stays beside it.
func TestReplaceIsWhole(t *testing.T) {
	above := t.TempDir()
	dir := filepath.Join(above, "site")
	fill := func(name string, err error) error {
		return atomicfile.Replace(dir, func(dir string) error {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o644); err != nil {
				return err
			}
			return err
		})
	}
	holds := func(want string) {
		t.Helper()
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 || entries[0].Name() != want {
			t.Errorf("folder holds %v, %v, want %s alone", entries, err, want)
		}
		if entries, err := os.ReadDir(above); err != nil || len(entries) != 1 {
			t.Errorf("beside it are %v, %v, want nothing", entries, err)
		}
	}
	if err := fill("one", nil); err != nil {
		t.Fatal(err)
	}
	holds("one")
	if err := fill("two", nil); err != nil {
		t.Fatal(err)
	}
	holds("two")
	broken := errors.New("broken")
	if err := fill("three", broken); !errors.Is(err, broken) {
		t.Errorf("error is %v, want %v", err, broken)
	}
	holds("two")
}
