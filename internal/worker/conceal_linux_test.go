package worker_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/accelgate/accelgate/internal/worker"
)

// TestConceal: a child looks for its parent's secret in /proc, once with and
// once without Conceal. Root may look anyway, so both run as another user.
func TestConceal(t *testing.T) {
	dir, err := os.MkdirTemp("", "conceal") // unlike t.TempDir's it may be opened to all
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "worker.test")
	data, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(binary, data, 0o755); err != nil {
		t.Fatal(err)
	}
	parent := func(conceal string) string {
		cmd := exec.Command(binary)
		cmd.Dir = "/"
		cmd.Env = []string{childMode + "=secretive", childArg + "=" + conceal, "GITHUB_TOKEN=s3cret"}
		if os.Geteuid() == 0 {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	if got := parent("no"); !strings.Contains(got, "s3cret") {
		t.Errorf("without Conceal the child reads %q; the test cannot show anything", got)
	}
	if got := parent("yes"); strings.Contains(got, "s3cret") || !strings.Contains(got, "ermission denied") {
		t.Errorf("with Conceal the child reads %q, want permission denied", got)
	}
}

// parentWithSecret runs a child that reads its parent's environment.
func parentWithSecret(conceal string) {
	if conceal == "yes" {
		if err := worker.Conceal(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	w := &worker.Isolated{Environ: os.Environ()}
	resp, err := w.Do(context.Background(), worker.Request{Args: []string{"/bin/cat", fmt.Sprintf("/proc/%d/environ", os.Getpid())}})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	os.Stdout.Write(bytes.ReplaceAll(append(resp.Stdout, resp.Stderr...), []byte{0}, []byte{'\n'}))
}
