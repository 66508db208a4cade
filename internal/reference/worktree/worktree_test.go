package worktree_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/reference/worktree"
	"github.com/accelgate/accelgate/internal/worker"
)

func repository(t *testing.T) *worktree.Repository {
	t.Helper()
	r := &worktree.Repository{Worker: &worker.Isolated{Environ: os.Environ()}, Dir: t.TempDir(), Now: time.Now}
	for _, args := range [][]string{{"init", "-q"}, {"-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "--allow-empty", "-m", "first"}} {
		if _, err := r.Git(t.Context(), r.Dir, args...); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// TestOnlyStaleFoldersAreRemoved: a folder is another process's as long as its lease
// is held, and stale after that.
func TestOnlyStaleFoldersAreRemoved(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	r := repository(t)
	f, err := r.Temporary(t.Context(), "accelgate-test-", "test")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"good", "head"} {
		if _, err := f.Add(t.Context(), name, "HEAD"); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := r.RemoveStale(t.Context(), "accelgate-test-"); n != 0 || err != nil {
		t.Errorf("in use: %d removed, %v", n, err)
	}
	if _, err := r.Lease(t.Context(), f.Root, "test"); err == nil {
		t.Error("leased twice")
	}
	f.Release() // as the end of the process does
	if n, err := r.RemoveStale(t.Context(), "accelgate-other-"); n != 0 || err != nil {
		t.Errorf("of another prefix: %d removed, %v", n, err)
	}
	if n, err := r.RemoveStale(t.Context(), "accelgate-test-"); n != 1 || err != nil {
		t.Errorf("stale: %d removed, %v", n, err)
	}
	if _, err := os.Stat(f.Root); !os.IsNotExist(err) {
		t.Errorf("the folder is there: %v", err)
	}
	if list, err := r.Git(t.Context(), r.Dir, "worktree", "list"); err != nil || strings.Contains(list, "\n") {
		t.Errorf("git lists: %s, %v", list, err)
	}
}

// TestTidyKeepsWhatIsIgnored: a build's output stays, and its changes do not.
func TestTidyKeepsWhatIsIgnored(t *testing.T) {
	r := repository(t)
	for name, text := range map[string]string{".git/info/exclude": "output\n", "output": "built", "left": "by a run"} {
		if err := os.WriteFile(filepath.Join(r.Dir, filepath.FromSlash(name)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Tidy(t.Context(), r.Dir); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"output": true, "left": false} {
		if _, err := os.Stat(filepath.Join(r.Dir, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// bounded is a worker whose children may print so many bytes.
func bounded(t *testing.T, maximum int) worker.Worker {
	t.Helper()
	return &worker.Isolated{Environ: os.Environ(), MaxStdout: maximum}
}
