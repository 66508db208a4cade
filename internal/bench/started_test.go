package bench

import (
	"testing"
	"time"
)

func TestMisdated(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		started time.Time
		want    bool
	}{
		"states no time":     {time.Time{}, false},
		"an hour ago":        {now.Add(-time.Hour), false},
		"a clock that leads": {now.Add(23 * time.Hour), false},
		"in two days":        {now.Add(48 * time.Hour), true},
		"2099":               {time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC), true},
		"no clock":           {time.Unix(7, 0), true},
	} {
		if why := (&Run{Started: c.started}).Misdated(now); (why != "") != c.want {
			t.Errorf("%s: got %q, want one: %v", name, why, c.want)
		}
	}
}
