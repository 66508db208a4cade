package load

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestSharesAreTheWhole runs all shares of a plan at once and the whole alone,
// on generated clocks: what is sent, and of an open loop when, is the same.
func TestSharesAreTheWhole(t *testing.T) {
	for name, p := range map[string]Plan{
		"gamma":    {Mode: Gamma, Rate: 50, Burstiness: 0.5, Duration: 1 * time.Second, Warmup: WarmupRule{Requests: 7}, Drain: time.Second, Seed: 7},
		"burst":    {Mode: Burst, Rate: 40, Burst: 5, Requests: 100, Drain: time.Second},
		"capped":   {Mode: Constant, Rate: 20, Concurrency: 9, Requests: 61, Drain: time.Second},
		"requests": {Mode: Closed, Concurrency: 7, Requests: 100, Warmup: WarmupRule{Requests: 14}, Drain: time.Second},
	} {
		for _, n := range []int{2, 7} {
			t.Run(name, func(t *testing.T) {
				s := lay(t, p)
				whole, parts := runShares(t, s, 1), runShares(t, s, n)
				if p.Mode == Closed { // which numbers its requests in the order of the slots
					if a, b := len(whole), len(parts); a != b {
						t.Fatalf("%d clients measured %d requests, one %d", n, b, a)
					}
					slices.Sort(parts)
					if len(slices.Compact(parts)) != len(whole) {
						t.Fatalf("%d clients sent a request twice", n)
					}
					return
				}
				slices.Sort(parts)
				if !slices.Equal(whole, parts) {
					t.Fatalf("%d clients sent\n%v\nand one\n%v", n, parts, whole)
				}
			})
		}
	}
}

// runShares returns the indices of the measured requests of all shares, sorted by the
// client, and checks that each was sent when it was due.
func runShares(t *testing.T, s Schedule, n int) (measured []int) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var all sync.WaitGroup
		for k := range n {
			part, err := s.Share(k, n)
			if err != nil {
				t.Fatal(err)
			}
			all.Go(func() {
				r := &recorder{now: clock(), took: always(30 * time.Millisecond)}
				if _, err := Run(t.Context(), part, r.now, r.send); err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				for _, one := range r.of(Measure) {
					measured = append(measured, one.Index)
					if s.plan.Mode != Closed && one.Due != s.arrivals[one.Index] {
						t.Errorf("request %d was due at %v and not at %v", one.Index, one.Due, s.arrivals[one.Index])
					}
				}
			})
		}
		all.Wait()
	})
	return measured
}

func TestASlotRampsInItsPlaceAmongAll(t *testing.T) {
	s := lay(t, Plan{Mode: Closed, Concurrency: 4, Ramp: 400 * time.Millisecond, Requests: 8})
	part, err := s.Share(1, 2)
	if err != nil {
		t.Fatal(err)
	}
	c := closedLoop{ledger: &ledger{schedule: part}}
	if a, b := c.share(400*time.Millisecond, 0), c.share(400*time.Millisecond, 1); a != 100*time.Millisecond || b != 300*time.Millisecond {
		t.Errorf("the slots start at %v and %v, want 100ms and 300ms", a, b)
	}
}

func TestSharesThatCannotBe(t *testing.T) {
	s := lay(t, Plan{Mode: Closed, Concurrency: 2, Requests: 5})
	for _, of := range [][2]int{{0, 3}, {-1, 2}, {2, 2}, {0, 0}} {
		if _, err := s.Share(of[0], of[1]); err == nil {
			t.Errorf("client %d of %d was accepted", of[0], of[1])
		}
	}
	part, err := s.Share(0, 2)
	if err == nil {
		_, err = part.Share(0, 1)
	}
	if err == nil {
		t.Error("a share of a share was accepted")
	}
}
