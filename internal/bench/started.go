package bench

import (
	"fmt"
	"time"
)

// earliest is before every run of accelgate. Hosts without a clock begin in 1970.
var earliest = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// Misdated states why the run cannot have started when it states; "" where it can, or
// where it states no time. Clocks may differ by a day.
func (r *Run) Misdated(now time.Time) string {
	when := "in the future"
	switch {
	case r.Started.IsZero() || !r.Started.Before(earliest) && !r.Started.After(now.AddDate(0, 0, 1)):
		return ""
	case r.Started.Before(earliest):
		when = "before any run of accelgate"
	}
	return fmt.Sprintf("it states that it started on %s, which is %s", r.Started.UTC().Format(time.DateOnly), when)
}
