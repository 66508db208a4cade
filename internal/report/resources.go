package report

import (
	"strconv"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/stats"
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
		if s.Doubt != "" {
			bound = " at most "
		}
		line = append(line, code(m.Name), plain(bound+strconv.FormatFloat(stats.Median(s.Values), 'g', 3, 64)+" "+m.Unit))
	}
	return line
}
