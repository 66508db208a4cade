package worktree_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/reference/worktree"
)

// TestUndoGivesFilesBack: a program stays one, a link stays one, and what was not there is
// not there again.
func TestUndoGivesFilesBack(t *testing.T) {
	heads, base := repository(t), repository(t)
	for path, text := range map[string]string{
		filepath.Join(heads.Dir, "bench", "new"): "new", filepath.Join(heads.Dir, "bench", "run"): "head", filepath.Join(heads.Dir, "bench", "link"): "file",
		filepath.Join(base.Dir, "bench", "run"): "base", filepath.Join(base.Dir, "bench", "gone"): "gone",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("run", filepath.Join(base.Dir, "bench", "link")); err != nil {
		t.Skip("no links here: ", err)
	}
	if _, err := base.Git(t.Context(), base.Dir, "add", "."); err != nil {
		t.Fatal(err)
	}
	before := contents(t, base)
	overlay, err := heads.Overlay(t.Context(), heads.Dir, []string{"bench"})
	if err != nil {
		t.Fatal(err)
	}
	laid, err := heads.Lay(t.Context(), overlay, base.Dir, true)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(laid.Names, " "), "bench/gone bench/link bench/new bench/run"; got != want {
		t.Errorf("laid %s, want %s", got, want)
	}
	if got, want := contents(t, base), contents(t, heads); got != want {
		t.Errorf("the base has %s, want the head's %s", got, want)
	}
	if err := laid.Undo(); err != nil {
		t.Fatal(err)
	}
	if got := contents(t, base); got != before {
		t.Errorf("after the end the base has %s, want %s", got, before)
	}
}

// contents are the files of a repository with their kinds.
func contents(t *testing.T, r *worktree.Repository) (all string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(r.Dir, "bench"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(r.Dir, "bench", e.Name()))
		info, infoErr := e.Info()
		if err != nil || infoErr != nil {
			t.Fatal(err, infoErr)
		}
		all += info.Mode().String() + " " + e.Name() + "=" + string(data) + "\n"
	}
	return all
}
