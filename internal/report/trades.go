package report

import (
	"fmt"

	"github.com/accelgate/accelgate/internal/gate"
)

// traded shows the losses that a gain of another metric pays for: they are losses all the same.
func (r *Report) traded() []block {
	l := &r.shown.traded
	if l.total == 0 {
		return nil
	}
	t := &table{total: l.total, brief: true, columns: r.columns("Cell", "Metric", "Baseline → now>", "Change>", "Limit>", "Evidence~")}
	for _, f := range l.rows[:min(maxAction, len(l.rows))] {
		t.rows = append(t.rows, r.actionRow(f))
	}
	certain := "certain "
	if r.in.Policy.Method == gate.MethodThreshold {
		certain = ""
	}
	what := "1 " + certain + "loss does not block: a " + certain + "gain of another metric of the cell pays for it, by "
	if l.total > 1 {
		what = fmt.Sprintf("%d %slosses do not block: %sgains of other metrics of the cells pay for them, by ", l.total, certain, certain)
	}
	return []block{paragraph{strong("Traded"), plain(": " + what), code("trade"), plain(" in the configuration")}, r.withHistory(t, l.rows)}
}
