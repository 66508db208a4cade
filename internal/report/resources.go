package report

import (
	"math"
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
		line = append(line, code(m.Name), plain(bound+digits(stats.Median(s.Values))+" "+m.Unit))
	}
	return line
}

// digits writes three digits, and all of a number that has more before its point.
func digits(x float64) string {
	if math.Abs(x) >= 1000 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}
