package atomicfile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/accelgate/accelgate/internal/atomicfile"
)

func TestWriteReplacesAndKeepsPermissions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "file.json")
	check := func(want string, wantMode os.FileMode) {
		t.Helper()
		if err := atomicfile.Write(path, []byte(want)); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != want {
			t.Errorf("content = %q, %v, want %q", got, err, want)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != wantMode {
			t.Errorf("mode = %v, %v, want %v", info.Mode(), err, wantMode)
		}
	}
	check("one", 0o644)
	check("two, longer", 0o644)
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	check("3", 0o600)
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("folder holds %v, %v, want the file alone", entries, err)
	}
}

func TestWriteLeavesNothingBehindOnError(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "taken")
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Write(path, []byte("x")); err == nil {
		t.Error("writing over a folder must fail")
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("folder holds %v, want no temporary file", entries)
	}
}
