package worker

import (
	"fmt"
	"syscall"
)

// Conceal keeps other processes of the same user from reading this process's
// memory and its initial environment in /proc, where a scrubbed child would
// otherwise find what was kept from it. It also ends core dumps and attaching
// a debugger. A process with CAP_SYS_PTRACE or CAP_PERFMON, such as root
// outside of a container, still can; elsewhere than on Linux there is no such
// switch and Conceal does nothing. See PR_SET_DUMPABLE in prctl(2).
func Conceal() error {
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_DUMPABLE, 0, 0); errno != 0 {
		return fmt.Errorf("hide the environment from children: %w", errno)
	}
	return nil
}
