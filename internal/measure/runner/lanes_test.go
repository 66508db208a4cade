package runner_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/measure/runner"
)

// lanes records what runs where, and whether two cells met on one device.
type lanes struct {
	mu     sync.Mutex
	busy   map[string]bool
	met    bool
	at     map[string]string
	moved  bool
	atOnce int
}

func (l *lanes) Measure(_ context.Context, c bench.Cell, d bench.Device) (bench.Result, error) {
	l.mu.Lock()
	l.moved = l.moved || l.at[c.ID()] != "" && l.at[c.ID()] != d.String()
	l.at[c.ID()] = d.String()
	for _, one := range d.Members() {
		l.met = l.met || l.busy[one.String()]
		l.busy[one.String()] = true
	}
	n := 0
	for _, busy := range l.busy {
		if busy {
			n++
		}
	}
	l.atOnce = max(l.atOnce, n)
	l.mu.Unlock()
	time.Sleep(time.Second)
	l.mu.Lock()
	for _, one := range d.Members() {
		l.busy[one.String()] = false
	}
	l.mu.Unlock()
	return passed(1), nil
}

// dealt gives each cell the devices with these ids.
func dealt(ids map[string]string) func(bench.Cell) bench.Device {
	return func(c bench.Cell) bench.Device { return bench.Device{Vendor: "nvidia", ID: ids[c.ID()]} }
}

func TestOneCellAtATimeOnEachDevice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &lanes{busy: map[string]bool{}, at: map[string]string{}}
		start := time.Now()
		results, _, err := runner.Run(t.Context(), m, cells("a", "b", "c", "d"), runner.Options{
			Repeats: times(2), Device: dealt(map[string]string{"a": "0", "b": "1", "c": "0", "d": "1"}),
		})
		if err != nil {
			t.Fatal(err)
		}
		if m.met || m.moved || m.atOnce != 2 {
			t.Errorf("two cells met on a device: %v; a cell moved: %v; devices at once: %d, want 2", m.met, m.moved, m.atOnce)
		}
		if took := time.Since(start); took != 4*time.Second { // the bubble's clock
			t.Errorf("8 measurements of a second on two devices took %v", took)
		}
		for i, want := range []string{"nvidia:0", "nvidia:1", "nvidia:0", "nvidia:1"} {
			if results[i].Device != want {
				t.Errorf("%s ran on %s, want %s", results[i].Cell.ID(), results[i].Device, want)
			}
		}
	})
}

// TestCellsThatNeedSeveralDevices share none of them with a cell beside them.
func TestCellsThatNeedSeveralDevices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &lanes{busy: map[string]bool{}, at: map[string]string{}}
		start := time.Now()
		results, _, err := runner.Run(t.Context(), m, cells("a", "b", "c", "d", "e", "f"), runner.Options{
			Repeats: times(2), Device: dealt(map[string]string{"a": "0", "b": "2,3", "c": "0,1,2,3", "d": "0,1", "e": "2,3", "f": "0,1,2,3,4"}),
		})
		if err != nil {
			t.Fatal(err)
		}
		if m.met || m.moved || m.atOnce != 5 {
			t.Errorf("two cells met on a device: %v; a cell moved: %v; devices at once: %d, want 5", m.met, m.moved, m.atOnce)
		}
		if took := time.Since(start); took != 10*time.Second { // b and d together, e after b
			t.Errorf("rounds of a, then b and d, then e, then c, then f took %v, want 5 s each", took)
		}
		for i, want := range []string{"nvidia:0", "nvidia:2,3", "nvidia:0,1,2,3", "nvidia:0,1", "nvidia:2,3", "nvidia:0,1,2,3,4"} {
			if results[i].Device != want {
				t.Errorf("%s ran on %s, want %s", results[i].Cell.ID(), results[i].Device, want)
			}
		}
	})
}

// TestLanesThatShareADevice are busy one after another: those of one node do not follow the order of the devices.
func TestLanesThatShareADevice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &lanes{busy: map[string]bool{}, at: map[string]string{}}
		start := time.Now()
		_, _, err := runner.Run(t.Context(), m, cells("a", "b", "c", "d", "e", "f"), runner.Options{
			Repeats: times(2), Device: dealt(map[string]string{"a": "0,1", "b": "0,2", "c": "1,3", "d": "2,3", "e": "0,1", "f": "4"}),
		})
		if err != nil {
			t.Fatal(err)
		}
		if m.met || m.moved || m.atOnce != 4 {
			t.Errorf("two cells met on a device: %v; a cell moved: %v; devices at once: %d, want 4", m.met, m.moved, m.atOnce)
		}
		if took := time.Since(start); took != 8*time.Second { // f, a with d, then e, and b with c
			t.Errorf("two rounds took %v, want 4 s each", took)
		}
	})
}

