package worktree_test

import (
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/accelgate/accelgate/internal/reference/worktree"
)

func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestContentsCompare: each way in which a file can become another one is a difference, and
// times, folders, git's files and those of named folders are none.
func TestContentsCompare(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no mode and links need a privilege")
	}
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"same": "1", "text": "1", "mode": "1", "gone": "1", "kind": "1", "sub/deep": "1", ".git/index": "1", "sub/.git": "1", "sub/out/log": "1"})
	if err := os.Symlink("same", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	before, err := worktree.ReadContents(dir, "out")
	if err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(maps.Keys(before)); !slices.Equal(got, []string{"gone", "kind", "link", "mode", "same", "sub/deep", "text"}) {
		t.Fatalf("files: %q", got)
	}
	writeFiles(t, dir, map[string]string{"same": "1", "text": "2", ".git/index": "2", "sub/.git": "2", "sub/out/log": "2", "sub/new": "1"})
	for _, change := range []error{
		os.Chmod(filepath.Join(dir, "mode"), 0o755), os.Remove(filepath.Join(dir, "gone")), os.Remove(filepath.Join(dir, "kind")),
		os.Symlink("same", filepath.Join(dir, "kind")), os.Remove(filepath.Join(dir, "link")), os.Symlink("text", filepath.Join(dir, "link")),
		os.Mkdir(filepath.Join(dir, "empty"), 0o755),
	} {
		if change != nil {
			t.Fatal(change)
		}
	}
	after, err := worktree.ReadContents(dir, "out")
	if err != nil {
		t.Fatal(err)
	}
	changed, added := before.Compare(after)
	if !slices.Equal(changed, []string{"gone", "kind", "link", "mode", "text"}) || !slices.Equal(added, []string{"sub/new"}) {
		t.Errorf("changed %q, added %q", changed, added)
	}
}

// TestReadContentsFollowsNoLink: a link that leads out of the folder is read as a link.
func TestReadContentsFollowsNoLink(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	writeFiles(t, outside, map[string]string{"secret": "1"})
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Skip("links need a privilege: ", err)
	}
	got, err := worktree.ReadContents(dir)
	if err != nil || !maps.Equal(got, worktree.Contents{"link": "link " + outside}) {
		t.Errorf("%v, %v", got, err)
	}
}

// TestDiscard: what git has or ignores stays.
func TestDiscard(t *testing.T) {
	r := repository(t)
	writeFiles(t, r.Dir, map[string]string{".git/info/exclude": "output\n", "output": "1", "tracked": "1", "left/by/run": "1", "left/stays": "1"})
	if _, err := r.Git(t.Context(), r.Dir, "add", "tracked"); err != nil {
		t.Fatal(err)
	}
	if err := r.Discard(t.Context(), r.Dir, []string{"left/by/run", "output", "tracked"}); err != nil {
		t.Fatal(err)
	}
	got, err := worktree.ReadContents(r.Dir)
	if names := slices.Sorted(maps.Keys(got)); err != nil || !slices.Equal(names, []string{"left/stays", "output", "tracked"}) {
		t.Errorf("%q, %v", names, err)
	}
	if _, err := os.Lstat(filepath.Join(r.Dir, "left", "by")); !os.IsNotExist(err) {
		t.Errorf("the empty folder is there: %v", err)
	}
}
