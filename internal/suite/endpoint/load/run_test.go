package load

import (
	"context"
	"errors"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// sent is what a test's send saw of one request.
type sent struct {
	Shot
	at, end time.Duration
	cause   error
}

// recorder is a server whose requests take as long as took says, or end with
// their context.
type recorder struct {
	now  func() time.Duration
	took func(Shot) time.Duration
	mu   sync.Mutex
	all  []sent
}

func (r *recorder) send(ctx context.Context, shot Shot) {
	s := sent{Shot: shot, at: r.now()}
	select {
	case <-time.After(r.took(shot)):
	case <-ctx.Done():
		s.cause = context.Cause(ctx)
	}
	s.end = r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, s)
}

func (r *recorder) of(p Phase) []sent {
	return slices.DeleteFunc(slices.SortedFunc(slices.Values(r.all), func(a, b sent) int { return a.Index - b.Index }),
		func(s sent) bool { return s.Phase != p })
}

func always(d time.Duration) func(Shot) time.Duration { return func(Shot) time.Duration { return d } }

// clock returns the time since its call: of the bubble inside a bubble.
func clock() func() time.Duration {
	t0 := time.Now()
	return func() time.Duration { return time.Since(t0) }
}

// execute runs a plan in a bubble, where time is exact and leaked goroutines
// fail the test.
func execute(t *testing.T, p Plan, took func(Shot) time.Duration, check func(*recorder, Log, error)) {
	t.Helper()
	s := lay(t, p)
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{now: clock(), took: took}
		log, err := Run(t.Context(), s, r.now, r.send)
		synctest.Wait()
		check(r, log, err)
	})
}

const ms = time.Millisecond

func TestClosedLoopKeepsItsSlotsBusy(t *testing.T) {
	t.Parallel()
	p := Plan{Mode: Closed, Concurrency: 4, Requests: 40, Warmup: WarmupRule{Requests: 8, Duration: 250 * ms}, Drain: time.Second}
	took := func(s Shot) time.Duration { return time.Duration(90+s.Index%4*7) * ms }
	execute(t, p, took, func(r *recorder, log Log, err error) {
		if err != nil {
			t.Fatal(err)
		}
		measured := r.of(Measure)
		if len(measured) != 40 || log.Measure != (Count{Due: 40, Sent: 40}) {
			t.Fatalf("%d measured, counts %+v", len(measured), log.Measure)
		}
		if log.Window.Start != measured[0].Due || log.Window.Start < 250*ms || log.Window.End < measured[39].Due || log.MaxInFlight != 4 {
			t.Errorf("log %+v, measured from %v to %v", log, measured[0].Due, measured[39].Due)
		}
		ends := map[time.Duration]int{}
		for _, s := range r.all {
			ends[s.end]++
		}
		last := time.Duration(0)
		for _, s := range r.all {
			if s.at != s.Due || s.Due > 0 && ends[s.Due] == 0 {
				t.Errorf("request %d was due at %v, sent at %v; no slot became free then", s.Index, s.Due, s.at)
			}
			if s.Phase == Measure {
				last = max(last, s.end)
			}
		}
		for _, s := range r.of(Cooldown) {
			if s.Due < log.Window.End || s.Due > last || s.end == last && s.cause != nil && !errors.Is(s.cause, errCut) {
				t.Errorf("cool-down request %+v, the last measured one ended at %v", s, last)
			}
		}
		if log.Window.Drained != last || log.Cooldown.Due == 0 {
			t.Errorf("drained at %v, want %v; cool-down %+v", log.Window.Drained, last, log.Cooldown)
		}
	})
}

func TestClosedLoopWindowLastsAsLongAsAsked(t *testing.T) {
	t.Parallel()
	p := Plan{Mode: Closed, Concurrency: 2, Duration: time.Second, Ramp: 300 * ms, Warmup: WarmupRule{Requests: 4}, Drain: time.Second}
	execute(t, p, always(300*ms), func(r *recorder, log Log, err error) {
		want := Window{Start: 750 * ms, End: 1750 * ms, Drained: 1950 * ms}
		if err != nil || log.Window != want || log.Measure != (Count{Due: 7, Sent: 7}) || log.Warmup.Due != 5 {
			t.Errorf("%v, %+v", err, log)
		}
	})
}

