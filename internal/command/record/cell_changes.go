package record

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/reference/baseline"
	"github.com/accelgate/accelgate/internal/text"
)

// Bounds of the lines about cells in an update.
const (
	maxGroups = 12 // lines
	maxNamed  = 6  // metrics of a line
)

// printSum prints how much was recorded, and the changed metrics of each cell unless all changed alike.
func (r recorded) printSum(w io.Writer, run *bench.Run, path, done string) error {
	gated := r.gated(run)
	lines := []string{fmt.Sprintf("%s: %s %s, %s new or changed", path, text.Plural(r.Cells, "cell"), done, text.Plural(len(gated), "metric"))}
	if groups := r.groups(gated); len(groups) > 1 {
		lines = append(lines, text.First(groups, maxGroups)...)
	}
	_, err := fmt.Fprintln(w, strings.Join(lines, "\n  "))
	return err
}

// gated returns the numbers of gated metrics that are new or changed. Others inform, such as the resources of each cell.
func (r recorded) gated(run *bench.Run) (all []baseline.Change) {
	for _, c := range r.Changes {
		known := slices.ContainsFunc(run.Metrics, func(m bench.Metric) bool {
			return m.Name == c.Metric && (!m.Informational || m.Counted) // a count gates where it is exact
		})
		if c.Kind != baseline.Still && (known || c.Kind == baseline.Removed && bench.Resource(c.Metric) == nil) {
			all = append(all, c)
		}
	}
	return all
}

// groups returns a line for all cells that changed in the same metrics, in the order of their first cells, and one of the
// recorded cells that did not change.
func (r recorded) groups(gated []baseline.Change) (lines []string) {
	var ids, whats []string
	cells := map[string][]string{}
	of := map[string][]baseline.Change{}
	for _, c := range gated {
		if of[c.CaseID] = append(of[c.CaseID], c); len(of[c.CaseID]) == 1 {
			ids = append(ids, c.CaseID)
		}
	}
	for _, id := range ids {
		what := inWords(of[id])
		if cells[what] = append(cells[what], id); len(cells[what]) == 1 {
			whats = append(whats, what)
		}
	}
	for _, what := range whats {
		id := text.OneLine(cells[what][0])
		if more := len(cells[what]) - 1; more > 0 {
			id += " and " + text.Plural(more, "more cell")
		}
		lines = append(lines, id+": "+what)
	}
	if others := r.Cells - len(ids); others > 0 {
		lines = append(lines, text.Plural(others, "cell")+": no metric new or changed")
	}
	return lines
}

// inWords is "2 metrics new: ms, ttft_ms; 1 metric changed: tokens_per_s".
func inWords(changes []baseline.Change) string {
	var parts []string
	for _, kind := range []struct {
		of   baseline.ChangeKind
		word string
	}{{baseline.Added, "new"}, {baseline.Changed, "changed"}, {baseline.Removed, "gone"}} {
		var names []string
		for _, c := range changes {
			if c.Kind == kind.of {
				names = append(names, text.OneLine(c.Metric))
			}
		}
		if len(names) > 0 {
			parts = append(parts, text.Plural(len(names), "metric")+" "+kind.word+": "+strings.Join(text.First(names, maxNamed), ", "))
		}
	}
	return strings.Join(parts, "; ")
}
