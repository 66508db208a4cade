package gate_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/gate/compat"
)

// TestCaseGroups: the mean decides for its cases, by msmodeling's rules that of the distances and by ours the
// geometric one of the changes.
func TestCaseGroups(t *testing.T) {
	t.Parallel()
	const base = bench.BaselineReference
	group := func(tolerance float64, host string, list ...bench.Expected) []bench.Expected {
		g := &bench.ExpectedGroup{Name: "g", Tolerance: tolerance}
		for i := range list {
			list[i].Group, list[i].Host = g, host
			g.Cells, g.Names = append(g.Cells, list[i].Cell), append(g.Names, list[i].Cell)
		}
		return list
	}
	pair := func(tolerance float64) []bench.Expected {
		return group(tolerance, "", expect("a", base, 10.0, 0.05), expect("b", base, 10.0, 0.05))
	}
	for _, tt := range []struct {
		name   string
		of     []bench.Expected
		run    []bench.Result
		compat compat.Tool
		status compat.GroupStatus
		want   []string
	}{
		{"apart, ours", pair(0.1), []bench.Result{timed("a", 11.5), timed("b", 9)}, "", compat.GroupPass,
			[]string{"total_time_s unchanged -1.735", "a total_time_s regressed rule -15", "b total_time_s improved 10"}},
		{"apart, msmodeling's", pair(0.1), []bench.Result{timed("a", 11.5), timed("b", 9)}, compat.MSModeling, compat.GroupFail,
			[]string{"total_time_s over_budget blocks -12.5", "a total_time_s regressed rule -15", "b total_time_s unrecorded rule 10"}},
		{"equal to the tolerance", pair(0.125), []bench.Result{timed("a", 11.25), timed("b", 8.75)}, compat.MSModeling, compat.GroupPass,
			[]string{"total_time_s unchanged -12.5", "a total_time_s regressed rule -12.5", "b total_time_s unrecorded rule 12.5"}},
		{"a tolerance of 0", pair(0), []bench.Result{timed("a", 10), timed("b", 10)}, compat.MSModeling, compat.GroupPass,
			[]string{"total_time_s unchanged 0", "a total_time_s unchanged 0", "b total_time_s unchanged 0"}},
		{"one failed", pair(0.1), []bench.Result{timed("a", 10), cell("b!failed")}, "", compat.GroupError,
			[]string{"total_time_s incomparable blocks 0", "a total_time_s unchanged 0", "b crashed blocks -100"}},
		{"one without a time", group(0.1, "", expect("a", base, 10.0, 0.1), expect("b")), []bench.Result{timed("a", 10), timed("b", 10)},
			compat.MSModeling, compat.GroupNoBaseline,
			[]string{"total_time_s missing blocks 0", "a total_time_s unchanged 0", "b total_time_s untracked 0"}},
		{"one without a time, ours", group(0.1, "", expect("a", base, 10.0, 0.1), expect("b")), []bench.Result{timed("a", 10), timed("b", 10)},
			"", compat.GroupNoBaseline,
			[]string{"total_time_s untracked 0", "a total_time_s unchanged 0", "b total_time_s untracked 0"}},
		{"the times of another host", group(0.1, "other", expect("a", base, 10.0, 0.1)), []bench.Result{timed("a", 20)}, "", "",
			[]string{"a total_time_s untracked 0"}},
		{"the older rules", group(0.5, "", expect("a", base, 10.0, 0.05)), []bench.Result{timed("a", 11)}, compat.MSModeling84, "",
			[]string{"a total_time_s regressed blocks -10"}},
	} {
		p := policy(tt.of...)
		p.Compat = tt.compat
		c := gate.Compare("", nil, withTotal(run(tt.run...)), p)
		if diff := cmp.Diff(tt.want, lines(c)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		if got := len(c.Groups); got != len(c.Budgets) || (tt.status != "") != (got == 1) || got == 1 && c.Groups[0].Status != tt.status {
			t.Errorf("%s: groups %+v, want one that is %q", tt.name, c.Groups, tt.status)
		}
	}
}

// TestFailingOnTheBranch: what the default branch fails as well is excused elsewhere, by cell and metric.
func TestFailingOnTheBranch(t *testing.T) {
	t.Parallel()
	ref := withTotal(run(timed("a", 10), timed("b", 10), timed("c", 10)))
	now := withTotal(run(timed("a", 20), timed("b", 20), cell("c!failed")))
	p := gate.DefaultPolicy()
	p.Failing = &gate.Failing{Revision: "abc", Cells: map[string][]string{"a": {"total_time_s"}, "c": {"total_time_s"}}}
	want := []string{"a total_time_s regressed known_failure -100", "b total_time_s regressed blocks -100", "c crashed blocks -100"}
	if diff := cmp.Diff(want, lines(gate.Compare("base", ref, now, p))); diff != "" {
		t.Errorf("elsewhere (-want +got):\n%s", diff)
	}
	want[0] = "a total_time_s regressed blocks -100"
	branch := p
	branch.NextRun = true
	for name, p := range map[string]gate.Policy{"the branch": branch, "recording": p.Recording()} {
		if diff := cmp.Diff(want, lines(gate.Compare("base", ref, now, p))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	c := gate.Compare("base", ref, now, branch)
	failures := map[string][]string{"a": {"total_time_s"}, "b": {"total_time_s"}, "c": {""}}
	if diff := cmp.Diff(failures, c.Failures()); diff != "" {
		t.Error(diff)
	}
}
