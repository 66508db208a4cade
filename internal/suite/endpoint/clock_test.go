package endpoint

import (
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/suite/endpoint/openai"
)

// TestClockByDates reads servers that say whole seconds, as a shard does: at the second
// that the middle of the interval predicts.
func TestClockByDates(t *testing.T) {
	t.Parallel()
	for _, offset := range []time.Duration{0, 400 * time.Millisecond, -37 * time.Second, 3*time.Hour + 1234567} {
		epoch, at := time.Unix(1_700_000_000, 123_456_789), 5*time.Second
		const trip = 300 * time.Microsecond
		var c clock
		for range clockReads {
			if c.Reads > 0 {
				server := epoch.Add(at).Add(c.Low + (c.High-c.Low)/2)
				at += server.Truncate(time.Second).Add(time.Second).Sub(server)
			}
			said := epoch.Add(at + trip/2).Add(offset).Truncate(time.Second)
			c.add(epoch, openai.Time{From: said, To: said.Add(time.Second), Sent: at, Received: at + trip})
		}
		if offset < c.Low || offset > c.High || c.High-c.Low > 2*time.Millisecond {
			t.Errorf("%v lies from %v to %v", offset, c.Low, c.High)
		}
		if wrong := c.correction() - offset; wrong.Abs() > 2*time.Millisecond {
			t.Errorf("%v is corrected by %v", offset, c.correction())
		}
	}
}

func TestNoClockCorrectsNothing(t *testing.T) {
	t.Parallel()
	if got := (clock{}).correction(); got != 0 {
		t.Errorf("got %v", got)
	}
	if got := (clock{Low: -time.Second, High: time.Second, Reads: 1}).correction(); got != 0 {
		t.Errorf("got %v, and the clocks agree as far as was measured", got)
	}
}
