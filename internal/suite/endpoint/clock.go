package endpoint

import (
	"context"
	"fmt"
	"time"

	"github.com/accelgate/accelgate/internal/suite/endpoint/openai"
)

// clock is what was measured of the server's clock: how far it is ahead of the
// client's lies from Low to High. The zero value was not measured.
type clock struct {
	Low   time.Duration `json:"low_ns"`
	High  time.Duration `json:"high_ns"`
	Reads int           `json:"reads"`
}

// correction is the least change of the client's clock that agrees with the server's: 0
// where the two agree as far as was measured.
func (c clock) correction() time.Duration {
	if c.Reads == 0 {
		return 0
	}
	return min(max(0, c.Low), c.High)
}

// String returns the offset with its precision.
func (c clock) String() string {
	if c.Reads == 0 {
		return "the server's clock was not measured"
	}
	middle, half := c.Low+(c.High-c.Low)/2, (c.High-c.Low)/2
	return fmt.Sprintf("the server's clock is %+.1f ms ±%.1f ms from this one", ms(middle), ms(half))
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// clockTime bounds how long the clock is read, and clockReads how often. A server
// says whole seconds, so each reading about halves the interval.
const (
	clockTime  = 12 * time.Second
	clockReads = 12
)

// readClock measures the server's clock for a shard: the hosts have a clock each. A
// server that does not say the time leaves them as they are.
func (m *measurement) readClock(ctx context.Context) error {
	if m.suite.shard == nil {
		return nil
	}
	limit := clockTime
	if left := m.suite.shard.Start.Sub(m.env.Now()) - time.Second; left < limit {
		limit = left
	}
	ctx, cancel := context.WithTimeout(ctx, max(limit, 0))
	defer cancel()
	var c clock
	for c.Reads < clockReads && (c.Reads == 0 || c.High-c.Low > time.Millisecond) {
		if c.Reads > 0 && !m.waitForTurn(ctx, c) {
			break
		}
		read, err := m.client.Time(ctx)
		if err != nil {
			break
		}
		c.add(m.epoch, read)
	}
	if c.High < c.Low { // servers with a clock each, behind one address
		c = clock{}
	}
	m.clock = c
	return nil
}

// add narrows what is known by one reading: the server took its time between the
// sending and the answer.
func (c *clock) add(epoch time.Time, r openai.Time) {
	low, high := r.From.Sub(epoch)-r.Received, r.To.Sub(epoch)-r.Sent
	if c.Reads == 0 {
		c.Low, c.High = low, high
	}
	c.Low, c.High = max(c.Low, low), min(c.High, high)
	c.Reads++
}

// waitForTurn waits until the server's clock, by the middle of the interval, comes to a
// new second, when a reading narrows the interval most.
func (m *measurement) waitForTurn(ctx context.Context, c clock) bool {
	server := m.env.Now().Add(c.Low + (c.High-c.Low)/2)
	select {
	case <-time.After(server.Truncate(time.Second).Add(time.Second).Sub(server)):
		return true
	case <-ctx.Done():
		return false
	}
}
