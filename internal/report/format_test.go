package report

import (
	"math"
	"testing"
	"time"
)

func TestNumber(t *testing.T) {
	for _, c := range []struct {
		x    float64
		want string
	}{
		{0, "0"}, {95.3, "95.3"}, {145.2349, "145.2"}, {0.00071234, "0.0007123"}, {9812.4, "9812"},
		{98123.4, "98123"}, {-98123.4, "-98123"}, {1.5e9, "1.5e+09"}, {1e300, "1e+300"}, {math.NaN(), "not a number"}, {math.Inf(-1), "not a number"},
	} {
		if got := number(c.x); got != c.want {
			t.Errorf("number(%v) = %q, want %q", c.x, got, c.want)
		}
	}
}

// TestPercent keeps a change beyond the limit from looking equal to it.
func TestPercent(t *testing.T) {
	for _, c := range []struct {
		x, limit float64
		want     string
	}{
		{-15.83, 10, "-15.8 %"}, {3, 10, "+3.0 %"}, {-10, 10, "-10.0 %"}, {-10.04, 10, "-10.04 %"}, {-10.0001, 10, "-10.0001 %"},
		{10.0000001, 10, "+10.0000 %"}, {-7.52, 7.5, "-7.52 %"}, {-0.01, 10, "0.0 %"}, {math.Copysign(0, -1), 10, "0.0 %"},
		{1234567, 10, "+1.23e+06 %"}, {math.Inf(1), 10, "not a number"},
	} {
		if got := percent(c.x, c.limit); got != c.want {
			t.Errorf("percent(%v, %v) = %q, want %q", c.x, c.limit, got, c.want)
		}
	}
}

func TestAge(t *testing.T) {
	now := time.Date(2026, 3, 14, 10, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		then time.Time
		want string
	}{
		{now.Add(-23 * time.Hour), "today"}, {now.Add(-24 * time.Hour), "1 day"}, {now.AddDate(0, 0, -40), "40 days"},
		{now.Add(time.Hour), "today"}, {time.Time{}, "unknown age"},
	} {
		if got := age(c.then, now); got != c.want {
			t.Errorf("age(%v) = %q, want %q", c.then, got, c.want)
		}
	}
}
