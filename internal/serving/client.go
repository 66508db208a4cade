package serving

import (
	"fmt"
	"time"
)

// What a client may take before its own slowness shows in the numbers.
const (
	// MaxScheduleDelayP99 is two milliseconds: a fifth of a TPOT of 10 ms, and
	// more than an idle machine needs to wake a goroutine.
	MaxScheduleDelayP99 = 2 * time.Millisecond
	// MaxCPUShare is of the processors that the client may use. Above it,
	// goroutines wait for a processor while their bytes have arrived.
	MaxCPUShare = 0.8
	// MaxGCPause is how long the collector may stop the client: every stream
	// stamps its chunks that much later.
	MaxGCPause = 5 * time.Millisecond
)

// Client is the health of the load generator over a measurement. What is 0 or
// NaN was not measured and limits nothing.
type Client struct {
	ScheduleDelayP99 time.Duration // Output has it
	// Capped tells of an open loop with a limit on requests in flight: then the
	// delay of the schedule is the server's, and Output.Saturated judges it.
	Capped     bool
	CPUShare   float64 // of the processors that the client may use, 0 to 1
	GCPauseMax time.Duration
}

// ClientLimited says why the numbers may be the client's rather than the
// server's, with a next step; "" if nothing speaks for that.
func ClientLimited(c Client) string {
	const instead = ": the numbers may be the client's; run it on a machine of its own, or send less at once"
	switch {
	case !c.Capped && c.ScheduleDelayP99 > MaxScheduleDelayP99:
		return fmt.Sprintf("one request in a hundred was sent more than %.3g ms late, and %.3g ms are the limit%s",
			milliseconds(c.ScheduleDelayP99), milliseconds(MaxScheduleDelayP99), instead)
	case c.CPUShare > MaxCPUShare:
		return fmt.Sprintf("the client used %s of its processors, and %s are the limit%s", percent(c.CPUShare), percent(MaxCPUShare), instead)
	case c.GCPauseMax > MaxGCPause:
		return fmt.Sprintf("garbage collection stopped the client for %.3g ms, and %.3g ms are the limit%s",
			milliseconds(c.GCPauseMax), milliseconds(MaxGCPause), instead)
	}
	return ""
}
