package gate

import (
	"fmt"
	"math"
	"slices"

	"github.com/accelgate/accelgate/internal/stats"
)

// SharedLoss is a loss that the cells of a suite share in one metric: one finding in
// place of one for each cell. No verdict's finding depends on it.
type SharedLoss struct {
	Suite  string `json:"suite"`
	Metric string `json:"metric"`
	// Cells counts the cells that moved alike, of all Of that have the metric judged.
	Cells int `json:"cells"`
	Of    int `json:"of"`
	// Blocking counts those of their verdicts that block.
	Blocking int `json:"blocking"`
	// Delta is the median change and Interval spans those of the cells, as in [Verdict].
	Delta    float64    `json:"delta"`
	Interval [2]float64 `json:"interval"`
	// Cell stands for all of them in a report: it is the one that moved most among
	// those of the highest level.
	Cell string `json:"cell"`
	// Witness says what the calibration workload or the pairs say of the host, and
	// Reason says so for people.
	Witness Witness `json:"witness"`
	Reason  string  `json:"reason"`
}

// Witness says whether the host changed between two sides.
type Witness string

// The witnesses.
const (
	HostChanged   Witness = "host_changed"
	HostUnchanged Witness = "host_unchanged"
	HostUnknown   Witness = "unknown"
)

const (
	minAlike   = 4   // cells that share a loss
	maxAlike   = 2.0 // times the median loss, and its inverse: what is alike
	shareAlike = 0.9 // of the cells
)

// loss is the change of one cell in a metric.
type loss struct {
	*Verdict
	suite string
	at    int     // place among the verdicts
	size  float64 // relative slow-down, of the logarithm
}

// sharedLosses finds the losses that cells share. It returns the verdicts with their places
// in the list.
func sharedLosses(in *inputs, verdicts []Verdict) ([]Verdict, []SharedLoss) {
	if !in.tool.Context {
		return verdicts, nil
	}
	var shares []SharedLoss
	marked := verdicts
	for _, group := range lossesOf(in, verdicts) {
		a, members := shared(in, group)
		if a == nil {
			continue
		}
		if shares == nil {
			marked = slices.Clone(verdicts)
		}
		shares = append(shares, *a)
		for _, l := range members {
			marked[l.at].SharedLoss = len(shares)
		}
	}
	return marked, shares
}

// lossesOf groups the changes of cells by suite and metric, in the order of the verdicts.
func lossesOf(in *inputs, verdicts []Verdict) (groups [][]loss) {
	type key struct{ suite, metric string }
	places := map[key]int{}
	for i := range verdicts {
		v := &verdicts[i]
		if !v.comparesSpeed() {
			continue
		}
		k := key{metric: v.Metric}
		if at, ok := in.ids[v.Cell]; ok {
			k.suite = in.cells[at].got.Cell.Suite
		}
		g, ok := places[k]
		if !ok {
			g = len(groups)
			places[k], groups = g, append(groups, nil)
		}
		of := groups[g]
		if len(of) > 0 && of[len(of)-1].Cell == v.Cell { // those of one cell are adjacent
			continue
		}
		groups[g] = append(of, loss{v, k.suite, i, slowdown(in, v)})
	}
	return groups
}

// comparesSpeed reports whether the verdict compares a speed of this run with one
// before it, and not with an older reference.
func (v *Verdict) comparesSpeed() bool {
	return v.Cell != "" && v.Metric != "" && v.Evidence.Method.powered() && v.Finding != Drifted && v.Finding != PartsDiffer &&
		v.Reference != AnchorReference
}

// slowdown is how much slower a verdict says that the cell is.
func slowdown(in *inputs, v *Verdict) float64 {
	m := in.metric(v.Metric)
	if m == nil || !(v.Delta < 0) {
		return 0 // how much it gained is of no interest
	}
	return math.Log1p(m.Better.Slowdown(-v.Delta))
}

// shared sums up the losses of cells that moved alike; nil if they did not. It returns
// those that have a finding of their own.
func shared(in *inputs, all []loss) (*SharedLoss, []loss) {
	sizes := make([]float64, len(all))
	for i, l := range all {
		sizes[i] = l.size
	}
	middle := stats.Median(sizes)
	moved := slices.DeleteFunc(slices.Clone(all), func(l loss) bool { return !(l.size >= middle/maxAlike && l.size <= middle*maxAlike) })
	findings := slices.DeleteFunc(slices.Clone(moved), func(l loss) bool { return !l.found() })
	if !(middle > 0) || len(moved) < minAlike || float64(len(moved)) < shareAlike*float64(len(all)) || len(findings) < 2 {
		return nil, nil
	}
	a := &SharedLoss{Suite: all[0].suite, Metric: all[0].Metric, Cells: len(moved), Of: len(all)}
	deltas := make([]float64, len(moved))
	for i, l := range moved {
		deltas[i] = l.Delta
	}
	a.Delta, a.Interval = stats.Median(deltas), [2]float64{slices.Min(deltas), slices.Max(deltas)}
	a.Cell = representative(findings)
	for _, l := range findings {
		a.Blocking += stats.Indicator(l.Blocks)
	}
	a.Witness, a.Reason = in.host.witness(moved, a.Delta)
	return a, findings
}

// found reports whether the loss has a row of a report.
func (l loss) found() bool {
	return l.Finding == Regressed || l.Finding == Unchanged && l.Undecided() && l.Delta < 0
}

// representative returns the cell with the largest loss among those that are the worst by
// [Worse].
func representative(findings []loss) string {
	worst := slices.MinFunc(findings, func(a, b loss) int {
		if by := Worse(a.Verdict, b.Verdict); by != 0 {
			return by
		}
		return int(math.Copysign(1, a.Delta-b.Delta))
	})
	return worst.Cell
}

// witness returns what is known of the host. Base and head of pairs were measured
// alternately, so a change of the host moves both.
func (s hostShift) witness(moved []loss, delta float64) (Witness, string) {
	paired := !slices.ContainsFunc(moved, func(l loss) bool { return !l.Evidence.InPairs })
	switch {
	case paired:
		return HostUnchanged, "the code did it, and not the host: base and head were measured alternately"
	case s.percent > 0 && s.explains(&Verdict{Delta: delta}) == "":
		return HostChanged, fmt.Sprintf("the calibration workload moved by %.1f %% %s: the host changed, and that is not all of it",
			s.percent, s.since)
	case s.percent > 0:
		return HostChanged, fmt.Sprintf("the calibration workload moved by %.1f %% %s: the host changed, which may be all of it", s.percent,
			s.since)
	case s.known && math.Abs(s.change) > s.limit:
		return HostChanged, fmt.Sprintf(
			"the calibration workload is faster than at the baseline (%+.1f %%): the host changed, and did not cause the loss", s.change)
	case s.known:
		return HostUnchanged, fmt.Sprintf(
			"the calibration workload did not move since the baseline (%+.1f %%, limit %.1f %%): the host did not change, so the code or its environment did",
			s.change, s.limit)
	}
	return HostUnknown, "without a calibration workload on both sides it is open whether the host changed: measure in pairs with --ab"
}
