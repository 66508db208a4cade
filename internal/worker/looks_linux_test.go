package worker_test

import (
	"os"
	"os/exec"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/accelgate/accelgate/internal/worker"
)

func init() {
	systemPrograms["compute"] = func(string) { computeOn(1) }
	systemPrograms["compute-by-child"] = func(string) {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), childMode+"=compute")
		if err := c.Run(); err != nil {
			panic(err)
		}
	}
	systemPrograms["compute-on-two-threads"] = func(string) { computeOn(2) }
	systemPrograms["sleep"] = func(string) { time.Sleep(400 * time.Millisecond) }
}

// computeOn computes on as many threads, until each of them had 200 ms of a processor: on a busy host, a span of time would end
// before the last thread had any.
func computeOn(threads int32) {
	runtime.GOMAXPROCS(int(threads))
	var all sync.WaitGroup
	var open atomic.Int32
	open.Store(threads)
	for range threads {
		all.Go(func() {
			runtime.LockOSThread()
			for mine := true; open.Load() > 0; {
				var had unix.Timespec
				_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &had)
				if mine && had.Nano() > int64(200*time.Millisecond) {
					mine = false
					open.Add(-1)
				}
			}
		})
	}
	all.Wait()
}

// TestLooksAtThreads: a child that computes is never off the processors, however busy the host is, and one
// that sleeps always is. Threads are those that compute, and not those that exist.
func TestLooksAtThreads(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]struct{ off, threads [2]float64 }{
		"compute":                {off: [2]float64{0, 0.3}, threads: [2]float64{1, 1.6}},
		"compute-by-child":       {off: [2]float64{0, 0.3}, threads: [2]float64{1, 1.6}},
		"compute-on-two-threads": {off: [2]float64{0, 0.3}, threads: [2]float64{1.4, 3}},
		"sleep":                  {off: [2]float64{0.7, 1}, threads: [2]float64{0, 4}},
	} {
		resp, err := new(worker.Isolated).Do(within(t), request(t, mode, ""))
		if err != nil || !resp.OK() {
			t.Fatalf("%s: %v, %s", mode, err, resp.Log)
		}
		u := resp.Usage
		off := u.Off.Seconds() / resp.Wall.Seconds()
		t.Logf("%s: %v of %v off, waited %v, %.2f threads, cpu %v", mode, u.Off, resp.Wall, u.Waited, u.Threads, u.CPU)
		if !u.Looked || off < want.off[0] || off > want.off[1] || u.Threads < want.threads[0] || u.Threads > want.threads[1] {
			t.Errorf("%s: %+v in %v, want %v of it off and %v threads", mode, u, resp.Wall, want.off, want.threads)
		}
	}
}

// TestLooksNeedTime: nothing is known of threads that ended before the first look.
func TestLooksNeedTime(t *testing.T) {
	t.Parallel()
	resp, err := new(worker.Isolated).Do(within(t), request(t, "exit", "0"))
	if err != nil || resp.Usage.Looked && resp.Wall < 10*time.Millisecond {
		t.Errorf("%v, %+v after %v", err, resp.Usage, resp.Wall)
	}
}
