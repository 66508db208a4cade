package worktree_test

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/reference/worktree"
)

// committed is a repository with files in folders, a program, a link, an empty file and a name with a space.
func committed(t *testing.T, format string) (r *worktree.Repository, commit string) {
	t.Helper()
	r = repository(t)
	if format != "sha1" {
		r.Dir = t.TempDir()
		git(t, r, "init", "-q", "--object-format="+format)
	}
	pointer := fmt.Sprintf("version https://git-lfs.github.com/spec/v1\noid sha256:%x\nsize 5\n", sha256.Sum256([]byte("large")))
	for name, text := range map[string]string{"a.txt": "a\nb\n", "deep/er/b": "b", "deep/er/c d": "c", "deep/empty": "", "deep.txt": "beside", "model.bin": pointer} {
		put(t, r, name, text)
	}
	put(t, r, "run", "#!/bin/sh\n")
	if err := os.Chmod(filepath.Join(r.Dir, "run"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("deep/er", filepath.Join(r.Dir, "link")); err != nil {
		t.Skip("no links here: ", err)
	}
	git(t, r, "add", ".")
	git(t, r, "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "-m", "files")
	return r, git(t, r, "rev-parse", "HEAD")
}

func git(t *testing.T, r *worktree.Repository, args ...string) string {
	t.Helper()
	out, err := r.Git(t.Context(), r.Dir, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func put(t *testing.T, r *worktree.Repository, name, text string) {
	t.Helper()
	path := filepath.Join(r.Dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestDifferencesFromTheCommit: each way to change a file of the commit is found, and what
// checkouts may differ by is not.
func TestDifferencesFromTheCommit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(r *worktree.Repository)
		want   string
	}{
		"nothing":              {func(*worktree.Repository) {}, ""},
		"a file":               {func(r *worktree.Repository) { put(t, r, "deep/er/b", "B") }, "deep/er/b"},
		"a file and the index": {func(r *worktree.Repository) { put(t, r, "a.txt", "B"); git(t, r, "add", ".") }, "a.txt"},
		"a removed file":       {func(r *worktree.Repository) { os.Remove(filepath.Join(r.Dir, "deep", "empty")) }, "deep/empty"},
		"a folder for a file":  {func(r *worktree.Repository) { os.Remove(filepath.Join(r.Dir, "run")); put(t, r, "run/x", "") }, "run"},
		"a link for a file": {func(r *worktree.Repository) {
			os.Remove(filepath.Join(r.Dir, "run"))
			os.Symlink("a.txt", filepath.Join(r.Dir, "run"))
		}, "run"},
		"another link": {func(r *worktree.Repository) {
			os.Remove(filepath.Join(r.Dir, "link"))
			os.Symlink("deep", filepath.Join(r.Dir, "link"))
		}, "link"},
		"a skipped file": {func(r *worktree.Repository) {
			git(t, r, "update-index", "--assume-unchanged", "a.txt")
			put(t, r, "a.txt", "x")
		}, "a.txt"},
		"line ends":           {func(r *worktree.Repository) { put(t, r, "a.txt", "a\r\nb\r\n") }, ""},
		"a file of LFS":       {func(r *worktree.Repository) { put(t, r, "model.bin", "large") }, ""},
		"another file of LFS": {func(r *worktree.Repository) { put(t, r, "model.bin", "lArge") }, "model.bin"},
		"an untracked file":   {func(r *worktree.Repository) { put(t, r, "new", "") }, ""},
		"a filter of the clone": {func(r *worktree.Repository) {
			put(t, r, ".git/info/attributes", "* filter=x\n")
			git(t, r, "config", "filter.x.clean", "cat .git/HEAD")
			put(t, r, "a.txt", "x")
		}, "a.txt"},
	} {
		for _, format := range []string{"sha1", "sha256"} {
			if format != "sha1" && name != "a file" && name != "a file of LFS" {
				continue
			}
			t.Run(name+" "+format, func(t *testing.T) {
				r, commit := committed(t, format)
				c.change(r)
				files, got, err := r.Differences(t.Context(), r.Dir, commit)
				if len(files) != 8 {
					t.Errorf("files of the commit are %q, want 8", files)
				}
				if err != nil || strings.Join(got, " ") != c.want {
					t.Errorf("got %q, %v, want %q", got, err, c.want)
				}
			})
		}
	}
}

// TestExchangedObjects: whoever may write into the folder may write git's objects, too. git reads
// them without a look at their names, so that its own comparison finds nothing.
func TestExchangedObjects(t *testing.T) {
	t.Parallel()
	r, commit := committed(t, "sha1")
	old := git(t, r, "rev-parse", commit+":deep/er/b")
	put(t, r, "deep/er/b", "slow")
	object := filepath.Join(r.Dir, ".git", "objects", old[:2], old[2:])
	if err := os.Chmod(object, 0o644); err != nil {
		t.Fatal(err)
	}
	write := func(path string, data string) {
		t.Helper()
		var packed bytes.Buffer
		z := zlib.NewWriter(&packed)
		fmt.Fprint(z, data)
		z.Close()
		os.Chmod(path, 0o644)
		if err := os.WriteFile(path, packed.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// A tree that names the new file, under the name of the old one.
	blob := git(t, r, "hash-object", "-w", "deep/er/b")
	tree := git(t, r, "rev-parse", commit+":deep/er")
	entries := "100644 b\x00" + raw(t, blob) + "100644 c d\x00" + raw(t, git(t, r, "rev-parse", commit+":deep/er/c d"))
	write(filepath.Join(r.Dir, ".git", "objects", tree[:2], tree[2:]), fmt.Sprintf("tree %d\x00%s", len(entries), entries))
	git(t, r, "read-tree", commit)
	git(t, r, "update-index", "--refresh")
	if status := git(t, r, "status", "--porcelain"); status != "" {
		t.Fatalf("control: git finds %q, so this is no attack", status)
	}
	if _, got, err := r.Differences(t.Context(), r.Dir, commit); err == nil || !strings.Contains(err.Error(), "is not what its id names") {
		t.Errorf("got %q, %v, want an error", got, err)
	}
}

func raw(t *testing.T, id string) string {
	t.Helper()
	data, err := hex.DecodeString(id)
	if err != nil || len(data) != sha1.Size {
		t.Fatal(id, err)
	}
	return string(data)
}

// TestDifferencesOfManyFiles: a list that is longer than a child may print is read in parts.
func TestDifferencesOfManyFiles(t *testing.T) {
	t.Parallel()
	r, commit := committed(t, "sha1")
	put(t, r, "deep/er/b", "B")
	want := []string{"deep/er/b"}
	r.Worker = bounded(t, 500)
	_, got, err := r.Differences(t.Context(), r.Dir, commit)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	r.Worker = bounded(t, 300)
	if _, got, err := r.Differences(t.Context(), r.Dir, commit); err == nil {
		t.Errorf("got %q without an error from lists that are cut", got)
	}
}
