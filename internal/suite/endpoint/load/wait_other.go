//go:build !linux

package load

import "time"

// nanosleep does nothing: the runtime's own timers are precise here.
func nanosleep(time.Duration) {}
