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
	// Hidden means that PeakRSS is an upper bound and no measurement: Linux counts
	// what this process held when it started the child, and the child was smaller.
	Hidden bool

	// Instructions is how many instructions the process tree retired in user mode; 0 is unknown, see
	// [NoInstructions].
	Instructions int64

	// Looked means that what follows is known: of a child of one request on Linux that ran for some
	// time, by looks at its threads.
	Looked bool
	// Waited is how long its threads were ready to run and had no processor, added up.
	Waited time.Duration
	// Off is the part of the wall time in which none of its threads ran or was ready to run.
	Off time.Duration
	// Threads is how many of its threads computed at once, on average.
	Threads float64
}

// add counts in a process that was reaped.
func (u *Usage) add(more Usage) {
	u.CPU += more.CPU
	u.PeakRSS = max(u.PeakRSS, more.PeakRSS)
}
