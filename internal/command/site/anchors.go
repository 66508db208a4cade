package site

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/command/history"
	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/judge"
)

// creep is how far the newest runs of a metric are from its anchor.
type creep struct {
	judge.Changed
	Low, High          float64 // of the interval of 95 %
	Cell, Metric, Page string
	Since              time.Time // of the anchor
	Verdict            detect.Verdict
	slower             float64
}

// slow is drift that [detect.Drift] finds without an anchor.
type slow struct {
	judge.Changed
	Cell, Metric, Page, Since string
}

// creeps lists losses since the anchors, the largest first. [detect.Anchored] compares the newest five runs with the anchor.
func (h *host) creeps() (all []creep) {
	for _, c := range h.Cells {
		for i, s := range c.Series {
			level, at := c.anchor(s.Metric)
			if level == 0 {
				continue
			}
			e := detect.Anchored([]float64{level}, h.valuesSince(s, at), detect.Options{HigherIsBetter: s.Better != bench.Lower})
			if e.Verdict == detect.Untested || !(e.Estimate > 0) {
				continue
			}
			interval := judge.IntervalOf(&e, s.Better)
			all = append(all, creep{
				judge.ChangeOf(e.Estimate, s.Better),
				interval[0],
				interval[1],
				c.ID,
				s.Metric,
				h.cellPage(c) + "#" + metricPlace(i),
				at,
				e.Verdict,
				e.Estimate,
			})
		}
	}
	slices.SortStableFunc(all, func(a, b creep) int { return cmp.Compare(b.slower, a.slower) })
	return all
}

// valuesSince are the values of the runs from a time on; all of them where it is unknown.
func (h *host) valuesSince(s *history.Series, at time.Time) (values []float64) {
	for i, v := range s.Values {
		if !math.IsNaN(v) && !h.Runs[i].At.Before(at) {
			values = append(values, v)
		}
	}
	return values
}

// slow lists slow drift, in the order of the cells.
func (h *host) slow() (all []slow) {
	for _, c := range h.Cells {
		for i, s := range c.Series {
			if s.Drift != nil {
				all = append(all, slow{s.Drift.Changed, c.ID, s.Metric, h.cellPage(c) + "#" + metricPlace(i), s.Drift.Since})
			}
		}
	}
	return all
}
