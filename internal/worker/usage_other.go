//go:build !linux

package worker

import "time"

// waited is known on Linux only.
func waited(int) time.Duration { return 0 }

// hidden is false: a child does not inherit the peak of its parent.
func hidden(int64) bool { return false }
