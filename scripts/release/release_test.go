package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
)

// checkout copies the files that a release changes or builds to a new folder.
func checkout(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		from, to := filepath.Join("..", "..", name), filepath.Join(dir, name)
		info, err := os.Stat(from)
		if err != nil {
			t.Fatal(err)
		}
		if info.IsDir() {
			err = os.CopyFS(to, os.DirFS(from))
		} else {
			write(t, to, read(t, from))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// sums is a checksums.txt with a line for each target.
func sums(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "checksums.txt")
	text := ""
	for _, s := range all {
		text += strings.Repeat("ab", 32) + "  accelgate_" + s.os + "_" + s.arch + "\n"
	}
	write(t, path, text)
	return path
}

// TestReleasePinsEverything: after both steps no workflow or action names a branch of this project.
func TestReleasePinsEverything(t *testing.T) {
	root := checkout(t, "action.yml", "native", ".github/workflows")
	image, commit := "ghcr.io/accelgate/accelgate@sha256:"+strings.Repeat("1", 64), strings.Repeat("c", 40)
	if err := run(root, []string{"pin", "-version", "v1.2.3", "-sums", sums(t), "-image", image}, nil); err != nil {
		t.Fatal(err)
	}
	if text := read(t, filepath.Join(root, "action.yml")); !strings.Contains(text, "\n  image: docker://"+image+"\n") || strings.Contains(text, "Dockerfile") {
		t.Error("action.yml does not name the image by its digest")
	}
	if text := read(t, filepath.Join(root, "native", "release.txt")); !strings.HasPrefix(text, "# version: v1.2.3\n") || strings.Count(text, "  accelgate_") != len(all) {
		t.Errorf("native/release.txt is\n%s", text)
	}
	if err := run(root, []string{"pin-workflows", "-version", "v1.2.3", "-commit", commit}, nil); err != nil {
		t.Fatal(err)
	}
	names := 0
	for _, name := range called {
		text := read(t, filepath.Join(root, ".github", "workflows", name))
		if strings.Contains(text, "@main") {
			t.Errorf("%s still names main", name)
		}
		names += strings.Count(text, "@"+commit+" # v1.2.3\n")
	}
	if names != 8 {
		t.Errorf("the called workflows name the commit %d times, want 8", names)
	}
	for _, again := range [][]string{{"pin", "-version", "v1.2.3", "-sums", sums(t), "-image", image}, {"pin-workflows", "-version", "v1.2.3", "-commit", commit}} {
		if err := run(root, again, nil); err == nil {
			t.Errorf("%s a second time: accepted", again[0])
		}
	}
}

func TestReleaseRefuses(t *testing.T) {
	root := checkout(t, "action.yml", "native", ".github/workflows")
	image := "ghcr.io/accelgate/accelgate@sha256:" + strings.Repeat("1", 64)
	short := filepath.Join(t.TempDir(), "checksums.txt")
	write(t, short, strings.Repeat("ab", 32)+"  accelgate_linux_amd64\n")
	for _, args := range [][]string{
		{}, {"publish", "-version", "v1.2.3"}, {"notes", "-version", "1.2.3"}, {"notes", "-version", "v1.2.3;id"},
		{"pin", "-version", "v1.2.3", "-sums", sums(t), "-image", "ghcr.io/accelgate/accelgate:v1"},
		{"pin", "-version", "v1.2.3", "-sums", short, "-image", image},
		{"pin-workflows", "-version", "v1.2.3", "-commit", "main"},
		{"build", "-version", "v1.2.3", "-targets", "plan9/amd64", "-out", t.TempDir()},
	} {
		if err := run(root, args, &bytes.Buffer{}); err == nil {
			t.Errorf("%q: accepted", args)
		}
	}
}

func TestNotesAreTheSectionOfTheVersion(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "CHANGELOG.md"), "# Changelog\n\n## Unreleased\n\n- new\n\n## v1.2.3 - 2026-12-01\n\n- one\n- two\n\n## v1.2.2\n\n- old\n")
	var out bytes.Buffer
	if err := run(root, []string{"notes", "-version", "v1.2.3"}, &out); err != nil || out.String() != "- one\n- two\n" {
		t.Errorf("got %q, %v", out.String(), err)
	}
	if err := run(root, []string{"notes", "-version", "v1.2.4"}, &out); err == nil || !strings.Contains(err.Error(), "rename Unreleased") {
		t.Errorf("without a section: %v", err)
	}
}

func TestSBOMListsModules(t *testing.T) {
	info := &debug.BuildInfo{GoVersion: "go1.26.8", Main: debug.Module{Path: "github.com/accelgate/accelgate"}, Deps: []*debug.Module{
		{Path: "github.com/spf13/cobra", Version: "v1.10.2"},
		{Path: "example.com/old", Version: "v1.0.0", Replace: &debug.Module{Path: "example.com/new", Version: "v2.0.0"}}}}
	data, err := json.Marshal(describe(info, "accelgate_linux_amd64", "v1.2.3", "00ff"))
	want := `{"bomFormat":"CycloneDX","specVersion":"1.5","version":1,"metadata":{"component":{"type":"application","name":"accelgate_linux_amd64",` +
		`"version":"v1.2.3","purl":"pkg:golang/github.com/accelgate/accelgate@v1.2.3","hashes":[{"alg":"SHA-256","content":"00ff"}]}},"components":[` +
		`{"type":"library","name":"std","version":"go1.26.8","purl":"pkg:golang/std@go1.26.8"},` +
		`{"type":"library","name":"github.com/spf13/cobra","version":"v1.10.2","purl":"pkg:golang/github.com/spf13/cobra@v1.10.2"},` +
		`{"type":"library","name":"example.com/new","version":"v2.0.0","purl":"pkg:golang/example.com/new@v2.0.0"}]}`
	if err != nil || string(data) != want {
		t.Errorf("got\n%s, %v\nwant\n%s", data, err, want)
	}
}
