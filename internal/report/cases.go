package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
)

var _ Renderer = CasesMarkdown

// CasesMarkdown renders the checks of cases for GitHub, in at most
// [MarkdownBytes] bytes: a table of totals, then one of the operators that do
// not pass. What fails comes first; what does not fit is counted.
func CasesMarkdown(w io.Writer, r Report) error { return CasesMarkdownLimit(MarkdownBytes)(w, r) }

// CasesMarkdownLimit is [CasesMarkdown] in at most limit bytes of UTF-8; a
// limit below 1000 counts as 1000.
func CasesMarkdownLimit(limit int) Renderer {
	limit = max(limit, least)
	return func(w io.Writer, r Report) error {
		st, sentence := r.verdict()
		p := page{status: st, sentence: sentence}
		n, list := r.counts(), r.failingFirst()
		s := ""
		for _, rows := range []int{500, 200, 50, 15, 5, 0} {
			if s = r.cases(&p, n, list, rows); len(s) <= limit {
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

func (r *Report) cases(p *page, n counts, list []checked, rows int) string {
	blocks := []block{paragraph{plain("No case was compared. Next: "), command(r.in.Commands.Run + " --list")}}
	if n.total > 0 {
		blocks = []block{
			paragraph{plain(fmt.Sprintf("%s: %d passed, %d failed, %d without a reference. A plus is slower.",
				count(n.total, "total"), n.passed, n.failed, n.none))},
			r.totalsTable(list, rows),
		}
	}
	if n.compared > 0 {
		blocks = append(blocks, paragraph{plain(fmt.Sprintf("Operators of %s: %d as recorded, %d with differences, %d not recorded.",
			count(n.compared, "case"), n.same, n.differ, n.unrecorded))})
	}
	if n.differ > 0 {
		blocks = append(blocks, r.differencesTable(list, rows))
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

func (r *Report) totalsTable(list []checked, rows int) *table {
	t := &table{total: len(list), columns: r.columns("Case", "Actual>", "Initial>", "Change>", "Baseline>", "Change>", "Status")}
	for _, c := range list[:min(rows, len(list))] {
		row := []inline{only(reason(milliseconds(c.Actual, c.Unit)))}
		for _, name := range []string{bench.InitialReference, bench.BaselineReference} {
			value, diff := compared(c.Check, name)
			row = append(row, only(reason(value)), only(plain(diff)))
		}
		t.rows = append(t.rows, r.caseRow(c, append(row, only(reason(string(c.Status))))...))
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
