package report

import (
	"fmt"
	"strings"

	"github.com/accelgate/accelgate/internal/gate"
)

// power returns which losses the values at hand find, method by method, and how to find smaller
// ones. Nothing is said of another hour of the host.
func (r *Report) power() []block {
	return r.perHost("host", "hosts", func(h *host) []block {
		if len(h.Comparison.Power) == 0 {
			return nil
		}
		line := append(r.onHost(h, inline{plain("Detectable losses (80 % power)")}), plain(": "+detectable(h.Comparison.Power)))
		if h.Comparison.Power[0].Method != gate.MethodPairs {
			line = append(line, plain(". Pairs find smaller ones: "), command(h.Commands.Run+h.base()))
		}
		return []block{paragraph(line)}
	})
}

// detectable writes "4.9 % for half of the metrics, 49 % for 90 % of them", with the method
// where there are several.
func detectable(powers []gate.Power) string {
	names := map[gate.Method]string{gate.MethodPairs: "pairs", gate.MethodHistory: "history", gate.MethodSessions: "two sessions",
		gate.MethodThreshold: "the threshold"}
	var parts []string
	for _, p := range powers {
		text := rough(finite(p.Half))
		if p.Metrics > 1 {
			text = fmt.Sprintf("%s for half of the metrics, %s for 90 %% of them", text, rough(finite(p.Ninety)))
		}
		switch by := names[p.Method]; {
		case p.Suspects:
			text += fmt.Sprintf(" (by %s, which one run only suspects)", by)
		case len(powers) > 1 || p.Method != gate.MethodPairs:
			text += fmt.Sprintf(" (by %s)", by)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}
