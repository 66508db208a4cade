//go:build !linux

package worker

import "errors"

// startOn is for Linux: other systems bind no process to processors.
func startOn(binding, func() error) error {
	return errors.New("processors can be chosen on Linux and in containers only: remove cpus and numa, or measure on Linux")
}
