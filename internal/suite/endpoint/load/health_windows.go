package load

import (
	"math"
	"syscall"
)

// cpuTime returns the seconds that the process used, in user and system mode.
func cpuTime() float64 {
	var created, exited, kernel, user syscall.Filetime
	self, err := syscall.GetCurrentProcess()
	if err == nil {
		err = syscall.GetProcessTimes(self, &created, &exited, &kernel, &user)
	}
	if err != nil {
		return math.NaN()
	}
	return ticks(kernel) + ticks(user)
}

// ticks converts a duration that is counted in units of 100 ns. Filetime's own
// Nanoseconds would take it for a date.
func ticks(t syscall.Filetime) float64 {
	return float64(int64(t.HighDateTime)<<32|int64(t.LowDateTime)) / 1e7
}
