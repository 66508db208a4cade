package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// TestReleaseCheckNightly makes a dry run for this host, which compiles twice, once without a cache.
func TestReleaseCheckNightly(t *testing.T) {
	testtier.Nightly(t)
	t.Setenv("GOCACHE", os.Getenv("GOCACHE")) // which the dry run sets
	var out bytes.Buffer
	if err := run(filepath.Join("..", ".."), []string{"check", "-version", "v1.0.0"}, &out); err != nil || strings.Count(out.String(), "ok   ") != 5 {
		t.Fatalf("%v\n%s", err, &out)
	}
}

// TestReleaseCheckNamesTheStep: a dry run ends at the step that a release would fail at.
func TestReleaseCheckNamesTheStep(t *testing.T) {
	root := filepath.Join(t.TempDir(), "broken")
	if _, err := git(filepath.Join("..", ".."), "clone", "-q", "--no-tags", ".", root); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(root, "CHANGELOG.md"), "# Changelog\n")
	if _, err := git(root, "commit", "-q", "-a", "-m", "broken"); err != nil {
		t.Fatal(err)
	}
	if err := run(root, []string{"check", "-version", "v1.0.0"}, &bytes.Buffer{}); err == nil || !strings.HasPrefix(err.Error(), "version: CHANGELOG.md has its section") {
		t.Errorf("without a section Unreleased: %v", err)
	}
}

// TestPrepare: the pull request before a release names the version once, and its tag in all files that users copy.
func TestPrepare(t *testing.T) {
	root := checkout(t, "README.md", "CHANGELOG.md", "docs", "examples/workflows", "internal/command/setup/files.go")
	var out bytes.Buffer
	if err := run(root, []string{"prepare", "-version", "v1.2.3"}, &out); err != nil {
		t.Fatal(err)
	}
	if text, err := notes(root, "v1.2.3"); err != nil || !strings.Contains(text, "measures:") {
		t.Errorf("the notes are %q, %v", text, err)
	}
	files, err := userFiles(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		for _, m := range reference.FindAllString(read(t, path), -1) {
			if !strings.HasSuffix(m, "@v1") {
				t.Errorf("%s still has %s", path, m)
			}
		}
	}
	if text := read(t, filepath.Join(root, "internal", "command", "setup", "files.go")); !strings.Contains(text, "gate.yml@v1\n") {
		t.Error("init does not write @v1")
	}
	if !strings.Contains(out.String(), "docs/github.md:") {
		t.Errorf("no sentence is to be edited:\n%s", &out)
	}
	if err := os.WriteFile(filepath.Join(root, "CHANGELOG.md"), []byte("# Changelog\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := run(root, []string{"prepare", "-version", "v1.2.5"}, &out); err == nil {
		t.Error("a CHANGELOG.md without a section Unreleased: accepted")
	}
}
