package report

import (
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/gate/compat"
	"github.com/accelgate/accelgate/internal/text"
)

// ofCase reports whether a verdict rests on the numbers of a case file and not on
// the host's baseline.
func (h *host) ofCase(v *gate.Verdict) bool {
	switch v.Finding {
	case gate.Drifted:
		return v.Reference != gate.AnchorReference
	case gate.PartsDiffer:
		return true
	case gate.Untracked:
		c := h.checks[v.Cell]
		return c != nil && c.Unrecorded()
	}
	return v.Reference == "operators" || compat.OfFile(v.Reference) && (v.Reference != h.Comparison.Reference || h.checks[v.Cell] != nil)
}

// lostCalls reports whether the run of a case lacks how often an operator was
// called, which no refresh records.
func (h *host) lostCalls(cell string) bool {
	c := h.checks[cell]
	return c != nil && c.Operators.LacksCalls()
}

// against returns which number a cell with several references was compared with,
// and nothing where only the host's baseline comes into question.
func (h *host) against(v *gate.Verdict) span {
	switch {
	case v.Reference == gate.AnchorReference:
		return plain(" vs its anchor")
	case h.ofCase(v) && compat.OfFile(v.Reference):
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
		if c := &h.Comparison.Checks[i]; c.Unrecorded() && len(c.Cell) <= typable {
			return " --only " + text.ShellQuote(c.Cell)
		}
	}
	return ""
}
