package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/testtier"
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
	for _, s := range targets {
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
	if text := read(t, filepath.Join(root, "native", "release.txt")); !strings.HasPrefix(text, "# version: v1.2.3\n") || strings.Count(text, "  accelgate_") != len(targets) {
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
	if names != 4 {
		t.Errorf("the called workflows name the commit %d times, want 4", names)
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

// TestBuildIsReproducibleThorough builds one target twice, in two folders, the second time without anything that the
// first one cached. It takes a minute, as every package is compiled again.
func TestBuildIsReproducibleThorough(t *testing.T) {
	testtier.Thorough(t)
	first := filepath.Join(t.TempDir(), "first")
	if err := run(filepath.Join("..", ".."), []string{"build", "-version", "v1.2.3", "-targets", "linux/amd64", "-out", first}, nil); err != nil {
		t.Fatal(err)
	}
	again := checkout(t, "cmd", "internal", "go.mod", "go.sum")
	t.Setenv("GOCACHE", t.TempDir())
	t.Setenv("GOFLAGS", "-buildvcs=true") // of a builder with settings of its own
	out := filepath.Join(again, "dist")
	if err := run(again, []string{"build", "-version", "v1.2.3", "-targets", "linux/amd64", "-out", out}, nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"accelgate_linux_amd64", "accelgate_linux_amd64.cdx.json", "checksums.txt"} {
		if read(t, filepath.Join(first, name)) != read(t, filepath.Join(out, name)) {
			t.Errorf("%s differs between two folders", name)
		}
	}
	printed, err := exec.Command(filepath.Join(out, "accelgate_linux_amd64"), "version").Output()
	if err != nil || string(printed) != "accelgate version v1.2.3\n" {
		t.Errorf("the binary prints %q, %v", printed, err)
	}
	var b bom
	if err := json.Unmarshal([]byte(read(t, filepath.Join(out, "accelgate_linux_amd64.cdx.json"))), &b); err != nil {
		t.Fatal(err)
	}
	if b.Metadata.Component.Version != "v1.2.3" || len(b.Components) < 10 || !strings.HasPrefix(read(t, filepath.Join(out, "checksums.txt")), b.Metadata.Component.Hashes[0].Content) {
		t.Errorf("the SBOM describes %+v with %d components", b.Metadata, len(b.Components))
	}
}
