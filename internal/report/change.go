package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
)

// change is by how much a number changed: new/old - 1 in the metric's own sign.
// The gate's own numbers, in percent, are negative for every loss.
type change struct {
	percent  float64
	interval [2]float64
	better   bench.Direction
	word     string // "better", "worse", "" for no change
}

// changeOf is the change of a verdict; ok is false where no two numbers have
// one: from 0, to nothing, of an outcome.
func (h *host) changeOf(v *gate.Verdict) (c change, ok bool) {
	if !ofSpeed(v) && v.Evidence.Method != gate.MethodExact && v.Finding != gate.PartsDiffer || v.Metric != "" && v.Old == 0 {
		return c, false
	}
	better := direction(h.metrics[v.Metric], v)
	c = change{
		percent:  better.Change(v.Delta),
		better:   better,
		interval: [2]float64{better.Change(v.Interval[0]), better.Change(v.Interval[1])},
	}
	if v.Evidence.Method == gate.MethodExact {
		gain, _ := better.Gain(v.Old, v.New)
		c.percent = better.Change(gain)
		c.interval = [2]float64{c.percent, c.percent}
		return c, true // neither is better than what must be equal
	}
	c.interval = [2]float64{min(c.interval[0], c.interval[1]), max(c.interval[0], c.interval[1])}
	c.word = better.Word(c.percent)
	return c, true
}

// fromZero reports a change that has no percentage, nor has its limit: an amount or the direction judges it.
func fromZero(v *gate.Verdict) bool {
	return v.Metric != "" && v.Old == 0 && v.Evidence.Method == gate.MethodThreshold
}

// direction returns the direction of the verdict's metric, which m describes. Without a description, as for
// a total that only a case file has, it follows from the numbers. All cells together are printed as a
// speed.
func direction(m *bench.Metric, v *gate.Verdict) bench.Direction {
	switch {
	case m != nil:
		return m.Better
	case v.Finding == gate.PartsDiffer, v.Metric != "" && v.New != v.Old && (v.New > v.Old) != (v.Delta > 0):
		return bench.Lower
	}
	return bench.Higher
}

// changed writes the change of a finding in two parts: "+31.0 %" and
// "(worse; of the pairs; +28.0 % … +33.0 %)".
func (r *Report) changed(f finding) (number, more string) {
	if f.alike != nil {
		return r.hosts[f.host].changeOfSharedLoss(f.alike).words()
	}
	c, ok := r.hosts[f.host].changeOf(f.Verdict)
	if !ok {
		if word := direction(r.hosts[f.host].metrics[f.Metric], f.Verdict).Word(f.New); word != "" {
			more = " (" + word + ")"
		}
		return "from 0", more
	}
	limit := f.Evidence.Limit
	number = percent(c.percent, limit)
	if number == zero && c.percent != 0 && f.Finding != gate.Unchanged {
		number = fmt.Sprintf("%+.2g %%", c.percent)
	}
	var notes []string
	if c.word != "" && number != zero {
		notes = append(notes, c.word)
	}
	if what := estimated(f.Verdict, c, number); what != "" {
		notes = append(notes, what)
	}
	if f.Evidence.NewN > 1 || f.Evidence.Method.Statistics() {
		notes = append(notes, percent(c.interval[0], limit)+" … "+percent(c.interval[1], limit))
	}
	if note := r.hosts[f.host].instructions(f.Verdict); note != "" {
		notes = append(notes, note)
	}
	if len(notes) > 0 {
		more = " (" + strings.Join(notes, "; ") + ")"
	}
	return number, more
}

// estimated returns which estimate a change is, where it is not the change of the two
// numbers beside it.
func estimated(v *gate.Verdict, c change, shown string) string {
	if !v.Evidence.Method.Statistics() || v.Metric == "" {
		return ""
	}
	if gain, ok := c.better.Gain(v.Old, v.New); ok && percent(c.better.Change(gain), v.Evidence.Limit) == shown {
		return ""
	}
	if v.Evidence.Method == gate.MethodPairs {
		return "estimate of the pairs"
	}
	return "estimate from history"
}

// inWords writes a change with what it means: "+31.0 % (worse)".
func inWords(change, limit float64, better bench.Direction) string {
	s := percent(change, limit)
	if word := better.Word(change); word != "" && s != zero && !math.IsNaN(change) {
		s += " (" + word + ")"
	}
	return s
}

// changeDocument fills in the change of a verdict, as fractions.
func (h *host) changeDocument(d *VerdictDocument) {
	c, ok := h.changeOf(&d.Verdict)
	if !ok || !bench.Finite(c.percent) || !bench.Finite(c.interval[0]) || !bench.Finite(c.interval[1]) {
		return
	}
	fraction := c.percent / 100
	d.Change, d.Interval = &fraction, &[2]float64{c.interval[0] / 100, c.interval[1] / 100}
	if c.word != "" {
		better := c.word == "better"
		d.Better = &better
	}
}
