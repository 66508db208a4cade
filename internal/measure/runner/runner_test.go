package runner_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/measure/runner"
)

// measure is a Measurer made of a function.
type measure func(id string, nth int) (bench.Result, error)

type measurer struct {
	f     measure
	calls map[string]int
	order []string
}

func (m *measurer) Measure(_ context.Context, c bench.Cell, _ bench.Device) (bench.Result, error) {
	m.calls[c.ID()]++
	m.order = append(m.order, c.ID())
	return m.f(c.ID(), m.calls[c.ID()])
}

func times(n int) func(bench.Cell) int { return func(bench.Cell) int { return n } }

func cells(ids ...string) []bench.Cell {
	var cells []bench.Cell
	for _, id := range ids {
		cells = append(cells, bench.Cell{Suite: "s", Params: []bench.Param{{Key: "model", Value: id}}})
	}
	return cells
}

func passed(values ...float64) bench.Result {
	return bench.Result{Outcome: bench.Passed, WallMS: 2, Samples: []bench.Sample{{Metric: "tps", Values: values}}}
}

func TestRoundsGoOverAllCellsInTurn(t *testing.T) {
	m := &measurer{calls: map[string]int{}, f: func(id string, nth int) (bench.Result, error) {
		return passed(float64(nth)), nil
	}}
	var journal []string
	results, _, err := runner.Run(t.Context(), m, cells("a", "b"), runner.Options{
		Repeats: times(3),
		Journal: func(r bench.Result, _ int) error {
			journal = append(journal, fmt.Sprint(r.Cell.ID(), r.Samples[0].Values))
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a", "b", "a", "b", "a", "b"}, m.order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a[1]", "b[1]", "a[2]", "b[2]", "a[3]", "b[3]"}, journal); diff != "" {
		t.Errorf("journal (-want +got):\n%s", diff)
	}
	for _, r := range results {
		if diff := cmp.Diff([]float64{1, 2, 3}, r.Sample("tps").Values); diff != "" || r.WallMS != 6 {
			t.Errorf("%s: values (-want +got):\n%s wall %v, want 6", r.Cell.ID(), diff, r.WallMS)
		}
	}
}

func TestAFailureEndsTheCellAndKeepsItsReason(t *testing.T) {
	m := &measurer{calls: map[string]int{}, f: func(id string, nth int) (bench.Result, error) {
		if id == "bad" && nth == 2 {
			return bench.Result{Outcome: bench.Incorrect, Reason: "second round differs"}, nil
		}
		return passed(1), nil
	}}
	results, _, err := runner.Run(t.Context(), m, cells("good", "bad"), runner.Options{Repeats: times(4)})
	if err != nil {
		t.Fatal(err)
	}
	if got := m.calls; got["good"] != 4 || got["bad"] != 2 {
		t.Errorf("calls = %v, want good 4 times and bad twice", got)
	}
	if got := results[1]; got.Outcome != bench.Incorrect || got.Reason != "second round differs" {
		t.Errorf("bad = %v %q, want incorrect with its reason", got.Outcome, got.Reason)
	}
}

func TestAMetricThatComesAndGoesFailsTheCell(t *testing.T) {
	m := &measurer{calls: map[string]int{}, f: func(_ string, nth int) (bench.Result, error) {
		r := passed(1)
		if nth == 1 {
			r.Samples = append(r.Samples, bench.Sample{Metric: "rare", Values: []float64{1}})
		}
		return r, nil
	}}
	results, _, err := runner.Run(t.Context(), m, cells("a"), runner.Options{Repeats: times(5)})
	if err != nil {
		t.Fatal(err)
	}
	if got := results[0]; got.Outcome != bench.Failed || got.Reason != "printed rare in 1 of 5 runs" {
		t.Errorf("%s %q, want failed with the reason", got.Outcome, got.Reason)
	}
}

func TestErrorsEndTheRun(t *testing.T) {
	gone := errors.New("device is gone")
	m := &measurer{calls: map[string]int{}, f: func(string, int) (bench.Result, error) { return bench.Result{}, gone }}
	if _, _, err := runner.Run(t.Context(), m, cells("a", "b"), runner.Options{}); !errors.Is(err, gone) || len(m.order) != 1 {
		t.Errorf("Run() = %v after %v, want the error after one call", err, m.order)
	}
	if _, _, err := runner.Run(t.Context(), m, nil, runner.Options{}); !errors.Is(err, runner.ErrNoCells) {
		t.Errorf("Run(no cells) = %v, want ErrNoCells", err)
	}
	full := errors.New("disk full")
	m.f = func(string, int) (bench.Result, error) { return passed(1), nil }
	_, _, err := runner.Run(t.Context(), m, cells("a", "b"), runner.Options{Journal: func(bench.Result, int) error { return full }})
	if !errors.Is(err, full) {
		t.Errorf("Run() = %v, want the journal's error", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := runner.Run(ctx, m, cells("a"), runner.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Run(cancelled) = %v, want context.Canceled", err)
	}
}

func TestJournalHoldsOneDocumentALine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "folder", "journal.jsonl")
	j, err := runner.CreateJournal(path, []byte("key"))
	if err != nil {
		t.Fatal(err)
	}
	want := passed(1.5)
	want.Cell = cells("a")[0]
	want.Output = "line\nbreak \u2028 <&>"
	for range 2 {
		if err := j.Append(runner.Entry{Key: "k", Round: 1, Result: want}); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	entries, _, err := runner.ReadJournal(path, []byte("key"))
	if err != nil || len(entries) != 2 {
		t.Fatalf("ReadJournal() = %d entries, %v, want 2", len(entries), err)
	}
	if diff := cmp.Diff(want, entries[1].Result); diff != "" {
		t.Errorf("line 2 (-want +got):\n%s", diff)
	}
}

// TestRoundsAddUpWhatTheySay keeps counts, files, estimates, warnings and doubts
// of all rounds.
func TestRoundsAddUpWhatTheySay(t *testing.T) {
	m := &measurer{calls: map[string]int{}, f: func(_ string, nth int) (bench.Result, error) {
		r := passed(float64(nth))
		r.Samples[0].Estimates = []bench.Estimate{{N: nth, Low: 0, High: 9}}
		r.Counts = map[string]int{"ok": nth, fmt.Sprint("only ", nth): 1}
		r.Files = []bench.File{{Name: fmt.Sprint(nth)}}
		r.Warnings = []string{"always", fmt.Sprint("round ", nth)}
		r.Context = map[string]string{"round": fmt.Sprint(nth)}
		if nth == 1 {
			r.Caveat = "the first was disturbed"
		}
		return r, nil
	}}
	results, _, err := runner.Run(t.Context(), m, cells("a"), runner.Options{Repeats: times(2)})
	if err != nil {
		t.Fatal(err)
	}
	r := results[0]
	want := bench.Result{Cell: r.Cell, Outcome: bench.Passed, WallMS: 4, Caveat: "the first was disturbed",
		Samples:  []bench.Sample{{Metric: "tps", Values: []float64{1, 2}, Estimates: []bench.Estimate{{N: 1, High: 9}, {N: 2, High: 9}}}},
		Counts:   map[string]int{"ok": 3, "only 1": 1, "only 2": 1},
		Files:    []bench.File{{Name: "1"}, {Name: "2"}},
		Warnings: []string{"always", "round 2", "round 1"}, Context: map[string]string{"round": "2"}}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
