package detect

import (
	"github.com/accelgate/accelgate/internal/stats"
)

// CUSUM describes where a history left its first level for the worse, by steps too
// small for any single comparison.
type CUSUM struct {
	// Alarm is the index of the value at which the sum went over its limit, -1
	// if it never did; Since is where the sum began to rise.
	Alarm int `json:"alarm"`
	Since int `json:"since"`
	// Peak is the largest sum, in units of the noise; the limit is 8.
	Peak float64 `json:"peak"`
	// Change is how far the last 10 values are from the first level, relative,
	// positive for the worse.
	Change float64 `json:"change"`
}

// Page's sum with the reference value and the limit of the references for slow
// drift of one noise a run.
const (
	cusumSlack = 0.5
	cusumLimit = 8
	cusumClip  = 3 // one outlier is no drift: it takes at least 4 runs
	minCusum   = 12
)

// Drift runs a one-sided CUSUM (Page 1954) over the accepted runs of one cell since
// its level was last accepted, the oldest first. The level is the median of the
// first 10 to 30, a third of them. ok is false with fewer than 12 usable values.
func Drift(values []float64, higherIsBetter bool) (c CUSUM, ok bool) {
	y, at := make([]float64, 0, len(values)), make([]int, 0, len(values))
	for i, v := range values {
		if l, usable := level(v, higherIsBetter); usable {
			y, at = append(y, l), append(at, i)
		}
	}
	c.Alarm = -1
	if len(y) < minCusum {
		return c, false
	}
	first := y[:max(longBase, min(len(y)/3, ownSpan))]
	start, noise := stats.Median(first), max(ownFloor, stats.StepNoise(y))
	var sum float64
	since := 0
	for i := len(first); i < len(y); i++ {
		z := min((y[i]-start)/noise, cusumClip)
		if sum = max(0, sum+z-cusumSlack); sum == 0 {
			since = i + 1
		}
		c.Peak = max(c.Peak, sum)
		if sum > cusumLimit && c.Alarm < 0 {
			c.Alarm, c.Since = at[i], at[max(since, len(first))]
		}
	}
	c.Change = relative(center(y, longBase) - start)
	return c, true
}

// Anchored judges the newest runs of a cell by a level that was pinned long ago.
// anchor are the pinned samples, often a single median; history are the runs
// since, the newest last, of which the last 5 are the head and all of them say
// how noisy the cell is unless Options.Own does. Many changes that are each
// too small for an alarm add up in it. Nothing but a change of the code may lie
// between: after a change of driver or host, pin anew.
func Anchored(anchor, history []float64, o Options) Evidence {
	o.Mode = Anchor
	usable, _ := levels(history, false)
	if own, ok := ownNoise(usable); ok && o.Own <= 0 {
		o.Own = own
	}
	return Judge(anchor, history[len(history)-min(len(history), shortBase):], o)
}
