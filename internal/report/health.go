package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/text"
)

// unhealthy lists hosts that were unhealthy while they measured, with the
// first reasons: their numbers are doubtful whether they block or not.
func (r *Report) unhealthy() []block {
	const maximum = 2
	return r.perHost("unhealthy host", "unhealthy hosts", func(h *host) []block {
		cells, reasons := unhealthyCells(h.Run)
		if cells == 0 {
			return nil
		}
		line := r.onHost(h, inline{bold("Unhealthy host"), plain(" while " + text.Plural(cells, "cell") + " " + wasWere(cells) + " measured")})
		for k, why := range reasons[:min(maximum, len(reasons))] {
			line = append(line, plain(map[bool]string{true: ": ", false: "; "}[k == 0]), reason(why))
		}
		if more := len(reasons) - maximum; more > 0 {
			line = append(line, plain("; and "+text.Plural(more, "more reason")))
		}
		return []block{paragraph(append(line, plain(h.healthMeans())))}
	})
}

// healthMeans returns what the state of the host means for the losses.
func (h *host) healthMeans() string {
	stands, open := 0, 0
	for i := range h.Comparison.Verdicts {
		v := &h.Comparison.Verdicts[i]
		stands += stats.Indicator(v.Health != "" && v.Blocks)
		open += stats.Indicator(v.DecidedBy == gate.ByHealthyHost)
	}
	var parts []string
	if stands > 0 {
		parts = append(parts, fmt.Sprintf("%s by pairs %s, whatever the host did to both sides",
			text.Plural(stands, "loss"), map[bool]string{true: "stands", false: "stand"}[stands == 1]))
	}
	if open > 0 {
		parts = append(parts, text.Plural(open, "loss")+" undecided for it")
	}
	if parts == nil {
		return ""
	}
	return "; " + strings.Join(parts, "; ")
}

// unhealthyCells counts the cells of a run that were measured on an unhealthy host, and collects why.
func unhealthyCells(run *bench.Run) (cells int, reasons []string) {
	for i := range run.Results {
		h := run.Results[i].Health
		if h == nil || h.Status != bench.Unhealthy {
			continue
		}
		cells++
		for _, why := range h.Reasons {
			known := func(other string) bool { return bench.SameReason(other, why) }
			if len(reasons) < 100 && !slices.ContainsFunc(reasons, known) {
				reasons = append(reasons, why)
			}
		}
	}
	return cells, reasons
}

func wasWere(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}
