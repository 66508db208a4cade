package report

import (
	"fmt"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/text"
)

// unwell lists hosts that were unhealthy while they measured, with the
// first reasons: their numbers are doubtful whether they block or not.
func (r *Report) unwell() []block {
	const most = 2
	var blocks []block
	n := 0
	for i := range r.hosts {
		h := &r.hosts[i]
		cells, reasons := ill(h.Run)
		losses := h.doubted()
		if cells == 0 && losses == 0 {
			continue
		}
		if n++; n > maxCautions {
			continue
		}
		line := inline{strong("Unhealthy host"), plain(" while " + text.Plural(cells, "cell") + " " + wasWere(cells) + " measured")}
		if cells == 0 {
			line = inline{strong("The calibration workload moved"), plain(" as well as the cells")}
		}
		if len(r.hosts) > 1 {
			line = append(line, plain(" on "), code(r.hosts[i].Run.Host.Label))
		}
		for k, why := range reasons[:min(most, len(reasons))] {
			line = append(line, plain(map[bool]string{true: ": ", false: "; "}[k == 0]), reason(why))
		}
		if more := len(reasons) - most; more > 0 {
			line = append(line, plain("; and "+text.Plural(more, "more reason")))
		}
		if losses > 0 {
			line = append(line, plain(fmt.Sprintf("; inconclusive losses that the host may have made: %d. Measure again when it is healthy: ", losses)), command(h.Commands.Run+" --wait-healthy 10m"))
		}
		blocks = append(blocks, paragraph(line))
	}
	return withRest(blocks, n, "unhealthy host", "unhealthy hosts")
}

// doubted counts the losses that the host may have made and that do not block: they
// have no rows of their own.
func (h *host) doubted() (n int) {
	for i := range h.Comparison.Verdicts {
		n += one(h.Comparison.Verdicts[i].Unhealthy && h.Comparison.Verdicts[i].Level != gate.Fail)
	}
	return n
}

// collects why.
// well, and collects why.
func ill(run *bench.Run) (cells int, reasons []string) {
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
