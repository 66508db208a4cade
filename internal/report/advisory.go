package report

import (
	"fmt"
	"strings"

	"github.com/accelgate/accelgate/internal/text"
)

// advisory shows what would block, but for the levels of the configuration.
func (r *Report) advisory() []block {
	l := &r.shown.advisory
	if l.total == 0 {
		return nil
	}
	do := "do"
	if l.total == 1 {
		do = "does"
	}
	t := &table{total: l.total, brief: true, columns: r.columns("Cell", "Metric", "Baseline → now>", "Change>", "Limit>", "Evidence~")}
	for _, f := range l.rows[:min(maxAction, len(l.rows))] {
		t.rows = append(t.rows, r.actionRow(f))
	}
	return []block{paragraph{strong("Advisory"), plain(": " + text.Plural(l.total, "finding") + " " + do + " not block, by "), code(strings.Join(r.in.Policy.AdvisoryBy, ", ")),
		plain("; correctness still blocks")}, r.withHistory(t, l.rows)}
}

// excepted says, in a sentence that no cell is slower, how many are.
func (t *tally) excepted() string {
	var parts []string
	for _, e := range t.exceptions() {
		if e.n == 1 {
			parts = append(parts, "1 that is "+e.what)
		} else {
			parts = append(parts, fmt.Sprintf("%d that are %s", e.n, e.what))
		}
	}
	if parts == nil {
		return ""
	}
	return " except for " + enumerate(parts)
}

type exception struct {
	n    int
	what string
}

// exceptions are the cells that would block, but for what the repository says of them.
func (t *tally) exceptions() (list []exception) {
	for _, e := range []exception{{t.traded, "traded"}, {t.waived, "waived"}, {t.advisory, "advisory"}, {t.isolated, "in quarantine"}} {
		if e.n > 0 {
			list = append(list, e)
		}
	}
	return list
}

// butFor is "nothing worse but 2 waived and 1 advisory".
func (t *tally) butFor() string {
	var parts []string
	for _, e := range t.exceptions() {
		parts = append(parts, fmt.Sprintf("%d %s", e.n, e.what))
	}
	return "nothing worse but " + enumerate(parts)
}
