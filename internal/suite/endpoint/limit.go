package endpoint

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite/endpoint/latency"
)

// okRate is the limit that a search always has.
const okRate = "ok_rate"

// limit is one condition of a search.
type limit struct {
	metric string
	better bench.Direction
	bound  float64
}

// holds reports whether a value keeps the limit; NaN does not.
func (l limit) holds(v float64) bool {
	if l.better == bench.Higher {
		return v >= l.bound
	}
	return v <= l.bound
}

func (l limit) String() string {
	sign := "<="
	if l.better == bench.Higher {
		sign = ">="
	}
	return l.metric + sign + strconv.FormatFloat(l.bound, 'g', -1, 64)
}

// limits reads the conditions, sorted by metric.
func (b *body) limits() ([]limit, error) {
	metrics := ofRequests()
	list := []limit{}
	for _, name := range slices.Sorted(maps.Keys(b.Search.SLO)) {
		i := slices.IndexFunc(metrics, func(m bench.Metric) bool { return m.Name == name })
		if i < 0 || !limitable(metrics[i]) {
			return nil, fmt.Errorf("%.80q is not a metric to limit: write a latency such as ttft_p95_ms, or ok_rate", name)
		}
		bound, err := bound(b.Search.SLO[name], metrics[i].Unit)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		list = append(list, limit{name, metrics[i].Better, bound})
	}
	if _, given := b.Search.SLO[okRate]; !given {
		list = append(list, limit{okRate, bench.Higher, b.MinOKRate})
	}
	return list, nil
}

// limitable metrics are latencies and shares of requests: throughput grows with
// the load.
func limitable(m bench.Metric) bool {
	return m.Unit == "ms" && !strings.HasPrefix(m.Name, "schedule_delay") || m.Name == okRate || m.Name == "compliance_rate"
}

// bound reads "500", "99%" or "0.99".
func bound(text, unit string) (float64, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	share := unit == ""
	if percent {
		x /= 100
	}
	switch {
	case err != nil || !(x > 0) || !bench.Finite(x), percent && !share:
		return 0, fmt.Errorf("%.40q is not a limit: write a number of milliseconds, or a share such as 99%%", text)
	case share && x > 1:
		return 0, fmt.Errorf("%.40q is more than all requests: write a share such as 99%%", text)
	}
	return x, nil
}

// figures are the metrics of one probe. Requests that were cut count as not
// answered.
func figures(out latency.Output) map[string]float64 {
	values := map[string]float64{}
	for _, s := range out.Samples {
		values[s.Metric] = s.Values[0]
	}
	if all := values["n_total"] + values["n_cancelled"]; all > 0 {
		values[okRate] = values["n_ok"] / all
	}
	return values
}
