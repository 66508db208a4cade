package worktree_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/reference/worktree"
)

// TestRecording changes a recorded folder in each way, as one of its own programs and as another.
func TestRecording(t *testing.T) {
	t.Parallel()
	at := func(dir, name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	write := func(dir, name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(at(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		change      func(dir string)
		other, own  string // what a look finds
		compare     string // what reading all of it finds
		onlyByInode bool
	}{
		"nothing":               {change: func(string) {}},
		"a file":                {change: func(dir string) { write(dir, "lib/a", "B") }, other: "lib/a", own: "lib/a", compare: "lib/a"},
		"a file, time restored": {change: func(dir string) { write(dir, "lib/a", "B"); _ = os.Chtimes(at(dir, "lib/a"), old, old) }, other: "lib/a", own: "lib/a", compare: "lib/a", onlyByInode: true},
		"a file, and back":      {change: func(dir string) { write(dir, "lib/a", "B"); write(dir, "lib/a", "a") }},
		"a removed file":        {change: func(dir string) { _ = os.Remove(at(dir, "lib/a")) }, other: "lib/a", own: "lib/a", compare: "lib/a"},
		"a replaced file":       {change: func(dir string) { write(dir, "x", "B"); _ = os.Rename(at(dir, "x"), at(dir, "lib/a")) }, other: "lib/a", own: "lib/a", compare: "lib/a"},
		"another mode":          {change: func(dir string) { _ = os.Chmod(at(dir, "run"), 0o644) }, other: "run", own: "run", compare: "run"},
		"a new file":            {change: func(dir string) { write(dir, "new", "") }, other: "new"},
		"a new file in git's":   {change: func(dir string) { write(dir, ".git/hooks/x", "") }},
		"a new file of ours":    {change: func(dir string) { write(dir, ".accelgate/x", "") }},
		"a link for a folder": {change: func(dir string) { _ = os.RemoveAll(at(dir, "lib")); _ = os.Symlink("/", at(dir, "lib")) },
			other: "lib", own: "lib/a", compare: "lib/a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.onlyByInode && runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
				t.Skip("this system shows no changes of inodes")
			}
			for i, want := range []string{c.other, c.own, c.other, ""} {
				own, strict := i%2 == 1, i < 2
				dir := t.TempDir()
				write(dir, "lib/a", "a")
				write(dir, "run", "run")
				if err := os.Chmod(at(dir, "run"), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.Chtimes(at(dir, "lib/a"), old, old); err != nil {
					t.Fatal(err)
				}
				r, err := worktree.Record(dir, ".accelgate")
				if err != nil {
					t.Fatal(err)
				}
				r.Strict = strict
				c.change(dir)
				if got, err := r.Look(own); err != nil || got != want {
					t.Errorf("own %t, strict %t: a look finds %q, %v, want %q", own, strict, got, err, want)
				}
				compare := c.compare
				if own && !strict {
					compare = "" // it is recorded anew
				}
				if got, err := r.Compare(); err != nil || strings.Join(got, " ") != compare {
					t.Errorf("reading finds %q, %v, want %q", got, err, compare)
				}
			}
		})
	}
}

var old = time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)

// TestRecordingOfOwnFiles: a file that the folder's programs made is theirs to change, and not another's.
func TestRecordingOfOwnFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r, err := worktree.Record(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i, step := range []struct {
		own        bool
		text, want string
	}{{true, "1", ""}, {true, "22", ""}, {false, "333", "result"}, {true, "4444", ""}} {
		if err := os.WriteFile(filepath.Join(dir, "result"), []byte(step.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := r.Look(step.own); err != nil || got != step.want {
			t.Errorf("step %d: got %q, %v, want %q", i+1, got, err, step.want)
		}
	}
}

// TestProtect: the commit's files and programs cannot be written, what else a build left can, and all is as before at the end.
func TestProtect(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	modes := map[string]os.FileMode{"source": 0o644, "program": 0o755, "cache": 0o664, "fixed": 0o444}
	for name, mode := range modes {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	r, err := worktree.Record(dir)
	if err != nil {
		t.Fatal(err)
	}
	undo, err := r.Protect([]string{"fixed", "gone", "source"})
	if err != nil {
		t.Fatal(err)
	}
	check := func(want map[string]os.FileMode) {
		t.Helper()
		for name, mode := range want {
			if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != mode {
				t.Errorf("%s: %v, %v, want %v", name, info.Mode(), err, mode)
			}
		}
	}
	if runtime.GOOS != "windows" {
		check(map[string]os.FileMode{"source": 0o444, "program": 0o555, "cache": 0o664, "fixed": 0o444})
	}
	if got, err := r.Look(false); got != "" || err != nil {
		t.Errorf("protecting counts as a change of %q, %v", got, err)
	}
	if err := undo(); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" {
		check(modes)
	}
}
