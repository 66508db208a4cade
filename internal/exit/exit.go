// Package exit holds the exit codes, and the errors whose remedy is another
// command line or configuration.
package exit

import (
	"errors"
	"fmt"

	"github.com/accelgate/accelgate/internal/config"
)

// Exit codes. A regression that was found is not an error of the program.
const (
	Passed     = 0 // the gate passed, or the command did what it was asked
	GateFailed = 1 // the gate failed
	Usage      = 2 // the command line or the configuration is wrong
	NoMeasure  = 3 // could not measure or judge: no cells, an unreadable baseline, a dead device
)

// Code maps an error to the code: usage and configuration are 2, whatever
// else kept accelgate from a verdict is 3.
func Code(err error) int {
	var wrong usageError
	var invalid *config.Error
	if errors.As(err, &wrong) || errors.As(err, &invalid) {
		return Usage
	}
	return NoMeasure
}

// usageError marks an error whose remedy is another command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// AsUsage makes an error one of usage; nil stays nil.
func AsUsage(err error) error {
	if err == nil {
		return nil
	}
	return usageError{err}
}

// Usagef formats an error of usage.
func Usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }
