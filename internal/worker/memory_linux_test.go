package worker_test

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/accelgate/accelgate/internal/worker"
)

const childCgroup = "WORKER_TEST_CGROUP"

// hog enters a control group and takes more memory than that allows.
func hog(string) {
	if err := set(os.Getenv(childCgroup), "0"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	// Page by page, because a process that also collects garbage may crawl at the limit for minutes.
	memory, err := syscall.Mmap(-1, 0, 1<<30, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		panic(err)
	}
	for i := 0; i < len(memory); i += 4096 {
		memory[i] = 1
	}
}

// smallGroup makes a control group with little memory, or skips the test.
func smallGroup(t *testing.T) (procs string) {
	t.Helper()
	for _, limits := range [][]string{
		{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.memsw.limit_in_bytes"},
		{"/sys/fs/cgroup", "memory.max", "memory.swap.max"},
	} {
		dir := filepath.Join(limits[0], "accelgate-test-"+rand.Text())
		if os.Mkdir(dir, 0o755) != nil {
			continue
		}
		t.Cleanup(func() { os.Remove(dir) })
		if set(filepath.Join(dir, limits[1]), "64M") == nil {
			_ = set(filepath.Join(dir, limits[2]), "64M") // absent without swap
			return filepath.Join(dir, "cgroup.procs")
		}
	}
	t.Skip("out of memory was NOT tested: this system lets us make no control group with a memory limit (be root)")
	return ""
}

// set writes to a file that must exist: the folder may be an ordinary one.
func set(name, value string) error {
	file, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = file.WriteString(value)
	return err
}

func TestOutOfMemoryIsSeen(t *testing.T) {
	group := smallGroup(t)
	const want = "ended by signal: killed (by the kernel, because memory ran out: make the cell smaller, or raise the memory limit)"
	for _, w := range []worker.Worker{new(worker.Isolated), new(worker.Persistent)} {
		got, err := w.Do(within(t), request(t, "hog", "", childCgroup+"="+group))
		if err != nil || !got.OutOfMemory || !strings.Contains(got.Reason(), want) {
			t.Errorf("%T: out of memory %v, reason %q, error %v, want %q\n%s", w, got.OutOfMemory, got.Reason(), err, want, got.Log)
		}
		w.Close()
	}
}

func TestKilledIsNotOutOfMemory(t *testing.T) {
	got, err := new(worker.Isolated).Do(within(t), request(t, "signal", "KILL"))
	if err != nil || got.OutOfMemory || got.Signal != "killed" {
		t.Errorf("out of memory %v, signal %q, error %v, want a plain kill", got.OutOfMemory, got.Signal, err)
	}
}
