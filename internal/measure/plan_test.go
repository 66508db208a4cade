package measure

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/suite"
)

// TestNewPlanChangesNothing: two plans of the same suites are equal, whatever the first one selected, and
// what they were made of stays as it was.
func TestNewPlanChangesNothing(t *testing.T) {
	t.Parallel()
	file, err := config.Parse("accelgate.yaml", []byte("version: 1\nsuites:\n  - {name: a, kind: exec}\n  - {name: b, kind: exec}\n"))
	if err != nil {
		t.Fatal(err)
	}
	cell := func(suite, id string) bench.Cell { return bench.Cell{Suite: suite, Raw: id} }
	metrics := []bench.Metric{{Name: "ns", Unit: "ns", Better: bench.Lower}}
	suites := func() []opened {
		return []opened{
			{of: &file.Suites[0], wanted: true, cpus: &processors{}, plan: suite.Plan{Metrics: metrics, Repeats: 1, Warnings: []string{"w"},
				Cells:   []bench.Cell{cell("a", "1"), cell("a", "2"), cell("a", "3")},
				Skipped: []bench.Result{{Cell: cell("a", "4"), Outcome: bench.Skipped, Reason: "small"}}}},
			{of: &file.Suites[1], cpus: &processors{}, plan: suite.Plan{Metrics: metrics, Repeats: 1, Cells: []bench.Cell{cell("b", "5")}}},
		}
	}
	used := suites()
	c := Config{Options: &Options{SelectOptions: SelectOptions{Only: []string{"2", "4"}}}, File: file, Warnings: make([]string, 1, 8)}
	first, err := NewPlan(&c, used)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"2"}, CellIDs(first.Suites[0].Cells)); diff != "" {
		t.Errorf("selected cells (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"5", "1", "3"}, first.Others); diff != "" {
		t.Errorf("cells that are left out (-want +got):\n%s", diff)
	}
	if got := c.Warnings[:8][1]; got != "" || len(first.Warnings) != 2 {
		t.Errorf("the configuration has the plan's warning %q, and the plan %q", got, first.Warnings)
	}
	for i, fresh := range suites() {
		if diff := cmp.Diff(fresh.plan, used[i].plan); diff != "" {
			t.Errorf("suite %d was changed (-want +got):\n%s", i, diff)
		}
	}
	c.Options.Only = nil
	all, err := NewPlan(&c, used)
	if err != nil || len(all.Suites[0].Cells) != 3 || len(all.Suites[0].Skipped) != 1 || len(first.Suites[0].Cells) != 1 {
		t.Errorf("without a filter: %d cells and %d skipped ones, %v", len(all.Suites[0].Cells), len(all.Suites[0].Skipped), err)
	}
}
