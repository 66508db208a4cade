package casefile_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/cases/casefile"
)

func TestSave(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a.json")
	place(t, path, "old", false)
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, filepath.Join(dir, "new.json")} {
		if err := casefile.Save(name, []byte("new")); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(name); err != nil || string(got) != "new" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
		t.Errorf("got %v, %v, want the old permissions", info.Mode(), err)
	}
}

func TestSaveErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, link, folder := filepath.Join(dir, "a.json"), filepath.Join(dir, "b.json"), filepath.Join(dir, "c.json")
	place(t, file, "old", false)
	place(t, folder, "", true)
	place(t, link, "->a.json", false)
	for path, want := range map[string]string{
		link:   "write " + link + ": it is a link, which is not followed: put the file itself there",
		folder: "write " + folder + ": it is not a file: move it out of the folder of cases",
	} {
		if err := casefile.Save(path, []byte("new")); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != "old" {
		t.Errorf("the link's target is %q, %v", got, err)
	}
}
