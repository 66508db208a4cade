package report

import (
	"fmt"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/text"
)

// sharedLoss lists the losses that the cells of a suite share, and what they show of the host.
func (r *Report) sharedLoss() []block {
	var blocks []block
	n := 0
	for i := range r.hosts {
		h := &r.hosts[i]
		for k := range h.Comparison.SharedLosses {
			a := &h.Comparison.SharedLosses[k]
			if n++; n > maxCautions {
				continue
			}
			line := inline{bold(capital(allOf(a)) + " moved alike"), plain(" in "), code(a.Metric)}
			line = r.onHost(h, append(line, ofSuite(a)...))
			blocks = append(blocks, paragraph(append(line, plain(": "+h.shiftedBy(a)+"; "), reason(a.Reason))))
		}
	}
	return withRest(blocks, n, "shared loss", "shared losses")
}

// allOf writes "all 8 cells", or "15 of 16 cells".
func allOf(a *gate.SharedLoss) string {
	if a.Cells == a.Of {
		return "all " + text.Plural(a.Of, "cell")
	}
	return fmt.Sprintf("%d of %s", a.Cells, text.Plural(a.Of, "cell"))
}

func ofSuite(a *gate.SharedLoss) inline {
	if a.Suite == "" {
		return nil
	}
	return inline{plain(" of suite "), code(a.Suite)}
}

func capital(s string) string {
	if s[0] >= 'a' && s[0] <= 'z' {
		return string(s[0]-'a'+'A') + s[1:]
	}
	return s
}

// shiftedBy writes "-15.0 % (worse; -18.0 % … -12.0 %)".
func (h *host) shiftedBy(a *gate.SharedLoss) string {
	size, more := h.changeOfSharedLoss(a).words()
	return size + more
}

func (h *host) changeOfSharedLoss(a *gate.SharedLoss) change {
	better := bench.Higher
	if m := h.metrics[a.Metric]; m != nil {
		better = m.Better
	}
	c := change{percent: better.Change(a.Delta), better: better}
	from, to := better.Change(a.Interval[0]), better.Change(a.Interval[1])
	c.interval = [2]float64{min(from, to), max(from, to)}
	c.word = better.Word(c.percent)
	return c
}

func (c change) words() (size, more string) {
	return percent(c.percent, 0), " (" + c.word + "; " + percent(c.interval[0], 0) + " … " + percent(c.interval[1], 0) + ")"
}

// SharedLossDocument is a [gate.SharedLoss] with the sign that a document has for a change.
type SharedLossDocument struct {
	gate.SharedLoss
	Delta    *struct{}  `json:"delta,omitempty"` // hides the gate's own
	Change   float64    `json:"change"`          // a fraction, in the metric's own sign
	Interval [2]float64 `json:"interval"`
}

func (h *host) sharedLossDocuments() []SharedLossDocument {
	var list []SharedLossDocument
	for _, a := range h.Comparison.SharedLosses {
		c := h.changeOfSharedLoss(&a)
		list = append(list, SharedLossDocument{
			SharedLoss: a,
			Change:     finite(c.percent) / 100,
			Interval:   [2]float64{finite(c.interval[0]) / 100, finite(c.interval[1]) / 100},
		})
	}
	return list
}
