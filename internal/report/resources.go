package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/text"
)

// used lists the medians of the resources of a cell that no limit names: "cpu_s 0.42 s,
// peak_rss_mib at most 41 MiB"; nil where it is not known.
func used(res *bench.Result) (line inline) {
	if res == nil {
		return nil
	}
	for i := range res.Resources {
		s := &res.Resources[i]
		m := bench.Resource(s.Metric)
		if m == nil || len(s.Values) == 0 {
			continue
		}
		if line != nil {
			line = append(line, plain(", "))
		}
		bound := " "
		if s.Caveat != "" {
			bound = " at most "
		}
		line = append(line, code(m.Name), plain(strings.TrimSuffix(bound+digits(stats.Median(s.Values))+" "+m.Unit, " ")))
	}
	return line
}

// instructions is "instructions +12.1 %" beside a loss of speed in pairs, which points at the code,
// or "instructions unchanged", which points at the host; "" where they were not counted.
func (h *host) instructions(v *gate.Verdict) string {
	res := h.results[v.Cell]
	if res == nil || v.Finding != gate.Regressed || !ofSpeed(v) || v.Metric == bench.Instructions {
		return ""
	}
	used := res.Used(bench.Instructions)
	if used == nil || len(used.Base) == 0 || len(used.Values) == 0 {
		return ""
	}
	change := 100 * (stats.Median(used.Values)/stats.Median(used.Base) - 1)
	switch {
	case !bench.Finite(change):
		return ""
	case math.Abs(change) < 0.5:
		return "instructions unchanged"
	}
	return "instructions " + percent(change, 1)
}

// processorTime is "+13.2 % (10.1 to 15.4) by 30 pairs, p 0.004; it waited for 110 % of it", with
// why it does not count where it does not.
func processorTime(t *gate.ProcessorTime) (line string) {
	if t == nil {
		return ""
	}
	if t.Pairs > 0 {
		line = fmt.Sprintf("%+.1f %% (%+.1f to %+.1f) by %s, p %.2g; it waited for %.0f %% of it; ",
			100*finite(t.Change), 100*finite(t.Interval[0]), 100*finite(t.Interval[1]),
			text.Plural(t.Pairs, "pair"), finite(t.P), 100*finite(t.Waited))
	}
	if t.Unused != "" {
		return line + "no evidence: " + t.Unused
	}
	return line + "it decides"
}

// digits writes three digits, and all of a number that has more before its point.
func digits(x float64) string {
	if math.Abs(x) >= 1000 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}
