package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/text"
)

// undecidedTable lists what more evidence may change, with what would decide it, and how to get
// that.
func (r *Report) undecidedTable(maximum int) []block {
	l := &r.shown.undecided
	if l.total == 0 {
		return nil
	}
	t := r.reservedTable(l, maximum, "Decided by",
		func(f finding) []inline { return []inline{only(plain(deciders[f.DecidedBy])), evidence(f)} })
	blocks := []block{t}
	if items := r.deciding(); items != nil {
		blocks = append(blocks, items)
	}
	return blocks
}

// excusedTable lists what would block, but is excused by the repository.
func (r *Report) excusedTable(maximum int) []block {
	l := &r.shown.excused
	if l.total == 0 {
		return nil
	}
	return []block{r.reservedTable(l, maximum, "Excuse", func(f finding) []inline {
		return []inline{only(plain(excuses[f.Excuse.Kind])), append(append(excuseOf(f.Verdict), plain("; ")), evidence(f)...)}
	})}
}

// reservedTable has a row for each finding, with a column of its own.
func (r *Report) reservedTable(l *list, maximum int, title string, why func(finding) []inline) *table {
	t := &table{total: l.total, notes: true, columns: r.columns("Cell", "Metric", "Finding", "Baseline → now>", "Change>", "Limit>",
		title, "Evidence~")}
	for _, f := range l.rows[:min(maximum, len(l.rows))] {
		change := none
		if ofSpeed(f.Verdict) && f.Finding != gate.PartsDiffer {
			change = r.changeCell(f)
		}
		limit := limitsIn(f.Verdict)
		if f.Budget > 0 {
			limit = budgetLimit(f)
		}
		row := r.row(f, append([]inline{metricName(f), only(plain(f.bareWord())), r.values(f), change, limit}, why(f)...)...)
		if f.Budget > 0 {
			row[0] = r.budgetOf(f)
		}
		t.rows = append(t.rows, row)
	}
	return r.withHistory(t, l.rows)
}

// bareWord is the word of the finding without its standing.
func (f finding) bareWord() string {
	if cause := causes[f.Cause]; f.Finding == gate.Crashed && cause != "" {
		return cause
	}
	return labels[labelOf(f.Verdict)].word
}

// deciding are the commands that decide what is undecided, one for each way.
func (r *Report) deciding() bullets {
	var items bullets
	for _, by := range gate.Deciders {
		i := slices.IndexFunc(r.shown.undecided.rows, func(f finding) bool { return f.DecidedBy == by })
		if i < 0 {
			continue
		}
		if line := r.decide(r.shown.undecided.rows[i]); line != nil {
			items = append(items, r.on(r.shown.undecided.rows[i], line))
		}
	}
	return items
}

// decide returns how to get what decides a finding; nil where its reason has it.
func (r *Report) decide(f finding) inline {
	h := &r.hosts[f.host]
	line := h.Commands.Run
	if f.Cell != "" && len(f.Cell) <= typable && f.alike == nil {
		line = h.Commands.Cell + " --only " + text.ShellQuote(f.Cell)
	}
	switch f.DecidedBy {
	case gate.ByMorePairs:
		return inline{plain("More pairs: "), command(line + h.base() + fmt.Sprintf(" --pairs %d", max(10, 2*f.Evidence.NewN)))}
	case gate.ByPairs:
		return inline{plain("Pairs with the base: "), command(line + h.base())}
	case gate.ByHealthyHost:
		return inline{plain("A healthy host, or pairs with the base, which stand on any host: "), command(line + h.base())}
	case gate.ByNextRun:
		return inline{
			plain("The next run of the default branch decides it; to decide it now, measure in pairs: "),
			command(line + h.base()),
		}
	case gate.ByRepeats:
		return inline{plain("More repeats: "), command(line + " --repeats 5")}
	case gate.ByNewBaseline:
		why := "A baseline that can be compared: "
		if f.SinceBaseline() {
			why = "Measure the default branch on this host. If it is as slow, the host changed, and its new baseline decides: "
		}
		return inline{plain(why), command(h.update("why it is recorded anew"))}
	case gate.ByWholeGroup:
		return inline{plain("A run without filters, of which every cell of the group passes: "), command(h.Commands.Cell)}
	}
	return nil
}

// clause counts something in words; many has the number as %d.
type clause struct {
	n         int
	one, many string
}

// clauses writes those that count something.
func clauses(all ...clause) (parts []string) {
	for _, c := range all {
		switch {
		case c.n == 1:
			parts = append(parts, c.one)
		case c.n > 1:
			parts = append(parts, fmt.Sprintf(c.many, c.n))
		}
	}
	return parts
}

// reservations returns "1 loss beyond its limit is undecided and 2 cells are waived", the worst first; "" if there is nothing
// to report.
func (t *findingCounts) reservations() string {
	all := []clause{
		{t.losses(), "1 loss beyond its limit is undecided", "%d losses beyond their limits are undecided"},
		{t.open() - t.lossCells, "1 cell is undecided", "%d cells are undecided"},
	}
	for _, kind := range gate.ExcuseKinds {
		all = append(all, clause{t.excused[kind], "1 cell is " + excuses[kind], "%d cells are " + excuses[kind]})
	}
	return enumerate(clauses(append(all,
		clause{t.reservedBudgets, "1 budget or fit is undecided or excused", "%d budgets or fits are undecided or excused"},
		clause{t.reservedShifts, "a change of all cells together is undecided or excused",
			"changes of all cells together are undecided or excused on %d hosts"},
		clause{t.elsewhere, "1 host is another than its baseline's", "%d hosts are others than their baselines'"},
	)...))
}

// brief is the same for the table of hosts: "1 undecided, 2 waived".
func (t *findingCounts) brief() []string {
	var parts []string
	add := func(n int, what string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, what))
		}
	}
	add(t.open()+t.wholeLosses, "undecided")
	for _, kind := range gate.ExcuseKinds {
		add(t.excused[kind], excuses[kind])
	}
	add(t.reservedBudgets, "of budgets or fits")
	if t.reservedShifts > 0 {
		parts = append(parts, "all cells together")
	}
	if t.elsewhere > 0 {
		parts = append(parts, "another host")
	}
	return parts
}

// losses counts the losses beyond their limits that are undecided; several of a cell count once.
func (t *findingCounts) losses() int { return t.lossCells + t.wholeLosses }

// joined adds a clause to a sentence that may be empty.
func joined(s, more string) string { return strings.TrimPrefix(s+"; "+more, "; ") }
