package bench

import (
	"math"
	"time"

	"github.com/accelgate/accelgate/internal/stats"
)

// Direction is the way in which a metric improves.
type Direction string

// The two directions. The zero value means Higher, as in TensorSharp's
// baselines, which hold throughputs only.
const (
	Higher Direction = "higher"
	Lower  Direction = "lower"
)

// Gain returns the relative change from old to new in percent of old's size,
// signed so that a positive gain is always an improvement. The change from
// zero is undefined and reported as ok == false.
func (d Direction) Gain(old, new float64) (pct float64, ok bool) {
	if old == 0 {
		return 0, false
	}
	pct = (new - old) / math.Abs(old) * 100
	if d == Lower {
		pct = -pct
	}
	return pct, true
}

// Change turns a gain into the change new/old - 1 in the metric's own sign, which
// is what people and programs read, and back. Of a latency the two differ.
func (d Direction) Change(gain float64) float64 {
	if d == Lower {
		return 0 - gain // without minus zero
	}
	return gain
}

// Slowdown turns a loss in percent of the metric into the relative slow-down of the same work: 10 % of a rate are 11 % more
// time.
func (d Direction) Slowdown(loss float64) float64 {
	if d == Lower {
		return loss / 100
	}
	return 1/(1-min(loss, 99)/100) - 1
}

// GainOf undoes Slowdown, negative for the worse.
func (d Direction) GainOf(slowdown float64) float64 {
	if d == Lower {
		return -100 * slowdown
	}
	return 100 * (1/(1+max(slowdown, -0.999999)) - 1)
}

// Word returns what a change in the metric's own sign is: "better", "worse", or ""
// for no change.
func (d Direction) Word(change float64) string {
	switch gain := d.Change(change); {
	case gain > 0:
		return "better"
	case gain < 0:
		return "worse"
	}
	return ""
}

// Metric describes one measured quantity. It travels with the numbers, so a
// reader needs no table of metric names.
type Metric struct {
	Name   string    `json:"name"`
	Unit   string    `json:"unit,omitempty"`
	Better Direction `json:"better"`
	// Exact metrics must equal the reference; no tolerance applies.
	Exact bool `json:"exact,omitempty"`
	// Informational metrics are shown and never gated.
	Informational bool `json:"informational,omitempty"`
	// Counted marks a metric that counts events, such as allocations. Although it is
	// informational, a change of it is gated wherever the values of each side differ by at most 1.
	Counted bool `json:"counted,omitempty"`
	// Optional allows cells not to report the metric.
	Optional bool `json:"optional,omitempty"`
	// Kind is what kind of number the metric is; 0 where that follows from its unit, see
	// [Metric.Quantity].
	Kind Quantity `json:"kind,omitempty"`
	// MinCount is the least count, by CountedBy, that a value must rest on to be
	// gated: a 99th percentile of 40 requests is their maximum. Below it, on either
	// side of a comparison, the metric is informational.
	MinCount int32 `json:"min_count,omitempty"`
	// CountedBy names the metric that counts what a value rests on, such as
	// requests; empty together with MinCount.
	CountedBy string `json:"counted_by,omitempty"`
	// Resolution is the step in which the program prints the metric, in its
	// unit: 0.1 where it prints one decimal. Zero means that rounding does not
	// matter.
	Resolution float64 `json:"resolution,omitempty"`
	// FallbackFor names a gated metric, without a fallback of its own, that is
	// gated in place of this one wherever either side of a comparison has it
	// above 0. TensorSharp's rule "decode if either side has decode, else
	// prefill" is prefill_tps with FallbackFor decode_tps.
	FallbackFor string `json:"fallback_for,omitempty"`
	// Explains is from which change for the worse on, in the metric's unit, an informational
	// metric may explain a loss of its cell, such as a clock that was lower; 0 for never.
	Explains float64 `json:"explains,omitempty"`
	// Definition describes how the metric is computed from what was observed, where
	// its name does not: "t_first - t_send" of requests that were answered.
	Definition string `json:"definition,omitempty"`
	// ConfirmedBy names another gated metric of the cell that must be worse as
	// well for this one to be regressed: a ratio to something measured
	// alternately shows whether the host or the code is slower.
	ConfirmedBy string `json:"confirmed_by,omitempty"`
}

// Shown returns the names of the informational ones of metrics.
func Shown(metrics []Metric) (names []string) {
	for _, m := range metrics {
		if m.Informational {
			names = append(names, m.Name)
		}
	}
	return names
}

