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
		return c != nil && c.Status == gate.CheckNoBaseline
	}
	return v.Reference == "operators" || ofFile(v.Reference) && (v.Reference != h.Comparison.Reference || h.checks[v.Cell] != nil)
}

// lostCalls reports whether the run of a case lacks how often an operator was
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
