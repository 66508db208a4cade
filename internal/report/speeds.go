package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
)

// speeds sum up the changes of the metrics of a host that are speeds, each in its own sign.
// Nothing is decided on them.
type speeds struct {
	of        []speed // in the order in which they were compared
	repeated  bool    // some side of some verdict has more than one value
	noiseUpTo float64 // percent
}

// speed is the change of one metric over its cells.
type speed struct {
	metric string
	better bench.Direction
	n      int
	logs   float64 // sum of the logarithms of new/old
	worst  float64 // percent, negative for the worse
}

// add takes a verdict on a speed. A metric is no speed if it is neither a time nor a rate,
// as memory is; a metric without a description may be one.
func (s *speeds) add(m *bench.Metric, v *gate.Verdict) {
	if m != nil {
		if q := m.Quantity(); q != bench.Rate && q != bench.Time && q != 0 || m.IsResource() {
			return
		}
	}
	if v.Evidence.OldN > 1 || v.Evidence.NewN > 1 {
		s.repeated = true
		s.noiseUpTo = max(s.noiseUpTo, finite(v.Evidence.Noise))
	}
	better := direction(m, v)
	log := math.Log1p(better.Change(finite(v.Delta)) / 100)
	if math.IsNaN(log) || v.Metric == "" || v.Old == 0 { // from 0 there is no change in percent
		return
	}
	i := slices.IndexFunc(s.of, func(one speed) bool { return one.metric == v.Metric })
	if i < 0 {
		i = len(s.of)
		s.of = append(s.of, speed{metric: v.Metric, better: better, worst: math.Inf(1)})
	}
	of := &s.of[i]
	of.n++
	of.logs += log
	of.worst = min(of.worst, v.Delta)
}

// mean is the geometric mean of the changes in percent, in the metric's own sign.
func (s *speed) mean() float64 { return math.Expm1(s.logs/float64(s.n)) * 100 }

// words writes "decode_tps -0.3 % (worse), worst -3.4 % (worse)" for the metric of which a cell
// lost most.
func (s *speeds) words(limit float64) inline {
	const maximum = 1
	order := slices.Clone(s.of)
	slices.SortStableFunc(order, func(a, b speed) int { return cmp.Compare(a.worst, b.worst) })
	var line inline
	for i := range order[:min(maximum, len(order))] {
		of := &order[i]
		if i > 0 {
			line = append(line, plain("; "))
		}
		line = append(line, code(of.metric), plain(" "+inWords(of.mean(), limit, of.better)))
		if of.n > 1 {
			line = append(line, plain(", worst "+inWords(of.better.Change(of.worst), limit, of.better)))
		}
	}
	if more := len(order) - maximum; more > 0 {
		line = append(line, plain(fmt.Sprintf("; %d more", more)))
	}
	return line
}

// noise is "≤ 0.7 %".
func (s *speeds) noise() string {
	switch {
	case len(s.of) == 0:
		return "–"
	case s.repeated:
		return strings.TrimSpace("≤ " + rough(s.noiseUpTo))
	}
	return "unknown (n=1)"
}
