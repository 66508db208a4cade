package runner

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
)

func TestTypicalBreakdown(t *testing.T) {
	t.Parallel()
	round := func(title string, entries ...bench.Entry) []bench.Breakdown {
		return []bench.Breakdown{{Title: title, Unit: "ms", Entries: entries}}
	}
	mm := func(total float64, calls int64) bench.Entry {
		return bench.Entry{Name: "mm", Total: total, Calls: calls}
	}
	add := bench.Entry{Name: "add", Total: 4, Calls: 1}
	for _, tt := range []struct {
		name   string
		rounds [][]bench.Breakdown
		want   []bench.Breakdown
	}{
		{"none", nil, nil},
		{"one round stays as it is", [][]bench.Breakdown{round("operators", mm(1, 2), mm(1, 2))}, round("operators", mm(1, 2), mm(1, 2))},
		{"a disturbed round", [][]bench.Breakdown{round("operators", mm(1, 2)), round("operators", mm(9, 2)), round("operators", mm(1.5, 3))}, round("operators", mm(1.5, 3))},
		{"in half of the rounds", [][]bench.Breakdown{round("operators", mm(1, 2), add), round("operators", mm(3, 2))}, round("operators", mm(2, 2))},
		{"in two of three", [][]bench.Breakdown{round("operators", mm(1, 2), add), round("operators", add, mm(3, 2)), round("operators", mm(5, 2))},
			round("operators", add, mm(3, 2))},
		{"a name that occurs twice", [][]bench.Breakdown{round("operators", mm(1, 2), mm(2, 2)), round("operators", mm(1, 1), mm(4, 1))}, round("operators", mm(4, 2))},
		{"two of one title", [][]bench.Breakdown{{round("x", mm(1, 1))[0], round("x", mm(8, 1))[0]}, {round("x", mm(3, 1))[0], round("x", mm(8, 1))[0]}},
			[]bench.Breakdown{round("x", mm(2, 1))[0], round("x", mm(8, 1))[0]}},
		{"in one of three", [][]bench.Breakdown{round("operators", mm(1, 2), add), round("operators", mm(1, 2)), round("operators", mm(1, 2))}, round("operators", mm(1, 2))},
		{"another title is another breakdown", [][]bench.Breakdown{round("critical path", mm(7, 2)), round("operators", mm(1, 2)), round("operators", mm(1, 2))}, round("operators", mm(1, 2))},
	} {
		if diff := cmp.Diff(tt.want, typical(tt.rounds)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}
