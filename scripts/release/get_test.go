package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/testing/githubtest"
)

// get runs native/get.sh of a release as native/action.yml does, and returns its exit code and output. path is PATH.
func get(t *testing.T, root, server, path string, env ...string) (code int, printed, binary string) {
	t.Helper()
	temp := t.TempDir()
	bash, err := exec.LookPath("bash")
	if err != nil || runtime.GOOS != "linux" {
		t.Skip("native/get.sh is tested on Linux with bash")
	}
	cmd := exec.Command(bash, filepath.Join(root, "native", "get.sh"))
	cmd.Env = append([]string{"PATH=" + path, "RUNNER_TEMP=" + temp, "RUNNER_OS=Linux", "RUNNER_ARCH=X64", "GITHUB_SERVER_URL=" + server}, env...)
	out, _ := cmd.CombinedOutput()
	return cmd.ProcessState.ExitCode(), string(out), filepath.Join(temp, "accelgate.exe")
}

// withoutGo is a PATH with the tools that get.sh needs, and no Go.
func withoutGo(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"sed", "awk", "cut", "tr", "curl", "sha256sum", "rm", "chmod", "dirname"} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Skipf("native/get.sh was NOT tested: it needs %s", name)
		}
		if err := os.Symlink(path, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestNativeDownloadsAndVerifies: the binary of a release is used only with the checksum that its commit pins.
func TestNativeDownloadsAndVerifies(t *testing.T) {
	root, path := checkout(t, "native"), withoutGo(t)
	asset := []byte("#!/bin/sh\necho accelgate version v1.2.3\n")
	text := fmt.Sprintf("# version: v1.2.3\n%x  accelgate_linux_amd64\n", sha256.Sum256(asset))
	write(t, filepath.Join(root, "native", "release.txt"), text)
	server := func(files map[string][]byte) string {
		_, address := githubtest.New(t, githubtest.State{Repos: []githubtest.Repo{{Name: "accelgate/accelgate", Releases: map[string]map[string][]byte{"v1.2.3": files}}}})
		return address
	}
	code, printed, binary := get(t, root, server(map[string][]byte{"accelgate_linux_amd64": asset}), path)
	if code != 0 {
		t.Fatalf("exit code %d\n%s", code, printed)
	}
	if out, err := exec.Command(binary).Output(); err != nil || string(out) != "accelgate version v1.2.3\n" {
		t.Errorf("the binary prints %q, %v", out, err)
	}
	code, printed, binary = get(t, root, server(map[string][]byte{"accelgate_linux_amd64": append(asset, '\n')}), path)
	if _, err := os.Stat(binary); code != 2 || err == nil || !strings.Contains(printed, "do not use this download") {
		t.Errorf("another file: exit code %d, the file is there: %t\n%s", code, err == nil, printed)
	}
	for name, env := range map[string][]string{"no asset": nil, "no such system": {"RUNNER_ARCH=S390X"}, "asked to build": {"FROM_SOURCE=true"}} {
		if code, printed, _ = get(t, root, server(nil), path, env...); code != 2 || !strings.Contains(printed, "found no Go") {
			t.Errorf("%s: exit code %d, want that it tries to build\n%s", name, code, printed)
		}
	}
	write(t, filepath.Join(root, "native", "release.txt"), read(t, filepath.Join("..", "..", "native", "release.txt")))
	if code, printed, _ = get(t, root, server(nil), path); code != 2 || !strings.Contains(printed, "found no Go") || strings.Contains(printed, "downloaded") {
		t.Errorf("main: exit code %d, want that it builds\n%s", code, printed)
	}
}
