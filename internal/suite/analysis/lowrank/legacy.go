package lowrank

import (
	"fmt"
	"io"
	"strings"

	"github.com/accelgate/accelgate/internal/text"
)

// WriteLegacy writes the report in the layout of upstream's fidelity script
// (regression_tests/test_osft_fidelity_script.py), for what reads that. Where
// upstream's counts leave failures out, these have them: failed parameters are
// compared and different, and none compared is no success. Only a report with
// faults has a section that upstream's has not.
func (r Report) WriteLegacy(w io.Writer) error {
	var b strings.Builder
	s, line := r.Summary, strings.Repeat("=", 60)
	fmt.Fprintf(&b, "\n%s\nOSFT RECONSTRUCTION FIDELITY TEST RESULTS\n%s\n", line, line)
	fmt.Fprintf(&b, "Parameters compared: %d\nTolerance: %.2e\n\n", s.Total, r.Settings.Tolerance)
	fmt.Fprintf(&b,
		"📊 Summary:\n  ✅ Identical parameters: %d\n  🔍 Close parameters (within tolerance): %d\n  ❌ Different parameters: %d\n\n",
		s.Identical, s.Close, s.Different+s.Failed)
	fmt.Fprintf(&b, "📈 Numerical Statistics:\n  Max difference: %.2e\n  Average difference: %.2e\n\n", s.Max, s.LegacyAverage)
	fmt.Fprintf(&b, "🔧 Parameter Types:\n  Reconstructed from OSFT: %d\n  Direct comparison: 0\n\n", s.Total)
	r.writeWorst(&b)
	r.writeFaults(&b)
	b.WriteString("🎯 Overall Result:\n")
	if s.Passed() {
		b.WriteString("  ✅ SUCCESS: All parameters match within tolerance!\n")
	} else {
		fmt.Fprintf(&b, "  ⚠️  PARTIAL SUCCESS: %.1f%% of parameters match\n", s.SuccessRate)
	}
	fmt.Fprintf(&b, "  Success rate: %.1f%%\n%s\n", s.SuccessRate, line)
	_, err := io.WriteString(w, b.String())
	return err
}

// writeWorst lists the five largest differences.
func (r Report) writeWorst(b *strings.Builder) {
	worst := r.Worst()
	if len(worst) == 0 {
		return
	}
	b.WriteString("🚨 Worst Reconstructed Parameter Differences:\n")
	for _, p := range worst[:min(5, len(worst))] {
		fmt.Fprintf(b, "  %s: %.2e (status: %s)\n", text.Plain(p.Name, maxDetail), p.Difference.Max, p.Status)
	}
	b.WriteString("\n")
}

func (r Report) writeFaults(b *strings.Builder) {
	title := "🚫 Faults:\n"
	for _, p := range r.Parameters {
		for _, f := range p.Faults {
			fmt.Fprintf(b, "%s  %s: %s: %s\n", title, text.Plain(p.Name, maxDetail), f.Kind, text.Plain(f.Detail, maxDetail))
			title = ""
		}
	}
	if title == "" {
		b.WriteString("\n")
	}
}
