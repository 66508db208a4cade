package mock

import (
	"sync"
	"testing"
	"time"
)

func startPacer(t *testing.T, now func() time.Time) *pacer {
	t.Helper()
	p, err := newPacer(now, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.close)
	return p
}

// TestPacerRingsInOrder: whatever is due is woken up, and nothing else.
func TestPacerRingsInOrder(t *testing.T) {
	t.Parallel()
	start := time.Unix(0, 0)
	now := start
	p := startPacer(t, func() time.Time { return now })
	var alarms []*alarm
	for _, ms := range []int{5, 1, 3, 2, 4} {
		a := newAlarm()
		p.add(a, start.Add(time.Duration(ms)*time.Millisecond))
		alarms = append(alarms, a)
	}
	for ms := range 6 {
		now = start.Add(time.Duration(ms) * time.Millisecond)
		p.ring()
		for _, a := range alarms {
			if rung := len(a.hit) == 1; rung != !a.due.After(now) {
				t.Errorf("at %d ms the alarm of %v is rung: %v", ms, a.due.Sub(start), rung)
			}
		}
	}
}

// TestPacerWaits: later waits do not put off earlier ones, nor earlier ones
// lose later ones.
func TestPacerWaits(t *testing.T) {
	t.Parallel()
	p := startPacer(t, time.Now)
	ended := make(chan struct{})
	go func() { defer close(ended); p.run() }()
	var waits sync.WaitGroup
	for i := range 50 {
		waits.Go(func() {
			a := newAlarm()
			for range 3 {
				due := time.Now().Add(time.Duration(50-i) * 100 * time.Microsecond)
				if !p.wait(nil, nil, a, due) || time.Now().Before(due) {
					t.Error("a wait ended before its time")
				}
			}
		})
	}
	waits.Wait()
	p.close()
	<-ended
}

func TestWaitsEndWithClientAndServer(t *testing.T) {
	t.Parallel()
	p := startPacer(t, time.Now)
	gone := make(chan struct{})
	close(gone)
	for _, due := range []time.Time{time.Now().Add(time.Hour), time.Now()} {
		if p.wait(gone, nil, newAlarm(), due) {
			t.Error("a wait outlived its client")
		}
		if p.wait(nil, gone, newAlarm(), due) {
			t.Error("a wait outlived the server")
		}
	}
}

// TestDueDoesNotDrift: a token's time depends on its number alone, and with
// jitter it is late by less than the jitter, in order, and the same again.
func TestDueDoesNotDrift(t *testing.T) {
	t.Parallel()
	for _, jitter := range []time.Duration{0, 15 * time.Millisecond} {
		var again []time.Time
		for round := range 2 {
			a := &answer{Server: &Server{config: Config{TTFT: 50 * time.Millisecond, TPOT: 10 * time.Millisecond, Jitter: jitter}}, start: time.Unix(9, 0)}
			if jitter > 0 {
				a.jitter = newJitter(1, 2)
			}
			var before time.Time
			for i := range 1000 {
				got := a.due(i, i+1)
				late := got.Sub(a.start.Add(50*time.Millisecond + time.Duration(i)*10*time.Millisecond))
				if late < 0 || late > 0 && late >= jitter || got.Before(before) {
					t.Fatalf("token %d is late by %v with a jitter of %v", i, late, jitter)
				}
				if before = got; round == 0 {
					again = append(again, got)
				} else if !again[i].Equal(got) {
					t.Fatalf("token %d is due at %v and then at %v", i, again[i], got)
				}
			}
		}
	}
}
