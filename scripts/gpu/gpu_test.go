//go:build unix

// Package gpu_test runs scripts/gpu.sh where there is no GPU: what needs one says so, and nothing that a stand-in
// printed is recorded as a real output.
package gpu_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// recorded has what nvidia-smi printed on a host with a GPU, and a program that prints it.
const recorded = "../../internal/device/testdata/h100"

// gpu is the UUID that the stand-in prints.
const gpu = "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6"

type summary struct {
	Real  bool
	Steps []struct{ Step, Result, Reason, Log string }
}

type recording struct {
	Real     bool
	SHA256   string
	Commands []struct {
		File, Command string
		Exit, Bytes   int
	}
}

// script runs gpu.sh and returns its exit code and its output.
func script(t *testing.T, dir string, env ...string) (code int, stdout, stderr string) {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		testtier.Missing(t, "scripts/gpu.sh was NOT run: install bash")
	}
	if _, err := os.Stat("/proc/driver/nvidia/version"); err == nil {
		t.Skip("SKIPPED: a GPU is here: run scripts/gpu.sh itself")
	}
	var out, bad bytes.Buffer
	command := exec.CommandContext(t.Context(), "bash", "../gpu.sh", filepath.Join(dir, "out"))
	command.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"), "PYTHON="+filepath.Join(dir, "bin", "nothing"))
	command.Env, command.Stdout, command.Stderr = append(command.Env, env...), &out, &bad
	err := command.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return command.ProcessState.ExitCode(), out.String(), bad.String()
}

// standIn makes a folder whose bin has the recorded nvidia-smi, or one whose log is empty.
func standIn(t *testing.T, log bool) (dir string) {
	t.Helper()
	dir = t.TempDir()
	err := os.CopyFS(filepath.Join(dir, "bin"), os.DirFS(recorded))
	if err == nil {
		err = os.Chmod(filepath.Join(dir, "bin", "nvidia-smi"), 0o755)
	}
	list := filepath.Join(dir, "bin", "list.txt")
	if err == nil {
		err = os.WriteFile(list, []byte("GPU 0: NVIDIA H100 80GB HBM3 (UUID: "+gpu+")\n"), 0o644)
	}
	if err == nil && !log {
		err = os.Truncate(filepath.Join(dir, "bin", "all.xml"), 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func read(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatalf("%s: %v\n%s", path, err, text)
	}
}

// TestShellCheck reads what cannot be run here.
func TestShellCheck(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("shellcheck"); err != nil {
		testtier.Missing(t, "scripts/gpu.sh was NOT checked: install shellcheck")
	}
	if out, err := exec.CommandContext(t.Context(), "shellcheck", "-x", "-P", "../..", "../gpu.sh", "steps.sh", filepath.Join(recorded, "nvidia-smi")).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestNoGPU: one line says what is missing, also where an nvidia-smi is on the PATH; nothing is written.
func TestNoGPU(t *testing.T) {
	t.Parallel()
	dir := standIn(t, true)
	code, out, bad := script(t, dir)
	if code != 3 || out != "" || strings.Count(bad, "\n") != 1 || !strings.Contains(bad, "no NVIDIA GPU") {
		t.Errorf("exit %d, %q, %q", code, out, bad)
	}
	if _, err := os.Stat(filepath.Join(dir, "out")); err == nil {
		t.Error("something was written")
	}
	for _, wrong := range []string{"ACCELGATE_GPU_STEPS=record nothing", "ACCELGATE_GPU=0; id"} {
		if code, _, bad := script(t, dir, wrong); code != 2 || strings.Count(bad, "\n") != 1 {
			t.Errorf("%s: exit %d, %q", wrong, code, bad)
		}
	}
}

// TestDry: what a stand-in prints is not called real, and a step without its tools is skipped for a reason.
func TestDry(t *testing.T) {
	t.Parallel()
	dir := standIn(t, true)
	code, out, bad := script(t, dir, "ACCELGATE_GPU_DRY=1", "ACCELGATE_GPU_STEPS=record pinning roofline")
	if code != 0 {
		t.Fatalf("exit %d\n%s%s", code, out, bad)
	}
	var s summary
	read(t, filepath.Join(dir, "out", "summary.json"), &s)
	if s.Real || len(s.Steps) != 3 || s.Steps[0].Result != "passed" || s.Steps[1].Result != "skipped" || !strings.Contains(s.Steps[1].Reason, "no") {
		t.Errorf("the summary is %+v\n%s", s, out)
	}
	var r recording
	read(t, filepath.Join(dir, "out", "dry", "commands.json"), &r)
	if r.Real || len(r.SHA256) != 64 || len(r.Commands) < 10 || r.Commands[0].Command != "nvidia-smi -L" {
		t.Errorf("the recording is %+v", r)
	}
	if _, err := os.Stat(filepath.Join(dir, "out", "fixtures")); err == nil {
		t.Error("a stand-in's output is among the fixtures")
	}
}

// TestFailureStopsNothing: the steps behind one that fails are done, and the exit code says that one failed.
func TestFailureStopsNothing(t *testing.T) {
	t.Parallel()
	dir := standIn(t, false)
	code, out, _ := script(t, dir, "ACCELGATE_GPU_DRY=1", "ACCELGATE_GPU_STEPS=record model")
	var s summary
	read(t, filepath.Join(dir, "out", "summary.json"), &s)
	if code != 1 || len(s.Steps) != 2 || s.Steps[0].Result != "failed" || s.Steps[1].Result != "skipped" {
		t.Errorf("exit %d, %+v\n%s", code, s, out)
	}
}
