package cases_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite/cases"
	"github.com/accelgate/accelgate/internal/suite/cases/casefile"
)

// refreshed returns the case that recorded is, and a result of it.
func refreshed(t *testing.T, total float64, entries ...bench.Entry) (*casefile.Case, *bench.Result) {
	t.Helper()
	one, err := casefile.Parse("a__b.json", []byte(recorded))
	if err != nil {
		t.Fatal(err)
	}
	r := &bench.Result{Samples: []bench.Sample{{Metric: "total_time_s", Values: []float64{total}}}}
	if entries != nil {
		r.Breakdowns = []bench.Breakdown{{Title: "operators", Unit: "s", Entries: entries}}
	}
	return one, r
}

// TestRefreshOf: a file keeps as many operators as it has or compares, in
// whatever order and parts the result has them.
func TestRefreshOf(t *testing.T) {
	t.Parallel()
	entries := []bench.Entry{{Name: "small", Total: 0.1, Calls: 1}, {Name: "x", Total: 0.2, Calls: 2}, {Name: "big", Total: 0.5, Calls: 1},
		{Name: "y", Total: 0.2, Calls: 4}, {Name: "big", Total: 1, Calls: 2}}
	kept := []casefile.Operator{{Name: "big", TotalTimeS: 1.5, NumCalls: 3}, {Name: "x", TotalTimeS: 0.2, NumCalls: 2}, {Name: "y", TotalTimeS: 0.2, NumCalls: 4}}
	one, r := refreshed(t, 0, entries...)
	two := 2.0
	for _, c := range []struct {
		name   string
		sample bench.Sample
	}{
		{"values", bench.Sample{Values: []float64{3, 1, 2}}},
		{"summary", bench.Sample{Summary: &bench.Summary{Median: 2, N: 3}}},
	} {
		c.sample.Metric = "total_time_s"
		r.Samples = []bench.Sample{c.sample}
		got, err := cases.Folder{}.RefreshOf(one, r, false)
		if diff := cmp.Diff(casefile.Refresh{BaselineTimeS: &two, Operators: kept}, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", c.name, err, diff)
		}
	}
	if entries[0].Name != "small" || entries[2].Total != 0.5 {
		t.Error("the result was changed")
	}
	one.Operators, r.Breakdowns = nil, nil // nothing is lost where nothing was
	if got, err := (cases.Folder{}).RefreshOf(one, r, false); err != nil || got.Operators != nil {
		t.Errorf("without operators on either side: %+v, %v", got, err)
	}
}

// TestRefreshOfWhichTime: only a time that the suite uses is renewed, unless the
// initial one is asked for.
func TestRefreshOfWhichTime(t *testing.T) {
	t.Parallel()
	one, r := refreshed(t, 2, bench.Entry{Name: "mm", Total: 1, Calls: 1})
	for _, c := range []struct {
		references        []string
		asked             bool
		baseline, initial bool
	}{
		{nil, false, true, false}, {nil, true, true, true},
		{[]string{"initial", "baseline"}, false, true, false}, {[]string{"baseline"}, false, true, false}, {[]string{"baseline"}, true, true, true},
		{[]string{"initial"}, false, false, true}, {[]string{"initial"}, true, false, true},
	} {
		got, err := cases.Folder{References: c.references}.RefreshOf(one, r, c.asked)
		if err != nil || (got.BaselineTimeS != nil) != c.baseline || (got.InitialTimeS != nil) != c.initial {
			t.Errorf("%q, initial %v: %+v, %v", c.references, c.asked, got, err)
		}
	}
}

// TestRefreshOfRefuses: nothing that a check rests on is lost without a word.
func TestRefreshOfRefuses(t *testing.T) {
	t.Parallel()
	const again = "measure the case again"
	op := func(name string, total float64, calls int64) []bench.Entry {
		return []bench.Entry{{Name: name, Total: total, Calls: calls}}
	}
	for _, c := range []struct {
		name    string
		total   float64
		entries []bench.Entry
		want    string // "" for no error
	}{
		{"no operators", 1, nil, "the run has no operators and the file records 2: let the program print them, or remove those of the file first"},
		{"an empty list", 1, []bench.Entry{}, "the run has no operators and the file records 2"},
		{"no calls any more", 1, op("mm", 1, 0), `the run has no calls of "mm" and the file records calls: let the program print them, or set num_calls of the file to 0 first`},
		{"no calls of a new one", 1, op("new", 1, 0), `the run has no calls of "new" and the file records calls`},
		{"no calls where there were none", 1, op("add", 1, 0), ""},
		{"a recorded operator of no time", 1, op("mm", 0, 1), `the run has no time of "mm" and the file records one: let the program print it`},
		{"a negative operator", 1, op("mm", -1, 1), `no operator takes -1 s, as "mm" does: see what the program printed, then ` + again},
		{"an endless operator", 1, op("mm", math.Inf(1), 1), "no operator takes +Inf s"},
		{"no number for an operator", 1, op("m\n", math.NaN(), 1), `no operator takes NaN s, as "m\n" does`},
		{"no time", 0, op("mm", 1, 1), "no program takes 0 s: see what it printed, then " + again},
		{"too short", 0.9e-12, op("mm", 1, 1), "no program takes 9e-13 s"},
		{"short", 1e-12, op("mm", 1e-12, 1), ""},
		{"long", 1e9, op("mm", 1, 1), ""},
		{"too long", 1.1e9, op("mm", 1, 1), "no program takes 1.1e+09 s"},
		{"no number", math.NaN(), op("mm", 1, 1), "no program takes NaN s"},
	} {
		one, r := refreshed(t, c.total, c.entries...)
		got, err := cases.Folder{}.RefreshOf(one, r, true)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || got.BaselineTimeS != nil || got.Operators != nil):
			t.Errorf("%s: %+v, %v, want %q", c.name, got, err, c.want)
		}
	}
	one, r := refreshed(t, 1, op("mm", 1, 1)...)
	r.Breakdowns[0].Unit = "ms"
	if _, err := (cases.Folder{}).RefreshOf(one, r, false); err == nil || !strings.Contains(err.Error(), "the run has no operators") {
		t.Errorf("operators in another unit: %v", err)
	}
	r.Samples = nil
	if _, err := (cases.Folder{}).RefreshOf(one, r, false); err == nil || err.Error() != "the run has no total_time_s: "+again {
		t.Errorf("no total: %v", err)
	}
}

// TestRefreshOfAContradiction: a total of 1 µs beside an operator of 30 ms was
// once recorded without --force.
func TestRefreshOfAContradiction(t *testing.T) {
	t.Parallel()
	mm := bench.Entry{Name: "mm", Total: 0.03, Calls: 1}
	for _, c := range []struct {
		totals []float64
		want   bool // whether it is recorded
	}{
		{[]float64{1e-6}, false}, {[]float64{0.029}, false}, {[]float64{0.03}, true}, {[]float64{0.04}, true},
		{[]float64{1e-6, 0.014}, false},
		{[]float64{0.02, 0.02, 0.02}, true}, // a sum of medians
	} {
		one, r := refreshed(t, 0, mm)
		r.Samples[0].Values = c.totals
		if _, err := (cases.Folder{}).RefreshOf(one, r, false); (err == nil) != c.want || err != nil && !errors.Is(err, bench.ErrContradiction) {
			t.Errorf("%v s: %v, want it recorded: %v", c.totals, err, c.want)
		}
	}
}