func TestOutOfTimeLeavesCellsOutAndKeepsWhatIsMeasured(t *testing.T) {
	calls := 0
	m := &measurer{calls: map[string]int{}, f: func(string, int) (bench.Result, error) { calls++; return passed(1), nil }}
	over := func(after int) func() (string, bool) {
		return func() (string, bool) { return "over the budget", calls >= after }
	}
	results, out, err := runner.Run(t.Context(), m, cells("a", "b", "c"), runner.Options{Repeats: times(3), OutOfTime: over(2)})
	if err != nil {
		t.Fatal(err)
	}
	if len(results) != 2 || len(results[0].Sample("tps").Values) != 1 {
		t.Errorf("results = %v, want a and b with one value each", results)
	}
	if diff := cmp.Diff([]bench.LeftOut{{Cell: "c", Reason: "over the budget"}}, out); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
	calls = 0
	results, out, err = runner.Run(t.Context(), m, cells("a", "b", "c"), runner.Options{Repeats: times(3), OutOfTime: over(4)})
	if err != nil || len(out) != 0 || len(results[0].Sample("tps").Values) != 2 || len(results[1].Sample("tps").Values) != 1 {
		t.Errorf("results = %v, left out %v, %v, want two values for a and one for the others", results, out, err)
	}
}

func TestOnlyTheMachinesFailuresAreRetried(t *testing.T) {
	for cause, want := range map[bench.Cause]int{
		bench.CauseStart: 3, bench.CauseMachine: 3, bench.CauseCrash: 1, bench.CauseOOM: 1, bench.CauseTimeout: 1, bench.CauseAnswer: 1,
	} {
		m := &measurer{calls: map[string]int{}, f: func(string, int) (bench.Result, error) {
			return bench.Result{Outcome: bench.Failed, Cause: cause}, nil
		}}
		var journal int
		results, _, err := runner.Run(t.Context(), m, cells("a"), runner.Options{Retries: twice, Journal: func(bench.Result, int) error { journal++; return nil }})
		if err != nil {
			t.Fatal(err)
		}
		if m.calls["a"] != want || results[0].Retries != want-1 || journal != 1 {
			t.Errorf("%s: %d calls, %d retries, %d lines, want %d, %d, 1", cause, m.calls["a"], results[0].Retries, journal, want, want-1)
		}
	}
}

