//go:build unix

package load

import (
	"math"
	"syscall"
)

// cpuTime returns the seconds that the process used, in user and system mode.
func cpuTime() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return math.NaN()
	}
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}
