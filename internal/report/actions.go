package report

import (
	"fmt"
	"strings"
)

// actions are the findings that block: findings with one cause as one, and the
// worst of each label of the others.
type actions struct {
	classes []classList // in the order of labels
	causes  byCause
	// What follows is set by settle.
	shared []finding // each stands for a cause
	rows   []finding // the worst of each class, then shared
	total  int       // rows there would be if none was left out
}

// classList is the list of one class, with the parts of the ids that all have.
type classList struct {
	list
	host   int // -1 if there are several
	shared []string
	common common
}

func newActions() actions {
	a := actions{classes: make([]classList, len(labels))}
	for i := range a.classes {
		a.classes[i].list = list{limit: maxAction, order: bySeverity}
	}
	return a
}

// add takes a finding, to be shown with others of its cause or alone.
func (a *actions) add(f finding) {
	if !a.causes.add(f) {
		a.alone(f)
	}
}

func (a *actions) alone(f finding) {
	l := &a.classes[labelOf(f.Verdict)]
	switch {
	case l.total == 0:
		l.host, l.shared = f.host, strings.Split(f.Cell, "__")
	case l.host != f.host:
		l.host, l.shared = -1, nil
	default:
		l.shared = keepShared(l.shared, f.Cell)
	}
	l.add(f)
}

// settle is called when all findings are added.
func (a *actions) settle() {
	causes, single := a.causes.settle()
	for _, f := range single {
		a.alone(f)
	}
	a.total = len(causes)
	for i := range a.classes {
		a.total += a.classes[i].total
	}
	for _, c := range causes {
		f := c.first[0]
		f.cause = c
		a.shared = append(a.shared, f)
	}
	a.rows = append(a.single(maxAction), a.shared...)
}

// single returns the worst of each class, at most so many of each.
func (a *actions) single(maximum int) (rows []finding) {
	for i := range a.classes {
		l := &a.classes[i]
		rows = append(rows, l.rows[:min(maximum, len(l.rows))]...)
	}
	return rows
}

// rest returns which findings are not among so many rows of each class: "30 slower and 2
// missing, all with feature `f10`".
func (a *actions) rest(maximum int) inline {
	var line inline
	for i := range a.classes {
		l := &a.classes[i]
		hidden := l.total - min(maximum, len(l.rows))
		if hidden == 0 {
			continue
		}
		if line != nil {
			line = append(line, plain("; "))
		}
		line = append(line, plain(fmt.Sprintf("%d more %s", hidden, labels[i].word)))
		if len(l.common) > 0 {
			line = append(append(line, plain(fmt.Sprintf(" (all %d have ", l.total))), append(l.common.names(), plain(")"))...)
		}
	}
	return line
}

// listed is how many rows are shown with so many of each class.
func (a *actions) listed(maximum int) int {
	return len(a.single(maximum)) + min(maxShared, len(a.shared))
}

// sharedCause is "40 cells missing, all with feature `f10`: the reason".
func (f finding) sharedCause() inline {
	what := f.word()
	line := inline{bold(fmt.Sprintf("%d cells %s", f.cause.n, what))}
	if f.Metric != "" {
		line = append(line, plain(" in "), code(f.Metric))
	}
	line = append(append(line, f.cause.common.with(f.cause.n)...), plain(": "))
	return append(line, reason(f.because()))
}