// TestArrivalsAreCountedThatAStarvedHostMissed: the goroutine that hands requests out gets no processor until the run is over.
func TestArrivalsAreCountedThatAStarvedHostMissed(t *testing.T) {
	t.Parallel()
	s := lay(t, Plan{Mode: Constant, Rate: 100, Requests: 60, Drain: 50 * ms})
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{now: clock(), took: always(time.Hour)}
		var starved atomic.Bool
		log, err := Run(t.Context(), s, func() time.Duration {
			if r.now() > 300*ms && starved.CompareAndSwap(false, true) {
				time.Sleep(time.Minute)
			}
			return r.now()
		}, r.send)
		synctest.Wait()
		if sent := len(r.of(Measure)); err != nil || sent == 0 || len(log.Unsent) == 0 || sent+len(log.Unsent) != 60 || log.Measure.Due != 60 {
			t.Errorf("%v, %d sent, %d not, counts %+v, want 60 in all", err, sent, len(log.Unsent), log.Measure)
		}
	})
}

func TestOneSlotAndNoWarmup(t *testing.T) {
	t.Parallel()
	execute(t, Plan{Mode: Closed, Concurrency: 1, Requests: 3}, always(10*ms), func(r *recorder, log Log, err error) {
		want := Log{Window: Window{End: 30 * ms, Drained: 30 * ms}, Measure: Count{Due: 3, Sent: 3}, MaxInFlight: 1}
		if err != nil || !reflect.DeepEqual(log, want) {
			t.Errorf("%v, %+v, want %+v", err, log, want)
		}
	})
}

func TestStragglersAreCutAfterTheDrain(t *testing.T) {
	t.Parallel()
	straggle := func(s Shot) time.Duration {
		if s.Index == 5 {
			return time.Hour
		}
		return 100 * ms
	}
	for name, p := range map[string]Plan{
		"closed": {Mode: Closed, Concurrency: 2, Duration: time.Second, Drain: 500 * ms},
		"open":   {Mode: Constant, Rate: 20, Duration: time.Second, Drain: 500 * ms},
	} {
		t.Run(name, func(t *testing.T) {
			execute(t, p, straggle, func(r *recorder, log Log, err error) {
				if err != nil || log.Measure.Cut != 1 || log.Window != (Window{End: time.Second, Drained: 1500 * ms}) {
					t.Errorf("%v, %+v", err, log)
				}
				cut := r.of(Measure)[5]
				if !errors.Is(cut.cause, errCut) || cut.end != 1500*ms {
					t.Errorf("the straggler ended at %v by %v", cut.end, cut.cause)
				}
				if last := r.of(Cooldown); last[len(last)-1].Due < 1350*ms {
					t.Errorf("the load ended at %v, before the drain", last[len(last)-1].Due)
				}
			})
		})
	}
}

func TestRampStaggersTheSlotsBeforeTheWindow(t *testing.T) {
	t.Parallel()
	p := Plan{Mode: Closed, Concurrency: 4, Requests: 8, Ramp: 100 * ms, Drain: time.Second}
	execute(t, p, always(200*ms), func(r *recorder, log Log, err error) {
		for i, s := range r.of(Warmup) {
			if s.Due != time.Duration(i)*25*ms {
				t.Errorf("warm-up request %d was due at %v", i, s.Due)
			}
		}
		if err != nil || log.Warmup.Due != 4 || log.Window.Start != 200*ms || log.Window.End != 600*ms {
			t.Errorf("%v, %+v", err, log)
		}
	})
}

// TestAutomaticRampEndsLockstep: without it all requests of equal length start
// together for ever; with it, evenly over one service time.
func TestAutomaticRampEndsLockstep(t *testing.T) {
	t.Parallel()
	for auto, want := range map[bool]int{false: 1, true: 4} {
		p := Plan{Mode: Closed, Concurrency: 4, Requests: 16, AutoRamp: auto, Warmup: WarmupRule{Requests: 8}, Drain: time.Second}
		cold := func(s Shot) time.Duration {
			if s.Index < 4 {
				return 900 * ms
			}
			return 200 * ms
		}
		execute(t, p, cold, func(r *recorder, log Log, err error) {
			starts := map[time.Duration]bool{}
			for _, s := range r.of(Measure) {
				starts[s.Due%(200*ms)] = true
			}
			if err != nil || len(starts) != want || auto && !starts[150*ms] {
				t.Errorf("automatic ramp %t: %v, starts modulo the service time %v", auto, err, starts)
			}
		})
	}
}

