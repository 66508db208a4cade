package cases

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/gate/compat"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/text"
)

// Markdown renders the checks of cases for GitHub, in at most
// [report.MarkdownBytes] bytes: a table of totals, one of why cases could not be
// judged, and one of the operators that do not pass. What fails comes first;
// what does not fit is counted.
func Markdown(w io.Writer, r report.Report) error { return MarkdownLimit(report.MarkdownBytes)(w, r) }

// MarkdownLimit is [Markdown] in at most limit bytes of UTF-8; a
// limit below 1000 counts as 1000.
func MarkdownLimit(limit int) report.Renderer {
	return func(w io.Writer, r report.Report) error {
		in := r.Input()
		all := allCases(&in)
		s := r.Fit(limit, []int{500, 200, 50, 15, 5, 0}, all.text)
		_, err := io.WriteString(w, s)
		return err
	}
}

// checked is a check with the index of its host.
type checked struct {
	host int
	*compat.Check
}

// unjudged is a verdict on a case without a check, with the index of its host.
type unjudged struct {
	host int
	*gate.Verdict
}

// everyCase holds the cases of all hosts.
type everyCase struct {
	counts
	in        *report.Input
	unchecked []unjudged
	checked   []checked // see [failingFirst]
}

func allCases(in *report.Input) *everyCase {
	all := &everyCase{in: in, checked: failingFirst(in.Hosts)}
	for i := range in.Hosts {
		of := casesOf(in, i)
		all.merge(&of.counts)
		for _, v := range of.unchecked {
			all.unchecked = append(all.unchecked, unjudged{i, v})
		}
	}
	return all
}

// failingFirst lists the checks: those whose total fails, those whose operators
// differ, and the others, each in the order of the run.
func failingFirst(hosts []report.HostInput) []checked {
	var list []checked
	for i := range hosts {
		for k := range hosts[i].Comparison.Checks {
			list = append(list, checked{i, &hosts[i].Comparison.Checks[k]})
		}
	}
	rank := func(c checked) int {
		switch {
		case c.Status.Fails():
			return 0
		case c.Operators.Status.Differs():
			return 1
		}
		return 2
	}
	slices.SortStableFunc(list, func(a, b checked) int { return cmp.Compare(rank(a), rank(b)) })
	return list
}

// text holds tables of at most so many rows.
func (all *everyCase) text(rows int) (t report.Text) {
	if all.total+all.errors > 0 {
		t.Line(report.Plain(all.sum()))
		all.addTotals(&t, rows)
	} else {
		t.Line(report.Plain("No case was compared. Next: "), report.Command(all.run()+" --list"))
	}
	if all.errors > 0 {
		all.addUnchecked(&t, rows)
	}
	if all.compared > 0 {
		t.Line(report.Plain(fmt.Sprintf("Operators of %s: %d as recorded, %d with differences, %d not recorded.",
			text.Plural(all.compared, "case"), all.same, all.differ, all.unrecorded)))
	}
	if all.differ > 0 {
		all.addDifferences(&t, rows)
	}
	return t
}

// run is the command that measures.
func (all *everyCase) run() string {
	if len(all.in.Hosts) == 0 {
		return "accelgate run"
	}
	return all.in.Hosts[0].Commands.Run
}

// sum returns how many totals there are, and how many there should be.
func (n *counts) sum() string {
	failed := fmt.Sprintf("%d failed", n.failed+n.errors)
	if n.errors > 0 {
		failed += fmt.Sprintf(" (%d could not be judged)", n.errors)
	}
	return fmt.Sprintf("%s: %d passed, %s, %d without a reference. A plus is slower.",
		text.Plural(n.total+n.errors, "total"), n.passed, failed, n.none)
}

