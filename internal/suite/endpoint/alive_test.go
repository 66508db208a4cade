package endpoint

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestAlive: a server is silent while it loads, and while it works on requests and sends nothing;
// not while nothing is asked of it.
func TestAlive(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := alive{now: time.Now}
		quiet := func(want time.Duration) {
			t.Helper()
			if got := time.Since(time.Unix(0, a.at())); got != want && want >= 0 || want < 0 && got < time.Hour {
				t.Errorf("silent for %v, want %v", got, want)
			}
		}
		quiet(-1) // it loads
		a.loaded.Store(true)
		time.Sleep(time.Minute)
		quiet(0)
		first := a.asks()
		time.Sleep(time.Second)
		second := a.asks()
		time.Sleep(time.Second)
		quiet(2 * time.Second)
		a.heard()
		time.Sleep(time.Second)
		quiet(time.Second)
		first()
		quiet(time.Second)
		second()
		quiet(0)
		time.Sleep(time.Minute)
		defer a.asks()()
		quiet(0) // it may take its time from now on
	})
}
