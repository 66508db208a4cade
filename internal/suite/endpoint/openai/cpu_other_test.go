//go:build !unix

package openai

import (
	"testing"
	"time"
)

func cpuTime(tb testing.TB) time.Duration {
	tb.Helper()
	tb.Skip("the time of a process is read on Unix only: run this benchmark there")
	return 0
}
