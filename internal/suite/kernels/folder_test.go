//go:build unix

package kernels

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFoldersOfTheDead: folders without an owner go, and no others.
func TestFoldersOfTheDead(t *testing.T) {
	parent := t.TempDir()
	t.Setenv("TMPDIR", parent)
	scratch := filepath.Join(parent, "scratch")
	left := map[string]bool{}
	for _, dir := range []string{parent, scratch} {
		for _, name := range []string{"accelgate-kernels-1/a/b", "accelgate-kernels-2", "accelgate-other-3", "kept"} {
			if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
				t.Fatal(err)
			}
			top, _, _ := strings.Cut(name, "/")
			left[filepath.Join(dir, top)] = !strings.HasPrefix(name, folderName)
		}
	}
	shared := filepath.Join(parent, "accelgate-kernels-4") // made for other users too
	file := filepath.Join(parent, "accelgate-kernels-5")
	link := filepath.Join(parent, "accelgate-kernels-6")
	for _, err := range []error{os.Mkdir(shared, 0o700), os.Chmod(shared, 0o755), os.WriteFile(file, nil, 0o600), os.Symlink(filepath.Join(parent, "kept"), link)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	left[shared], left[file], left[link] = true, true, true
	first := mustOpen(t, t.TempDir(), "reference: go\nscratch: "+scratch)
	for path, stays := range left {
		if _, err := os.Lstat(path); (err == nil) != stays {
			t.Errorf("%s: %v, want that it stays: %v", path, err, stays)
		}
	}
	second := mustOpen(t, t.TempDir(), "reference: go\nscratch: "+scratch)
	if len(first.folders) != 2 || len(second.folders) != 2 {
		t.Fatalf("%d and %d folders", len(first.folders), len(second.folders))
	}
	for _, f := range append(first.folders, second.folders...) {
		if info, err := os.Stat(f.path); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("the folder of a live suite: %v", err)
		}
	}
	if filepath.Dir(first.outputs) != scratch || filepath.Dir(first.dir) != parent {
		t.Errorf("outputs are in %s, and the rest in %s", first.outputs, first.dir)
	}
	if _, err := open(t, t.TempDir(), "scratch: nowhere"); err == nil || !strings.Contains(err.Error(), "scratch: ") || !strings.Contains(err.Error(), "name a folder that exists") {
		t.Errorf("got %v", err)
	}
}