func TestOpenLoopDoesNotWaitForReplies(t *testing.T) {
	t.Parallel()
	p := Plan{Mode: Gamma, Burstiness: 1, Rate: 50, Requests: 60, Warmup: WarmupRule{Requests: 10}, Drain: time.Minute, Seed: 7}
	s := lay(t, p)
	execute(t, p, always(2*time.Second), func(r *recorder, log Log, err error) {
		if err != nil || log.Measure != (Count{Due: 60, Sent: 60}) || log.Warmup != (Count{Due: 10, Sent: 10}) || log.Waited != 0 {
			t.Fatalf("%v, %+v", err, log)
		}
		for _, shot := range slices.Concat(r.of(Warmup), r.of(Measure)) {
			if shot.at != shot.Due || shot.Due != s.arrivals[shot.Index] {
				t.Errorf("request %d was due at %v, sent at %v, want %v", shot.Index, shot.Due, shot.at, s.arrivals[shot.Index])
			}
		}
		if w := log.Window; w.Start != s.arrivals[10] || w.End != s.arrivals[70] || w.Drained != s.arrivals[69]+2*time.Second {
			t.Errorf("window %+v", w)
		}
		if log.Cooldown.Due == 0 || log.Cooldown.Cut == 0 {
			t.Errorf("cool-down %+v: the load ended with the window", log.Cooldown)
		}
	})
}

func TestCappedOpenLoopQueuesInOrder(t *testing.T) {
	t.Parallel()
	p := Plan{Mode: Constant, Rate: 10, Concurrency: 2, Requests: 10, Drain: 10 * time.Second}
	execute(t, p, always(390*ms), func(r *recorder, log Log, err error) {
		if err != nil || log.MaxInFlight != 2 || log.Waited == 0 || log.LongestQueue < 4 {
			t.Fatalf("%v, %+v", err, log)
		}
		var delays []Delay
		for i, s := range r.of(Measure) {
			want := time.Duration(i/2)*390*ms + time.Duration(i%2)*100*ms
			if s.Due != time.Duration(i)*100*ms || s.at != want {
				t.Errorf("request %d was due at %v and sent at %v, want %v", i, s.Due, s.at, want)
			}
			delays = append(delays, Delay{s.Due, s.at - s.Due})
		}
		if !Saturated(delays, 390*ms) {
			t.Errorf("a queue that grows to %v is not saturated", delays[9])
		}
		if got := r.of(Measure)[9].Outstanding; got != 6 {
			t.Errorf("%d requests outstanding at the last one, want 6", got)
		}
	})
}

func TestWhatNeverGotASlotIsCounted(t *testing.T) {
	t.Parallel()
	p := Plan{Mode: Burst, Burst: 5, Rate: 5, Concurrency: 1, Requests: 5}
	execute(t, p, always(time.Hour), func(r *recorder, log Log, err error) {
		if err != nil || log.Measure != (Count{Due: 5, Sent: 1, Cut: 1}) || log.Window != (Window{End: time.Second, Drained: time.Second}) {
			t.Errorf("%v, %+v", err, log)
		}
	})
}

func TestQuickRepliesDoNotShortenTheWindow(t *testing.T) {
	t.Parallel()
	execute(t, Plan{Mode: Constant, Rate: 1, Duration: 3500 * ms}, always(ms), func(r *recorder, log Log, err error) {
		if err != nil || log.Measure.Due != 4 || log.Window != (Window{End: 3500 * ms, Drained: 3500 * ms}) {
			t.Errorf("%v, %+v", err, log)
		}
	})
}

func TestTraceThatComesAtOnceEndsWithItsLastRequest(t *testing.T) {
	t.Parallel()
	execute(t, Plan{Mode: Trace, Trace: []time.Duration{9, 9, 9}}, always(70*ms), func(r *recorder, log Log, err error) {
		if err != nil || log.Measure != (Count{Due: 3, Sent: 3}) || log.Window != (Window{End: 70 * ms, Drained: 70 * ms}) {
			t.Errorf("%v, %+v", err, log)
		}
	})
}

