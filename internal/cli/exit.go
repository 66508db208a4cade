package cli

import (
	"errors"
	"fmt"

	"github.com/accelgate/accelgate/internal/config"
)

// Exit codes. A regression that was found is not an error of the program.
const (
	ExitPassed     = 0 // the gate passed, or the command did what it was asked
	ExitGateFailed = 1 // the gate failed
	ExitUsage      = 2 // the command line or the configuration is wrong
	ExitNoMeasure  = 3 // could not measure or judge: no cells, an unreadable baseline, a dead device
)

// exitCode maps an error to the code: usage and configuration are 2, whatever
// else kept accelgate from a verdict is 3.
func exitCode(err error) int {
	var wrong usageError
	var invalid *config.Error
	if errors.As(err, &wrong) || errors.As(err, &invalid) {
		return ExitUsage
	}
	return ExitNoMeasure
}

// usageError marks an error whose remedy is another command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// usage makes an error one of usage.
func usage(err error) error { return usageError{err} }

// usagef formats an error of usage.
func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }
