//go:build !linux

package worker

import "errors"

// startOn is for Linux: other systems bind no process to processors.
func startOn([]int, func() error) error {
	return errors.New("processors can be chosen on Linux and in containers only: remove cpus, or measure on Linux")
}
