package worker

import "time"

// Usage is what a child used. The zero value says that it is unknown: of a
// container, of a persistent child, and on Windows.
type Usage struct {
	// CPU is the user and system time of the child, of the descendants that were
	// waited for, and on Linux of its orphans.
	CPU time.Duration
	// PeakRSS is the largest resident set of any single one of these processes, in
	// bytes. It is no sum.
	PeakRSS int64
	// Hidden says that PeakRSS is an upper bound and no measurement: Linux counts
	// what this process held when it started the child, and the child was smaller.
	Hidden bool
}

// add counts in a process that was reaped.
func (u *Usage) add(more Usage) {
	u.CPU += more.CPU
	u.PeakRSS = max(u.PeakRSS, more.PeakRSS)
}
