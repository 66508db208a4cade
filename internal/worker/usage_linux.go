package worker

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"
)

// hidden reports whether the peak of a child, in bytes, may be that of this process. The
// kernel counts it for each child: fork shares the memory of the parent until exec,
// which keeps the peak (setmax_mm_hiwater_rss in fs/exec.c). At that moment it reads
// counters without what each processor has not added to them yet (percpu_counter), so
// the two may differ: by a sixteenth at most here.
func hidden(peak int64) bool {
	peak -= peak / 16
	var ru syscall.Rusage // its peak is at least that of our memory, and takes a microsecond
	if syscall.Getrusage(syscall.RUSAGE_SELF, &ru) == nil && peak > ruled(&ru).PeakRSS {
		return false
	}
	return peak <= ownPeak()
}

// ownPeak is the largest resident set of this process, in bytes; 0 is unknown.
func ownPeak() int64 {
	status, _ := os.ReadFile("/proc/self/status")
	_, after, _ := bytes.Cut(status, []byte("\nVmHWM:"))
	before, _, _ := bytes.Cut(after, []byte(" kB"))
	kib, _ := strconv.ParseInt(string(bytes.TrimSpace(before)), 10, 64)
	return kib << 10
}

// waited is how long the first thread of a process was ready to run and had no processor.
func waited(pid int) time.Duration {
	c, _ := countersIn("/proc/" + strconv.Itoa(pid))
	return c.waited
}

// reap waits for a dead orphan and counts what it used.
func (t *tree) reap(pid int) {
	var ru syscall.Rusage
	if got, _ := syscall.Wait4(pid, nil, syscall.WNOHANG|syscall.WALL, &ru); got > 0 {
		t.orphans.add(ruled(&ru))
	}
}
