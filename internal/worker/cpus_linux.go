package worker

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

// startOn moves this thread to the processors for the time of start: a child inherits those of
// the thread that forks it. See sched_setaffinity(2).
func startOn(cpus []int, start func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, wanted unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return fmt.Errorf("ask for the processors of this process: %w", err)
	}
	for _, cpu := range cpus {
		if !before.IsSet(cpu) {
			return fmt.Errorf("processor %d is not one that accelgate may use: correct cpus, or start accelgate without taskset or a narrower cpuset", cpu)
		}
		wanted.Set(cpu)
	}
	if err := unix.SchedSetaffinity(0, &wanted); err != nil {
		return fmt.Errorf("move to processors: %w", err)
	}
	err := start()
	if unix.SchedSetaffinity(0, &before) != nil { // the cpuset has other processors by now
		before.Fill()
		_ = unix.SchedSetaffinity(0, &before) // the kernel leaves out those that are not in it
	}
	return err
}
