//go:build !linux

package worker

import "time"

// waited is known on Linux only.
func waited(int) time.Duration { return 0 }

// lookAt sees nothing: threads show how long they wait on Linux only.
func lookAt(int, <-chan struct{}) (seen func(time.Duration, *Usage)) {
	return func(time.Duration, *Usage) {}
}

// hidden is false: a child does not inherit the peak of its parent.
func hidden(int64) bool { return false }
