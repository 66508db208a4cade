package baseline

import (
	"fmt"
	"time"
)

// maxDrift is how much worse than its anchor a median may be, in percent,
// before it is worth a look. It is what the gate allows in one step by default.
const maxDrift = 10.0

// crept returns the change of a gated metric since it was anchored, negative
// for the worse, and whether it is far for the worse.
func (e *Entry) crept(m *Metric) (change float64, far bool) {
	if e.Anchor == nil || m.Exact || m.Informational || m.Median <= 0 {
		return 0, false
	}
	if instead := e.Metric(m.FallbackFor); instead != nil && instead.Median > 0 {
		return 0, false
	}
	first, known := e.Anchor.Metrics[m.Name]
	if !known || first <= 0 {
		return 0, false
	}
	change, _ = m.Better.Gain(first, m.Median)
	return change, change < -maxDrift
}

// drift sums up, in one line, what Lint says entry by entry; "" if nothing has
// crept far.
func (f *File) drift() string {
	n, worst, line := 0, 0.0, ""
	for i := range f.Entries {
		e := &f.Entries[i]
		for k := range e.Metrics {
			change, far := e.crept(&e.Metrics[k])
			if !far {
				continue
			}
			n++
			if change < worst {
				worst = change
				line = fmt.Sprintf("%s of %s, %+.1f %% since %s", quote(e.Metrics[k].Name), quote(e.CaseID), change, day(e.Anchor.CapturedAt))
			}
		}
	}
	switch n {
	case 0:
		return ""
	case 1:
		return "a baseline has crept away from its anchor: " + line + ": see accelgate baseline lint"
	}
	return fmt.Sprintf("%d baselines have crept more than %v %% away from their anchors, the furthest %s: see accelgate baseline lint", n, maxDrift, line)
}

func day(t time.Time) string {
	if t.IsZero() {
		return "an unknown day"
	}
	return t.Format(time.DateOnly)
}
