package gpu_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// TestRehearsalNightly unpacks the kit into an empty folder and runs it as on a host with a GPU: no Go on the PATH, no
// network, no home folder. What needs the GPU itself is skipped for that reason, and nothing else is.
func TestRehearsalNightly(t *testing.T) {
	testtier.Nightly(t)
	for _, tool := range []string{"make", "busybox", "bash"} {
		if _, err := exec.LookPath(tool); err != nil {
			testtier.Missing(t, "the kit for a host with a GPU was NOT rehearsed: install "+tool)
		}
	}
	if err := exec.Command("/usr/bin/python3", "-c", "import torch").Run(); err != nil {
		testtier.Missing(t, "the kit for a host with a GPU was NOT rehearsed: install Debian's python3-torch")
	}
	dir := standIn(t, true)
	kit := filepath.Join(dir, "kit")
	if out, err := exec.CommandContext(t.Context(), "make", "-C", "../..", "gpu-kit", "GPU_KIT="+kit).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if size := sizeOf(t, kit); size > 48<<20 {
		t.Errorf("the kit has %d MiB, and 48 can be carried", size>>20)
	}
	var out bytes.Buffer
	command := exec.CommandContext(t.Context(), "bash", "-c", "busybox ip link set lo up && exec bash kit/scripts/gpu.sh out")
	command.Dir, command.Stdout, command.Stderr = dir, &out, &out
	command.Env = []string{"PATH=" + filepath.Join(dir, "bin") + ":/usr/bin:/bin", "HOME=/nonexistent", "PYTHON=/usr/bin/python3", "ACCELGATE_GPU_DRY=1",
		"ACCELGATE_GPU_BUDGET=8m", "ACCELGATE_GPU_STEPS=record readers pinning kernels cheats timing memory endpoint roofline profile model"}
	command.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}}
	err := command.Run()
	if errors.Is(err, syscall.EPERM) {
		testtier.Missing(t, "the kit for a host with a GPU was NOT rehearsed: allow user namespaces")
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out.String())
	}
	var s summary
	read(t, filepath.Join(dir, "out", "summary.json"), &s)
	needGPU := []string{"pinning", "memory", "roofline", "profile"}
	for _, step := range s.Steps {
		want := "passed"
		if slices.Contains(needGPU, step.Step) {
			want = "skipped"
		}
		if step.Result != want {
			t.Errorf("step %s %s (%s), want %s", step.Step, step.Result, step.Reason, want)
		}
	}
	if len(s.Steps) != 11 {
		t.Errorf("%d steps\n%s", len(s.Steps), out.String())
	}
	packed(t, filepath.Join(dir, "out.tar.gz"))
}

func sizeOf(t *testing.T, dir string) (size int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return size
}

// packed checks that an archive has what counts, is small, and names no GPU.
func packed(t *testing.T, path string) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || info.Size() > 16<<20 {
		t.Errorf("the archive is too large to be taken home: %v, %v", info, err)
	}
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for files := tar.NewReader(unpacked); ; {
		entry, err := files.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, entry.Name)
		text, err := io.ReadAll(files)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte(gpu)) {
			t.Errorf("%s has the UUID of the GPU", entry.Name)
		}
	}
	for _, want := range []string{"summary.json", "dry/all.xml", "logs/kernels.log", "figures/kernels.json", "work/endpoint/.accelgate/run.json"} {
		if !slices.Contains(names, want) {
			t.Errorf("the archive lacks %s:\n%s", want, strings.Join(names, "\n"))
		}
	}
}
