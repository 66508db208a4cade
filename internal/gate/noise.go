package gate

import (
	"math"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/stats"
)

// Noise is what pairs of cells that were measured under the same conditions
// differ by: a threshold below it judges the weather.
type Noise struct {
	Pairs   int           `json:"pairs"` // in which both cells passed
	Metrics []MetricNoise `json:"metrics"`
}

// MetricNoise is the noise of one gated metric: median and largest of the
// differences, without sign, in percent of the first cell's median.
type MetricNoise struct {
	Metric  string  `json:"metric"`
	Pairs   int     `json:"pairs"` // that have the metric
	Median  float64 `json:"median"`
	Largest float64 `json:"largest"`
}

// Beyond reports whether some difference is beyond the limit, in percent.
func (n *Noise) Beyond(limit float64) bool {
	return slices.ContainsFunc(n.Metrics, func(m MetricNoise) bool { return m.Largest > limit })
}

// loss leaves out scores that are tested, which do not move with the host.
func (v *Verdict) loss() bool { return v.Evidence.Method != MethodTest && v.Finding.loss() }

// noiseOf is nil where the run has no pair whose cells both passed.
func noiseOf(in *inputs) *Noise {
	pairs := aaPairs(in.run)
	if len(pairs) == 0 {
		return nil
	}
	n := &Noise{Pairs: len(pairs)}
	for i := range in.metrics {
		m := &in.metrics[i]
		if m.Exact || !in.policy.gated(m) {
			continue
		}
		if differences := differences(m, pairs); len(differences) > 0 {
			n.Metrics = append(n.Metrics, MetricNoise{Metric: m.Name, Pairs: len(differences),
				Median: stats.Median(differences), Largest: largest(differences)})
		}
	}
	return n
}

// pair is two results measured under the same conditions.
type pair struct{ first, second *bench.Result }

// aaPairs finds the A/A partners, each pair once, although both may name the other.
// Those that ran on different devices are none.
func aaPairs(run *bench.Run) []pair {
	byID := map[string]*bench.Result{}
	for i := range run.Results {
		if partner := run.Results[i].AAPartner; partner != "" {
			byID[partner] = nil
		}
	}
	if len(byID) == 0 {
		return nil // nearly always: ids are costly to build
	}
	for i := range run.Results {
		r := &run.Results[i]
		if id := r.Cell.ID(); r.Outcome == bench.Passed {
			if _, named := byID[id]; named {
				byID[id] = r
			}
		}
	}
	var pairs []pair
	for i := range run.Results {
		r := &run.Results[i]
		partner := byID[r.AAPartner]
		if r.AAPartner == "" || partner == nil || r.Outcome != bench.Passed || r.Device != partner.Device {
			continue
		}
		if id := r.Cell.ID(); id == r.AAPartner || partner.AAPartner == id && id < r.AAPartner {
			continue
		}
		pairs = append(pairs, pair{partner, r})
	}
	return pairs
}

func differences(m *described, pairs []pair) []float64 {
	var percents []float64
	for _, p := range pairs {
		a, b := p.first.Sample(m.Name), p.second.Sample(m.Name)
		if a == nil || b == nil || m.replaced(p.first) || m.replaced(p.second) {
			continue
		}
		if gain, ok := m.Better.Gain(a.Median(), b.Median()); ok && bench.Finite(gain) {
			percents = append(percents, math.Abs(gain))
		}
	}
	return percents
}

func largest(values []float64) float64 {
	maximum := 0.0
	for _, v := range values {
		maximum = max(maximum, v)
	}
	return maximum
}