func TestEarlierMeasurementsStandIn(t *testing.T) {
	m := &measurer{calls: map[string]int{}, f: func(_ string, nth int) (bench.Result, error) { return passed(float64(nth)), nil }}
	var journal []string
	results, _, err := runner.Run(t.Context(), m, cells("a", "b"), runner.Options{
		Repeats: times(2),
		Earlier: func(c bench.Cell, round int) (bench.Result, bool) {
			r := passed(100)
			r.Cell = c
			return r, c.ID() == "a" || round == 1
		},
		Journal: func(r bench.Result, round int) error {
			journal = append(journal, fmt.Sprint(r.Cell.ID(), round))
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"b"}, m.order); diff != "" {
		t.Errorf("measured (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"b2"}, journal); diff != "" {
		t.Errorf("journal (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]float64{100, 1}, results[1].Sample("tps").Values); diff != "" {
		t.Errorf("b (-want +got):\n%s", diff)
	}
}

func TestAgainAddsValuesToSomeCells(t *testing.T) {
	m := &measurer{calls: map[string]int{}, f: func(_ string, nth int) (bench.Result, error) { return passed(float64(nth)), nil }}
	all := cells("a", "b", "c")
	results, _, err := runner.Run(t.Context(), m, all, runner.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var rounds []int
	o := runner.Options{Repeats: times(3), Journal: func(_ bench.Result, round int) error { rounds = append(rounds, round); return nil }}
	want := func(c bench.Cell) bool { return c.ID() != "b" }
	if n, err := runner.Again(t.Context(), m, results, want, o); err != nil || n != 2 {
		t.Fatal(n, err)
	}
	for i, n := range []int{3, 1, 3} {
		if got := results[i].Sample("tps").Values; len(got) != n {
			t.Errorf("%s has %v, want %d values", all[i].ID(), got, n)
		}
	}
	slices.Sort(rounds)
	if diff := cmp.Diff([]int{2, 2, 3, 3}, rounds); diff != "" {
		t.Errorf("rounds (-want +got):\n%s", diff)
	}
}

func TestCellsTakePartInAsManyRoundsAsTheyAreTo(t *testing.T) {
	m := &measurer{calls: map[string]int{}, f: func(string, int) (bench.Result, error) { return passed(1), nil }}
	all := cells("a", "b")
	repeats := func(c bench.Cell) int { return map[string]int{"a": 3, "b": 1}[c.ID()] }
	results, _, err := runner.Run(t.Context(), m, all, runner.Options{Repeats: repeats})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a", "b", "a", "a"}, m.order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	// Of two cells with three and one value, a third of each is what is missing.
	m.order = nil
	if n, err := runner.Again(t.Context(), m, results, func(bench.Cell) bool { return true }, runner.Options{Repeats: times(3)}); err != nil || n != 1 {
		t.Errorf("Again() = %d, %v, want one cell", n, err)
	}
	if diff := cmp.Diff([]string{"b", "b"}, m.order); diff != "" || len(results[1].Sample("tps").Values) != 3 {
		t.Errorf("again (-want +got):\n%s%v", diff, results[1])
	}
}

// TestAgainAfterAnAbsentMetric holds that the first metric, which is only shown and
// absent in a round, does not say how many rounds there were.
func TestAgainAfterAnAbsentMetric(t *testing.T) {
	m := &measurer{calls: map[string]int{}, f: func(_ string, nth int) (bench.Result, error) {
		r := passed(float64(nth))
		if nth != 2 {
			r.Samples = append([]bench.Sample{{Metric: "shown", Values: []float64{1}}}, r.Samples...)
		}
		return r, nil
	}}
	o := runner.Options{Repeats: times(3), Optional: func(_ bench.Cell, metric string) bool { return metric == "shown" }}
	results, _, err := runner.Run(t.Context(), m, cells("a"), o)
	if err != nil {
		t.Fatal(err)
	}
	o.Repeats = times(5)
	if _, err := runner.Again(t.Context(), m, results, func(bench.Cell) bool { return true }, o); err != nil {
		t.Fatal(err)
	}
	if r := results[0]; r.Outcome != bench.Passed || len(r.Sample("tps").Values) != 5 {
		t.Errorf("%s (%s), %v", r.Outcome, r.Reason, r.Samples)
	}
}

func TestRepeatedFailuresCountInTheTime(t *testing.T) {
	m := &measurer{calls: map[string]int{}, f: func(string, int) (bench.Result, error) {
		return bench.Result{Outcome: bench.Failed, Cause: bench.CauseMachine, WallMS: 10}, nil
	}}
	results, _, err := runner.Run(t.Context(), m, cells("a"), runner.Options{Retries: twice})
	if err != nil || results[0].WallMS != 30 {
		t.Errorf("%v ms, %v, want those of all three", results[0].WallMS, err)
	}
}

// twice repeats what the machine is to blame for.
func twice(_ bench.Cell, cause bench.Cause) int {
	if cause.Infrastructure() {
		return 2
	}
	return 0
}

// visits records the order of the cells.
type visits struct{ order []string }

func (v *visits) Measure(_ context.Context, c bench.Cell, _ bench.Device) (bench.Result, error) {
	v.order = append(v.order, c.ID())
	return passed(1), nil
}

// TestGroupsStayTogether: the cells of a group follow the first of them in each round, the others
// stay where they are, and results keep the order of the cells.
func TestGroupsStayTogether(t *testing.T) {
	t.Parallel()
	var v visits
	all := cells("a1", "x", "b1", "a2", "y", "b2", "a3")
	results, _, err := runner.Run(t.Context(), &v, all, runner.Options{
		Repeats: func(bench.Cell) int { return 2 },
		Group: func(c bench.Cell) string {
			if id := c.ID(); len(id) > 1 {
				return id[:1]
			}
			return ""
		}})
	if err != nil {
		t.Fatal(err)
	}
	round := []string{"a1", "a2", "a3", "x", "b1", "b2", "y"}
	if diff := cmp.Diff(slices.Concat(round, round), v.order); diff != "" {
		t.Error(diff)
	}
	for i, r := range results {
		if r.Cell.ID() != all[i].ID() {
			t.Errorf("result %d is of %s, want %s", i+1, r.Cell.ID(), all[i].ID())
		}
	}
}

// TestNoRetryAfterTheBudget: a cell that hangs again and again does not outlast the budget.
func TestNoRetryAfterTheBudget(t *testing.T) {
	t.Parallel()
	calls := 0
	m := &measurer{calls: map[string]int{}, f: func(string, int) (bench.Result, error) {
		calls++
		return bench.Result{Outcome: bench.Timeout, Cause: bench.CauseTimeout}, nil
	}}
	results, out, err := runner.Run(t.Context(), m, cells("a", "b"), runner.Options{
		Retries:   func(bench.Cell, bench.Cause) int { return 9 },
		OutOfTime: func() (string, bool) { return "over the budget", calls >= 3 },
	})
	if err != nil || calls != 3 || len(results) != 1 || results[0].Outcome != bench.Timeout || results[0].Retries != 2 || len(out) != 1 {
		t.Errorf("%d calls, results %+v, left out %v, %v", calls, results, out, err)
	}
}