func (all *everyCase) addTotals(t *report.Text, rows int) {
	na := report.None()
	lines, groups := all.groupRows(rows)
	for _, u := range all.unchecked[:max(0, min(rows-len(lines), len(all.unchecked)))] {
		lines = append(lines, all.unjudgedRow(u, na, na, na, na, na, report.Only(report.Plain(notChecked))))
	}
	for _, c := range all.checked[:min(rows-len(lines), len(all.checked))] {
		row := []report.Line{report.Only(report.Foreign(milliseconds(c.Actual, c.Unit)))}
		for _, name := range []string{bench.InitialReference, bench.BaselineReference} {
			value, diff := compared(c.Check, name)
			row = append(row, report.Only(report.Foreign(value)), report.Only(report.Plain(diff)))
		}
		lines = append(lines, all.row(c.host, report.Code(c.Cell), append(row, report.Only(report.Foreign(string(c.Status))))...))
	}
	names := all.columns("Case", "Actual>", "Initial>", "Change>", "Baseline>", "Change>", "Status")
	t.Table(names, lines, groups+len(all.unchecked)+len(all.checked))
}

// groupRows returns a row for each group, with its mean and its tolerance, and how many groups there are.
func (all *everyCase) groupRows(rows int) (lines [][]report.Line, total int) {
	na := report.None()
	for host := range all.in.Hosts {
		for _, g := range all.in.Hosts[host].Comparison.Groups {
			if total++; len(lines) >= rows {
				continue
			}
			mean := na
			if g.Mean != nil {
				mean = report.Only(report.Plain(fmt.Sprintf("%+.2f %%", g.Percent)))
			}
			row := all.row(host, report.Code(g.Group), na, na, na,
				report.Only(report.Plain(fmt.Sprintf("%.4g %%", g.Tolerance*100))), mean, report.Only(report.Foreign(string(g.Status))))
			row[0] = report.Line{report.Plain("mean of "), report.Code(g.Group)}
			lines = append(lines, row)
		}
	}
	return lines, total
}

// addUnchecked adds why cases could not be judged.
func (all *everyCase) addUnchecked(t *report.Text, rows int) {
	var lines [][]report.Line
	for _, u := range all.unchecked[:min(rows, len(all.unchecked))] {
		lines = append(lines, all.unjudgedRow(u, report.Only(report.Foreign(cmp.Or(u.Reason, report.Word(u.Verdict))))))
	}
	t.Table(all.columns("Case", "Could not be judged"), lines, len(all.unchecked))
}

func (all *everyCase) columns(names ...string) []string {
	if len(all.in.Hosts) > 1 {
		names = slices.Insert(names, 1, "Host~")
	}
	return names
}

// row begins a row of a table whose columns are made by columns.
func (all *everyCase) row(host int, cell report.Span, cells ...report.Line) []report.Line {
	row := []report.Line{report.Only(cell)}
	if len(all.in.Hosts) > 1 {
		row = append(row, report.Only(report.Code(all.in.Hosts[host].Run.Host.Label)))
	}
	return append(row, cells...)
}

// unjudgedRow begins with the case as a link to its page.
func (all *everyCase) unjudgedRow(u unjudged, cells ...report.Line) []report.Line {
	cell := report.Code(u.Cell)
	if page := all.in.Links.Cell; page != nil {
		cell = report.CodeLink(u.Cell, page(all.in.Hosts[u.host].Run.Host.Label, u.Cell))
	}
	return all.row(u.host, cell, cells...)
}

// addDifferences lists operators that do not pass. Only what is shown is
// formatted.
func (all *everyCase) addDifferences(t *report.Text, rows int) {
	var lines [][]report.Line
	total := 0
	for _, c := range all.checked {
		for row := range c.Operators.Differing() {
			if total++; total > rows {
				continue
			}
			old, now, diff, calls := operatorCells(c.Check, row)
			lines = append(lines, all.row(c.host, report.Code(c.Cell), report.Only(report.Code(cmp.Or(row.Name, "other"))),
				report.Only(report.Foreign(old)), report.Only(report.Foreign(now)), report.Only(report.Plain(diff)),
				report.Only(report.Plain(calls)), report.Only(report.Foreign(string(row.Status)))))
		}
	}
	t.Table(all.columns("Case", "Operator", "Recorded>", "Now>", "Change>", "Calls>", "Status"), lines, total)
}
