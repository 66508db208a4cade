package flashinfer

import (
	"maps"

	"github.com/accelgate/accelgate/internal/text"
)

// traces reports each problem once for a file and a solution: a file holds the
// results of many workloads.
func (l *linter) traces() {
	said := map[[3]string]bool{}
	once := func(t *Trace, what string) bool {
		key := [3]string{t.Place.Path, t.Solution, what}
		defer func() { said[key] = true }()
		return !said[key]
	}
	for _, t := range l.ds.Traces {
		d, s := l.ds.Definition(t.Definition), l.ds.Solution(t.Solution)
		switch {
		case d == nil:
			if once(t, "definition") {
				l.unknown(t.Place, "definition", t.Definition)
			}
			continue
		case s == nil:
			if once(t, "solution") {
				l.unknown(t.Place, "solution", t.Solution)
			}
		case s.Definition != d.Name:
			l.note(t.Place, "trace", "the solution %s is one of %s, not of %s: remove the line", quote(s.Name), quote(s.Definition),
				quote(d.Name))
		default:
			l.place(t.Place, tracesFolder, ".jsonl", s.Author, d.OpType, d.Name)
		}
		l.traced(d, t)
	}
	l.coverage()
}

// traced compares the workload of a trace with that of the dataset.
func (l *linter) traced(d *Definition, t *Trace) {
	w := l.ds.Workload(d.Name, t.Workload.UUID)
	switch {
	case w == nil && l.ds.partial:
	case w == nil:
		l.warn(t.Place, "unknown-workload", "the workload %s is not in the dataset: add it, or remove the line", quote(t.Workload.UUID))
	case !maps.Equal(w.Workload.Axes, t.Workload.Axes) || !maps.Equal(w.Workload.Inputs, t.Workload.Inputs):
		l.note(t.Place, "trace", "was measured with another workload than %s, which has the same uuid: measure again", w.Place)
	}
}

// coverage finds the workloads that a solution was not tried with.
func (l *linter) coverage() {
	tried := map[string]map[string]bool{} // uuids by solution
	for _, t := range l.ds.Traces {
		if tried[t.Solution] == nil {
			tried[t.Solution] = map[string]bool{}
		}
		tried[t.Solution][t.Workload.UUID] = true
	}
	for _, s := range l.ds.Solutions {
		if tried[s.Name] == nil {
			continue // it may be new
		}
		workloads := l.ds.WorkloadsOf(s.Definition)
		untried := 0
		for _, w := range workloads {
			untried += bit(!tried[s.Name][w.Workload.UUID])
		}
		if untried > 0 {
			l.warn(s.Place, "coverage", "has no trace for %d of %s: measure them", untried, text.Plural(len(workloads), "workload"))
		}
	}
}
