package worker_test

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/testtier"
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
