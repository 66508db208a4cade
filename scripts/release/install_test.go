package main

import (
	"archive/zip"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// TestGoInstallShowsTheVersionNightly serves this module as v1.2.3 from a folder and installs it as the README says. Go unpacks
// every dependency and links, which takes a minute.
func TestGoInstallShowsTheVersionNightly(t *testing.T) {
	testtier.Nightly(t)
	proxy := t.TempDir()
	module := filepath.Join(proxy, "github.com", "accelgate", "accelgate", "@v")
	source := checkout(t, "cmd", "internal", "go.mod", "go.sum")
	write(t, filepath.Join(module, "list"), "v1.2.3\n")
	write(t, filepath.Join(module, "v1.2.3.info"), `{"Version":"v1.2.3","Time":"2026-12-01T00:00:00Z"}`)
	write(t, filepath.Join(module, "v1.2.3.mod"), read(t, filepath.Join(source, "go.mod")))
	archive(t, source, filepath.Join(module, "v1.2.3.zip"))
	modules, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	downloaded := filepath.Join(strings.TrimSpace(string(modules)), "cache", "download")
	temp := t.TempDir()
	cmd := exec.Command("go", "install", "github.com/accelgate/accelgate/cmd/accelgate@latest")
	cmd.Dir = temp
	cmd.Env = append(os.Environ(), "GOPROXY=file://"+proxy+",file://"+downloaded, "GONOSUMDB=*", "GOFLAGS=-trimpath -modcacherw", "GOWORK=off",
		"GOMODCACHE="+filepath.Join(temp, "modules"), "GOBIN="+filepath.Join(temp, "bin"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go install: %v\n%s", err, out)
	}
	out, err := exec.Command(filepath.Join(temp, "bin", "accelgate"), "version").Output()
	if err != nil || !strings.HasPrefix(string(out), "accelgate version v1.2.3 (") {
		t.Errorf("an installed accelgate prints %q, %v", out, err)
	}
}

// archive packs a module as a proxy serves it.
func archive(t *testing.T, source, to string) {
	t.Helper()
	file, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	w := zip.NewWriter(file)
	err = filepath.WalkDir(source, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(source, path)
		if err != nil || strings.HasSuffix(name, "_test.go") || strings.Contains(name, "testdata") {
			return err
		}
		entry, err := w.Create("github.com/accelgate/accelgate@v1.2.3/" + filepath.ToSlash(name))
		if err == nil {
			_, err = entry.Write([]byte(read(t, path)))
		}
		return err
	})
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}
