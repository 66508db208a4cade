package latency

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// MaxClientDelay is how late the load generator may be before its own slowness
// shows in the numbers, unless configured otherwise: a fifth of a TPOT of 10 ms,
// and more than an idle machine needs to wake a goroutine.
const MaxClientDelay = 2 * time.Millisecond

const (
	// maxCPUShare is of the processors that the client may use. Above it,
	// goroutines wait for a processor while their bytes have arrived.
	maxCPUShare = 0.8
	// pauses of the collector are rare: as many delays may one last.
	pauseDelays = 2.5
)

// Client is the health of the load generator over a measurement. What is not
// above 0 was not measured and limits nothing.
type Client struct {
	Limit            time.Duration // what is late; 0 is MaxClientDelay
	ScheduleDelayP50 time.Duration // Output has it, and the next
	ScheduleDelayP99 time.Duration
	// Capped reports an open loop with a limit on requests in flight: then the
	// delay of the schedule is the server's, and Output.Saturated judges it.
	Capped       bool
	WakeDelayP50 time.Duration
	WakeDelayP99 time.Duration
	CPUShare     float64 // of the processors that the client may use, 0 to 1
	GCPauseMax   time.Duration
}

const instead = ": the numbers may be the client's; run it on a host of its own, send less at once, or raise client_delay"

// ClientLimited returns why all numbers may be the client's rather than the
// server's, with a next step; "" if they are not. A client that is late in the
// middle shifts every median. One that is late one time in a hundred, as on a
// host that also serves, shifts high percentiles alone: see [TailLimited].
func ClientLimited(c Client) string {
	limit := cmp.Or(c.Limit, MaxClientDelay)
	switch {
	case !c.Capped && c.ScheduleDelayP50 > limit:
		return late("every second request was sent late by more than", c.ScheduleDelayP50, limit)
	case c.WakeDelayP50 > limit:
		return late("every second time the client waited for a processor for more than", c.WakeDelayP50, limit)
	case c.CPUShare > maxCPUShare:
		return fmt.Sprintf("the client used %s of its processors, and %s are the limit%s", percent(c.CPUShare), percent(maxCPUShare),
			instead)
	}
	return ""
}

// TailLimited returns why percentiles above the median may be the client's rather
// than the server's; "" if they are not.
func TailLimited(c Client) string {
	limit := cmp.Or(c.Limit, MaxClientDelay)
	pause := time.Duration(float64(limit) * pauseDelays)
	switch {
	case !c.Capped && c.ScheduleDelayP99 > limit:
		return late("one request in a hundred was sent late by more than", c.ScheduleDelayP99, limit)
	case c.WakeDelayP99 > limit:
		return late("one time in a hundred the client waited for a processor for more than", c.WakeDelayP99, limit)
	case c.GCPauseMax > pause:
		return late("garbage collection stopped the client for", c.GCPauseMax, pause)
	}
	return ""
}

func late(what string, d, limit time.Duration) string {
	return fmt.Sprintf("%s %.3g ms, and %.3g ms are the limit%s", what, milliseconds(d), milliseconds(limit), instead)
}

// Tail reports whether a metric is a percentile of a latency above the median.
func Tail(metric string) bool {
	i := slices.IndexFunc(catalogue, func(r row) bool { return r.Name == metric })
	return i >= 0 && catalogue[i].CountedBy != ""
}
