package worker_test

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/accelgate/accelgate/internal/testing/testtier"
	"github.com/accelgate/accelgate/internal/worker"
)

const (
	burned = 30 * time.Millisecond // of processor time
	held   = 96 << 20              // bytes
)

func init() {
	systemPrograms["burn"] = func(string) { burn() }
	// burned-and-left starts a process in a session of its own, which outlives it.
	systemPrograms["burn-and-stay"] = func(string) {
		burn()
		fmt.Println("burned")
		time.Sleep(time.Minute)
	}
	systemPrograms["burn-by-orphan"] = func(string) {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), childMode+"=burn-and-stay")
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		out, err := c.StdoutPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			panic(err)
		}
		_, _ = out.Read(make([]byte, 1))
	}
}

// burn uses processor time and memory.
func burn() {
	memory := make([]byte, held)
	for i := range memory {
		memory[i] = byte(i)
	}
	var ru syscall.Rusage
	for syscall.Getrusage(syscall.RUSAGE_SELF, &ru); time.Duration(ru.Utime.Nano()+ru.Stime.Nano()) < burned; syscall.Getrusage(syscall.RUSAGE_SELF, &ru) {
		memory[int(ru.Utime.Usec)%held]++
	}
}

func TestUsage(t *testing.T) {
	for _, mode := range []string{"burn", "burn-by-orphan"} {
		resp, err := new(worker.Isolated).Do(within(t), request(t, mode, ""))
		if err != nil || !resp.OK() {
			t.Fatalf("%s: %v, %s", mode, err, resp.Log)
		}
		// With the race detector this process is large itself.
		if u := resp.Usage; u.CPU < burned || u.PeakRSS < held || u.Hidden && u.PeakRSS > held*4 && !testtier.Race {
			t.Errorf("%s used %+v, want at least %v and %d bytes", mode, u, burned, int64(held))
		}
	}
}

// TestUsageOfASmallChild shows what Linux counts for a child that is smaller than its parent.
func TestUsageOfASmallChild(t *testing.T) {
	burn() // holds more than the child does
	resp, err := new(worker.Isolated).Do(within(t), request(t, "exit", "0"))
	if err != nil || !resp.OK() {
		t.Fatal(err, resp.Log)
	}
	if u := resp.Usage; !u.Hidden || u.PeakRSS < held {
		t.Errorf("the child used %+v, want a peak that is hidden by the %d bytes of this process", u, int64(held))
	}
}

// TestWaited: of two programs on one processor, each waits while the other runs.
func TestWaited(t *testing.T) {
	t.Parallel()
	var allowed unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		t.Fatal(err)
	}
	cpu := 0
	for !allowed.IsSet(cpu) {
		cpu++
	}
	req := worker.Request{Args: []string{"/bin/sh", "-c", "while :; do :; done"}, Env: []string{worker.CPUs + "=" + strconv.Itoa(cpu)}}
	one, other := startProcess(t, new(worker.Isolated), req), startProcess(t, new(worker.Isolated), req)
	for ctx := within(t); one.Waited() < burned || other.Waited() < burned; time.Sleep(time.Millisecond) {
		if ctx.Err() != nil {
			t.Fatalf("they waited %v and %v, want %v", one.Waited(), other.Waited(), burned)
		}
	}
	if _, err := one.Stop(worker.Cancelled); err != nil || one.Waited() != 0 {
		t.Errorf("%v; a process that ended waits %v", err, one.Waited())
	}
}
