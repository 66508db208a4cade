package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/text"
)

var _ Renderer = CasesMarkdown

// CasesMarkdown renders the checks of cases for GitHub, in at most
// [MarkdownBytes] bytes: a table of totals, one of why cases could not be
// judged, and one of the operators that do not pass. What fails comes first;
// what does not fit is counted.
func CasesMarkdown(w io.Writer, r Report) error { return CasesMarkdownLimit(MarkdownBytes)(w, r) }

// CasesMarkdownLimit is [CasesMarkdown] in at most limit bytes of UTF-8; a
// limit below 1000 counts as 1000.
func CasesMarkdownLimit(limit int) Renderer {
	limit = max(limit, least)
	return func(w io.Writer, r Report) error {
		st, sentence := r.verdict()
		p := page{status: st, sentence: sentence}
		all := r.allCases()
		s := ""
		for _, rows := range []int{500, 200, 50, 15, 5, 0} {
			if s = r.cases(&p, all, rows); len(s) <= limit {
				break
			}
		}
		if len(s) > limit {
			s = fmt.Sprintf("### %s %s\n\n%s\n", st.sign, p.brief(), omitted([]string{"everything but the verdict"}))
		}
		_, err := io.WriteString(w, s)
		return err
	}
}

// checked is a check with the index of its host.
type checked struct {
	host int
	*gate.Check
}

// everyCase holds the cases of all hosts.
type everyCase struct {
	counts
	unchecked []finding
	checked   []checked // see [Report.failingFirst]
}

func (r *Report) allCases() *everyCase {
	all := &everyCase{checked: r.failingFirst()}
	for i := range r.hosts {
		of := r.casesOf(i)
		all.merge(&of.counts)
		all.unchecked = append(all.unchecked, of.unchecked...)
	}
	return all
}

// failingFirst lists the checks: those whose total fails, those whose operators
// differ, and the others, each in the order of the run.
func (r *Report) failingFirst() []checked {
	var list []checked
	for i := range r.hosts {
		for k := range r.hosts[i].Comparison.Checks {
			list = append(list, checked{i, &r.hosts[i].Comparison.Checks[k]})
		}
	}
	rank := func(c checked) int {
		switch {
		case failsTotal(c.Check):
			return 0
		case differs(c.Check):
			return 1
		}
		return 2
	}
	slices.SortStableFunc(list, func(a, b checked) int { return cmp.Compare(rank(a), rank(b)) })
	return list
}

func (r *Report) cases(p *page, all *everyCase, rows int) string {
	blocks := []block{paragraph{plain("No case was compared. Next: "), command(r.commands().Run + " --list")}}
	if all.total+all.errors > 0 {
		blocks = []block{paragraph{plain(all.sum())}, r.totalsTable(all, rows)}
	}
	if all.errors > 0 {
		blocks = append(blocks, r.uncheckedTable(all, rows))
	}
	if all.compared > 0 {
		blocks = append(blocks, paragraph{plain(fmt.Sprintf("Operators of %s: %d as recorded, %d with differences, %d not recorded.",
			text.Plural(all.compared, "case"), all.same, all.differ, all.unrecorded))})
	}
	if all.differ > 0 {
		blocks = append(blocks, r.differencesTable(all.checked, rows))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "### %s %s\n\n", p.status.sign, p.headline().markdown())
	for _, block := range blocks {
		block.markdown(&b)
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "<sub>%s</sub>\n", escapeText(name(r.in.Tool)))
	return b.String()
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

func (r *Report) totalsTable(all *everyCase, rows int) *table {
	t := &table{total: len(all.unchecked) + len(all.checked),
		columns: r.columns("Case", "Actual>", "Initial>", "Change>", "Baseline>", "Change>", "Status")}
	r.groupRows(t, rows)
	for _, f := range all.unchecked[:max(0, min(rows-len(t.rows), len(all.unchecked)))] {
		t.rows = append(t.rows, r.row(f, none, none, none, none, none, only(plain(notChecked))))
	}
	for _, c := range all.checked[:min(rows-len(t.rows), len(all.checked))] {
		row := []inline{only(reason(milliseconds(c.Actual, c.Unit)))}
		for _, name := range []string{bench.InitialReference, bench.BaselineReference} {
			value, diff := compared(c.Check, name)
			row = append(row, only(reason(value)), only(plain(diff)))
		}
		t.rows = append(t.rows, r.caseRow(c, append(row, only(reason(string(c.Status))))...))
	}
	return t
}

// groupRows adds a row for each group, with its mean and its tolerance, above the cases.
func (r *Report) groupRows(t *table, rows int) {
	for i := range r.hosts {
		for _, g := range r.hosts[i].Comparison.Groups {
			if t.total++; len(t.rows) >= rows {
				continue
			}
			mean := none
			if g.Mean != nil {
				mean = only(plain(fmt.Sprintf("%+.2f %%", g.Percent)))
			}
			row := []inline{{plain("mean of "), code(g.Group)}}
			if len(r.hosts) > 1 {
				row = append(row, only(code(r.hosts[i].Run.Host.Label)))
			}
			t.rows = append(t.rows, append(row, none, none, none, only(plain(fmt.Sprintf("%.4g %%", g.Tolerance*100))), mean,
				only(reason(string(g.Status)))))
		}
	}
}

// uncheckedTable returns why cases could not be judged.
func (r *Report) uncheckedTable(all *everyCase, rows int) *table {
	t := &table{total: len(all.unchecked), columns: r.columns("Case", "Could not be judged")}
	for _, f := range all.unchecked[:min(rows, len(all.unchecked))] {
		t.rows = append(t.rows, r.row(f, only(reason(cmp.Or(f.Reason, f.word())))))
	}
	return t
}

// caseRow begins a row of a table whose columns are made by [Report.columns].
func (r *Report) caseRow(c checked, cells ...inline) []inline {
	row := []inline{only(code(c.Cell))}
	if len(r.hosts) > 1 {
		row = append(row, only(code(r.hosts[c.host].Run.Host.Label)))
	}
	return append(row, cells...)
}

// differencesTable lists operators that do not pass. Only what is shown is
// formatted.
func (r *Report) differencesTable(list []checked, rows int) *table {
	t := &table{columns: r.columns("Case", "Operator", "Recorded>", "Now>", "Change>", "Calls>", "Status")}
	for _, c := range list {
		for i := range c.Operators.Rows {
			row := &c.Operators.Rows[i]
			if row.Status != gate.OperatorsWarn && row.Status != gate.OperatorsFail {
				continue
			}
			if t.total++; t.total > rows {
				continue
			}
			old, now, diff, calls := operatorCells(c.Check, row)
			t.rows = append(t.rows, r.caseRow(c, only(code(cmp.Or(row.Name, "other"))), only(reason(old)), only(reason(now)),
				only(plain(diff)), only(plain(calls)), only(reason(string(row.Status)))))
		}
	}
	return t
}