// Gates reports whether the metric is gated wherever it stands, so that
// another one may be its fallback.
func (m Metric) Gates() bool { return !m.Informational && m.FallbackFor == "" && m.CountedBy == "" }

// Sample holds every measured value of one metric in one cell, in the order
// of measurement. One value stands for one process, never for a repetition
// inside a process: those are not independent.
//
// Exactly one of Values and Summary is set.
type Sample struct {
	Metric string    `json:"metric"`
	Values []float64 `json:"values,omitempty"`
	// Summary stands in for Values where only the summary was kept, as in a
	// baseline file.
	Summary *Summary `json:"summary,omitempty"`
	// Estimates has for each of Values what it was estimated from; empty where
	// a value is no estimate.
	Estimates []Estimate `json:"estimates,omitempty"`
	// Caveat is the reason why the values are not fit to be judged, though the values of the
	// result's other metrics may be; empty if they are.
	Caveat string `json:"caveat,omitempty"`
	// Base is what the old code did, measured alternately with the new, one value for each of
	// the last of Values: they are pairs. Empty where the base was not measured.
	Base []float64 `json:"base,omitempty"`
	// History, of a reference, holds earlier runs of the cell on this host, the
	// oldest first, each with its values: of all samples, entries at the same
	// distance from the end are of one run, and one is empty where that run lacks
	// the cell. Anchor is the median that was pinned (see [Result.Anchored]), 0
	// where it is unknown. Neither travels in a run.
	History [][]float64 `json:"-"`
	Anchor  float64     `json:"-"`
	// Unhealthy marks the entries of History that were measured on an unhealthy
	// host; nil if there are no such entries.
	Unhealthy []bool `json:"-"`
}

// Median returns the median of the values, or the one that a summary keeps; NaN where there are no values.
func (s *Sample) Median() float64 {
	if s.Summary != nil {
		return s.Summary.Median
	}
	return stats.Median(s.Values)
}

// Pairs returns the values of the base, and those of the head that were measured alternately with them.
func (s *Sample) Pairs() (base, head []float64) {
	return s.Base, s.Values[max(0, len(s.Values)-len(s.Base)):]
}

// minHealthy is how many healthy runs give the level of a cell without
// the unhealthy ones.
const minHealthy = 3

// Level returns the entries of History that give the level: the runs on a
// healthy host, with the others empty. With fewer than [minHealthy] of them, it
// returns all. What it returns must not be modified.
func (s *Sample) Level() [][]float64 {
	if s.Unhealthy == nil {
		return s.History
	}
	level, healthy := make([][]float64, len(s.History)), 0
	for i, values := range s.History {
		if !s.Unhealthy[i] && len(values) > 0 {
			level[i] = values
			healthy++
		}
	}
	if healthy < minHealthy {
		return s.History
	}
	return level
}

// LevelMedians returns the medians of the runs that give the level; nil for a nil sample.
func (s *Sample) LevelMedians() (medians []float64) {
	if s == nil {
		return nil
	}
	for _, values := range s.Level() {
		if len(values) > 0 {
			medians = append(medians, stats.Median(values))
		}
	}
	return medians
}

// Point is when, and of which commit, something was recorded; a field is zero
// where that is unknown.
type Point struct {
	At       time.Time
	Revision string
}

// Estimate is what one value of a sample rests on inside its process: N
// observations, such as requests, and the interval of 95 % that Method
// computes. Low and High are equal to the value where there is no interval.
type Estimate struct {
	N      int     `json:"n"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Method string  `json:"method,omitempty"`
}

// Summary is what a baseline keeps of a sample: the median, the median
// absolute deviation (unscaled) and the number of values. Noise and MDE are what
// measuring the same code again and again has shown, as fractions; 0 where
// not measured.
type Summary struct {
	Median float64 `json:"median"`
	MAD    float64 `json:"mad"`
	N      int     `json:"n"`
	// Noise is the standard deviation of one value, of its logarithm: 0.01 is 1 %.
	Noise float64 `json:"noise,omitempty"`
	// MDE is the smallest slow-down that a single value, judged by ten earlier
	// runs with this noise, would have shown in 4 of 5 cases.
	MDE float64 `json:"mde,omitempty"`
	// StdErr is the standard error that the program reported, see [Sample.StdErr]; 0 where
	// it did not.
	StdErr float64 `json:"stderr,omitempty"`
}
