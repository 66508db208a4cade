package atomicfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gofrs/flock"

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

// TestReplaceRemovesWhatKilledProcessesLeft: a folder whose lock is free goes, one that is held and those that are not ours stay, and
// a folder whose replacement was cut between the two renames comes back if the next one fails.
func TestReplaceRemovesWhatKilledProcessesLeft(t *testing.T) {
	above := t.TempDir()
	put := func(names ...string) {
		for _, name := range names {
			if err := os.MkdirAll(filepath.Join(above, filepath.Dir(name)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(above, name), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	put(".site.accelgate-1/lock", ".site.accelgate-1/new/x", ".site.accelgate-2/old/kept", ".site.accelgate-2/lock",
		".site.accelgate-3/lock", ".site.accelgate-4/no-lock", ".site2.accelgate-5/lock", ".site.accelgate-6", "target/lock")
	if err := os.Symlink("target", filepath.Join(above, ".site.accelgate-7")); err != nil {
		t.Skip("no links here:", err)
	}
	held := flock.New(filepath.Join(above, ".site.accelgate-3", "lock"))
	if ok, err := held.TryLock(); err != nil || !ok {
		t.Fatal(ok, err)
	}
	defer held.Close()
	broken := errors.New("broken")
	if err := atomicfile.Replace(filepath.Join(above, "site"), func(string) error { return broken }); !errors.Is(err, broken) {
		t.Error(err)
	}
	entries, err := os.ReadDir(above)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	want := []string{".site.accelgate-3", ".site.accelgate-4", ".site.accelgate-6", ".site.accelgate-7", ".site2.accelgate-5", "site", "target"}
	if !slices.Equal(left, want) {
		t.Errorf("left are %v, want %v", left, want)
	}
	if _, err := os.Stat(filepath.Join(above, "site", "kept")); err != nil {
		t.Error(err)
	}
}
