package report

import (
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/text"
)

// byCell finds the checks of a comparison.
func byCell(checks []gate.Check) map[string]*gate.Check {
	found := make(map[string]*gate.Check, len(checks))
	for i := range checks {
		found[checks[i].Cell] = &checks[i]
	}
	return found
}

// ofCase reports a verdict that rests on the numbers of a case file and not on
// those of the host's baseline.
func (h *host) ofCase(v *gate.Verdict) bool {
	switch v.Finding {
	case gate.Drifted:
		return v.Reference != gate.AnchorReference
	case gate.PartsDiffer:
		return true
	case gate.Untracked:
		c := h.checks[v.Cell]
		return c != nil && c.Status == gate.CheckNoBaseline
	}
	return v.Reference == "operators" || ofFile(v.Reference) && (v.Reference != h.Comparison.Reference || h.checks[v.Cell] != nil)
}

// lostCalls reports a case whose run does not say how often an operator was
// called, which no refresh records.
func (h *host) lostCalls(cell string) bool {
	c := h.checks[cell]
	return c != nil &&
		slices.ContainsFunc(c.Operators.Rows, func(r gate.OperatorRow) bool { return r.NewRank > 0 && r.NewCalls == 0 && r.CallsDiffer() })
}

// ofFile reports the name of a reference that case files record.
func ofFile(name string) bool {
	return name == bench.BaselineReference || name == bench.InitialReference
}

// against returns which number a cell with several references was compared with,
// and nothing where only the host's baseline comes into question.
func (h *host) against(v *gate.Verdict) span {
	switch {
	case v.Reference == gate.AnchorReference:
		return plain(" vs its anchor")
	case h.ofCase(v) && ofFile(v.Reference):
		return plain(" vs " + v.Reference)
	case v.SinceBaseline(), h.checks[v.Cell] != nil && v.Reference != "" && v.Reference == h.Comparison.Reference:
		return plain(" vs the host's baseline")
	}
	return plain("")
}

// onlyUnrecorded selects the first cell that has no reference, if it can be
// typed.
func (h *host) onlyUnrecorded() string {
	for i := range h.Comparison.Checks {
		if c := &h.Comparison.Checks[i]; c.Status == gate.CheckNoBaseline && len(c.Cell) <= typable {
			return " --only " + text.ShellQuote(c.Cell)
		}
	}
	return ""
}

// reference is the comparison with the reference of that name, or nil.
func reference(c *gate.Check, name string) *gate.ReferenceCheck {
	for i := range c.References {
		if c.References[i].Name == name {
			return &c.References[i]
		}
	}
	return nil
}

// contributor names the operator that has the largest part in the change of a
// cell's total, or is nil: "mostly matmul: +12 ms, 85 %". The change may be the
// one from another reference, whose operators were recorded; then it says so.
func (r *Report) contributor(f finding) inline {
	c := r.hosts[f.host].checks[f.Cell]
	if c == nil || f.Metric != c.Metric || !shares(c) || !explains(&c.Operators, f.Finding) {
		return nil
	}
	row := largestPart(&c.Operators)
	if row == nil {
		return nil
	}
	what, share := "largest part ", float64(row.DeltaPS)/float64(c.Operators.DeltaPS)
	if share >= 0.5 {
		what = "mostly "
	}
	line := append(inline{plain(what), code(row.Name), plain(": ")}, amount(row.DeltaPS, c.Unit)...)
	line = append(line, plain(", "+whole(share)))
	if of := c.Operators.Of; ofFile(of) && of != f.Reference {
		line = append(line, plain(" of the change vs "+of))
	}
	return line
}

// explains reports whether the operators, as a whole, moved as the finding says.
func explains(o *gate.OperatorCheck, found gate.Finding) bool {
	switch found {
	case gate.Regressed, gate.Drifted:
		return o.DeltaPS > 0
	case gate.Improved, gate.Unrecorded:
		return o.DeltaPS < 0
	}
	return false
}

// largestPart is the operator that moved furthest into the direction of the
// total, or nil if none did.
func largestPart(o *gate.OperatorCheck) *gate.OperatorRow {
	var largest *gate.OperatorRow
	for i := range o.Rows {
		row := &o.Rows[i]
		if row.Change == gate.OperatorOther || row.DeltaPS == 0 || (row.DeltaPS > 0) != (o.DeltaPS > 0) {
			continue
		}
		if largest == nil || magnitude(row.DeltaPS) > magnitude(largest.DeltaPS) {
			largest = row
		}
	}
	return largest
}
