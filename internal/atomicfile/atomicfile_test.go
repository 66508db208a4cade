package atomicfile_test

import (
	"os"
	"path/filepath"
	"strings"
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

// TestMkdirAll: folders that exist are fine, a file in the way is an error that
// names it, and what root makes belongs to the owner of the folder above.
func TestMkdirAll(t *testing.T) {
	above := t.TempDir()
	if os.Geteuid() == 0 {
		if err := os.Chown(above, 1001, 121); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(above, "a", "b")
	for range 2 {
		if err := atomicfile.MkdirAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.Stat(above)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.Stat(dir)
	if err != nil || !sameOwner(got, want) {
		t.Errorf("%s: %v, owner %+v, want that of %s", dir, err, got, above)
	}
	file := filepath.Join(above, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.MkdirAll(filepath.Join(file, "x")); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("below a file: %v, want an error that names it", err)
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
	if err := os.Symlink(os.DevNull, filepath.Join(dir, "null")); err == nil {
		if err := atomicfile.Write(filepath.Join(dir, "null"), []byte("x")); err == nil {
			t.Error("writing over a link to a device must fail")
		}
		os.Remove(filepath.Join(dir, "null"))
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("folder holds %v, want no temporary file", entries)
	}
}
