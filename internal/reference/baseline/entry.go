package baseline

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/stats"
)

// newEntry makes an entry of a result. It leaves metrics out that can be no reference.
func (u *update) newEntry(id string, r *bench.Result, described map[string]*bench.Metric) (Entry, error) {
	e := Entry{
		CaseID:     id,
		OK:         true,
		Operators:  operators(r.Breakdowns),
		Conditions: r.Conditions,
		Artifacts:  r.Artifacts,
		Suite:      r.Cell.Suite,
	}
	if r.Output != "" {
		e.CorrectnessOK = new(true)
	}
	for i := range r.Samples {
		s := &r.Samples[i]
		if s.Caveat != "" {
			continue
		}
		m, known := described[s.Metric]
		summary := summarize(s, r.Judged(s), known && m.Exact)
		switch {
		case summary.N == 0:
			continue
		case !known || s.Metric == "":
			return e, fmt.Errorf("cell %s: the run does not state what metric %s is: measure again with accelgate baseline update",
				quote(id), quote(s.Metric))
		case e.Metric(s.Metric) != nil:
			return e, fmt.Errorf("cell %s: metric %s is there twice: measure again with accelgate baseline update", quote(id),
				quote(s.Metric))
		case !usable(summary):
			return e, fmt.Errorf("cell %s: %s is %v, which cannot be a reference: correct what the cell prints and measure again",
				quote(id), quote(s.Metric), summary.Median)
		case u.run.NoReference(s.Metric, summary.Median) != "":
			continue
		}
		e.Metrics = append(e.Metrics, Metric{Metric: m, Summary: summary})
	}
	slices.SortFunc(e.Metrics, byName)
	return e, e.mirror()
}

// mirror repeats TensorSharp's metrics where TensorSharp looks for them.
func (e *Entry) mirror() error {
	for i, value := range e.classicValues() {
		m := e.Metric(classic[i].Name)
		if m == nil {
			continue
		}
		if m.Median < 0 {
			return fmt.Errorf("cell %s: %s is negative: correct what the cell prints and measure again", quote(e.CaseID), quote(m.Name))
		}
		*value = new(m.Median)
	}
	return nil
}

func summarize(s *bench.Sample, values []float64, exact bool) bench.Summary {
	var summary bench.Summary
	switch {
	case len(values) > 0:
		summary = bench.Summary{Median: stats.Median(values), MAD: stats.MAD(values), N: len(values)}
	case s.Summary != nil:
		summary = bench.Summary{Median: s.Summary.Median, MAD: s.Summary.MAD, N: s.Summary.N} // only Calibrate sets the rest
	}
	if stderr, ok := s.StdErr(); ok {
		summary.StdErr = short(stderr)
	}
	if rounded := short(summary.Median); !exact && math.Abs(rounded-summary.Median) <= summary.MAD {
		summary.Median = rounded // by less than the values differ
	}
	if !exact {
		summary.MAD = short(summary.MAD)
	}
	return summary
}

func usable(s bench.Summary) bool {
	return math.Abs(s.Median) <= maxNumber && s.MAD >= 0 && s.MAD <= maxNumber && s.N > 0 && s.N <= maxCount // all false for NaN
}

// digits is how many significant digits a baseline keeps of a number that differs from process to process.
const digits = 7

// short rounds to [digits] or to a whole number, whichever is finer.
func short(v float64) float64 {
	if math.Abs(v) >= 1e6 {
		return math.Round(v)
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	if err != nil {
		return v
	}
	return rounded
}

// maxOperators is how many operators an entry keeps, the costliest first.
const maxOperators = 20

// operators takes the first breakdown, if it is of time.
func operators(breakdowns []bench.Breakdown) []Operator {
	if len(breakdowns) == 0 {
		return nil
	}
	scale, isTime := map[string]float64{"ns": 1e-6, "us": 1e-3, "µs": 1e-3, "ms": 1, "s": 1e3}[breakdowns[0].Unit]
	if !isTime {
		return nil
	}
	var list []Operator
	for _, part := range breakdowns[0].Entries {
		total := short(part.Total * scale)
		if total >= 0 && total <= maxNumber && part.Calls >= 0 && part.Calls <= maxCalls { // false for NaN
			list = append(list, Operator{Name: part.Name, TotalMS: total, Calls: part.Calls})
		}
	}
	slices.SortFunc(list, func(a, b Operator) int {
		switch {
		case a.TotalMS > b.TotalMS:
			return -1
		case a.TotalMS < b.TotalMS:
			return 1
		}
		return strings.Compare(a.Name, b.Name)
	})
	return slices.Clip(list[:min(len(list), maxOperators)])
}