func TestAnEndedContextKeepsWhatWasDone(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]Plan{
		"closed": {Mode: Closed, Concurrency: 3, Requests: 100, Warmup: WarmupRule{Requests: 6}},
		"open":   {Mode: Constant, Rate: 30, Requests: 100, Warmup: WarmupRule{Requests: 6}},
		"capped": {Mode: Constant, Rate: 30, Requests: 100, Concurrency: 1, Warmup: WarmupRule{Requests: 6}},
	} {
		for _, after := range []time.Duration{0, 150 * ms, 950 * ms} {
			t.Run(name+" after "+after.String(), func(t *testing.T) {
				s := lay(t, p)
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithTimeout(t.Context(), after)
					defer cancel()
					r := &recorder{now: clock(), took: always(110 * ms)}
					log, err := Run(ctx, s, r.now, r.send)
					if !errors.Is(err, context.DeadlineExceeded) || r.now() != after {
						t.Fatalf("after %v: %v", r.now(), err)
					}
					if got := log.Warmup.Sent + log.Measure.Sent; got != len(r.all) || after > 0 && got == 0 {
						t.Errorf("%d requests counted, %d sent", got, len(r.all))
					}
					if w := log.Window; after == 950*ms && (w.Start == 0 || w.End != after || w.Drained != after) || after < 200*ms && w != (Window{}) {
						t.Errorf("window %+v", w)
					}
				})
			})
		}
	}
}

func TestASendThatDoesNotReturnEndsTheRunAsAnError(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]Plan{
		"closed": {Mode: Closed, Concurrency: 3, Requests: 100},
		"capped": {Mode: Constant, Rate: 30, Requests: 100, Concurrency: 1, Drain: time.Hour},
	} {
		for how, leave := range map[string]func(){"panic": func() { panic("lost") }, "exit": runtime.Goexit} {
			t.Run(name+" "+how, func(t *testing.T) {
				s := lay(t, p)
				synctest.Test(t, func(t *testing.T) {
					r := &recorder{now: clock(), took: always(100 * ms)}
					log, err := Run(t.Context(), s, r.now, func(ctx context.Context, shot Shot) {
						if shot.Index == 7 {
							leave()
						}
						r.send(ctx, shot)
					})
					if err == nil || !strings.Contains(err.Error(), "request 7 panicked") || log.Measure.Sent < 8 || log.Window.End == 0 {
						t.Errorf("%v, %+v", err, log)
					}
				})
			})
		}
	}
}

func TestAnEmptyScheduleIsAnError(t *testing.T) {
	t.Parallel()
	if _, err := Run(t.Context(), Schedule{}, clock(), nil); err == nil || !strings.Contains(err.Error(), "Plan.Schedule") {
		t.Errorf("got %v", err)
	}
}

// TestRunOnTheRealClock is for the race detector: both loops, for real.
func TestRunOnTheRealClock(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]Plan{
		"closed": {Mode: Closed, Concurrency: 16, Requests: 2000, AutoRamp: true, Warmup: WarmupRule{Requests: 32}, Drain: time.Minute},
		"open":   {Mode: Gamma, Burstiness: 0.5, Rate: 5000, Requests: 2000, Concurrency: 8, Warmup: WarmupRule{Requests: 32}, Drain: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &recorder{now: clock(), took: func(s Shot) time.Duration { return time.Duration(s.Index%5) * 100 * time.Microsecond }}
			log, err := Run(t.Context(), lay(t, p), r.now, r.send)
			if err != nil || log.Measure != (Count{Due: 2000, Sent: 2000}) || len(r.of(Measure)) != 2000 {
				t.Errorf("%v, %+v", err, log)
			}
			for _, s := range r.all {
				if s.at < s.Due {
					t.Fatalf("request %d was sent %v early", s.Index, s.Due-s.at)
				}
			}
		})
	}
}

// TestSlotsRest: a slot sends no earlier than its rest after its last request,
// and a rest does not hold up the end of the run.
func TestSlotsRest(t *testing.T) {
	t.Parallel()
	const rest = 20 * time.Millisecond
	s := lay(t, Plan{Mode: Closed, Concurrency: 2, Requests: 8}).Resting(func(slot int) time.Duration {
		if slot > 1 {
			t.Errorf("slot %d of 2 rests", slot)
		}
		return rest
	})
	var mu sync.Mutex
	last := map[int]time.Duration{}
	began := time.Now()
	now := func() time.Duration { return time.Since(began) }
	log, err := Run(t.Context(), s, now, func(_ context.Context, shot Shot) {
		mu.Lock()
		defer mu.Unlock()
		if before, ok := last[shot.Slot]; ok && shot.Due < before+rest {
			t.Errorf("slot %d sends %v after its last request", shot.Slot, shot.Due-before)
		}
		last[shot.Slot] = now()
	})
	if err != nil || log.Measure.Sent != 8 {
		t.Errorf("%+v, %v", log, err)
	}
}
