package chart

import (
	"fmt"

	"github.com/accelgate/accelgate/internal/text"
)

// Trend is a number over runs, the oldest first.
type Trend struct {
	Name string // of the metric
	Unit string
	// Values has the value of each run; one that is not finite is a gap. Doubtful marks runs
	// of an unhealthy host; it is nil or as long as Values.
	Values   []float64
	Doubtful []bool
	// Changes are the places of the first runs on a new level.
	Changes []int
	// Anchor is a pinned level; 0 for no anchor.
	Anchor float64
}

// SVG draws the trend: a line through the runs, the newest with a mark of its own, a
// vertical line at each change of level, and the anchor. It is "" below two values.
func (t Trend) SVG() string {
	const height = 120.0
	anchor := []float64{}
	if t.Anchor != 0 {
		anchor = append(anchor, t.Anchor)
	}
	s, ok := scaleOf(height-bottom, 8, t.Values, anchor)
	if !ok || len(t.Values) < 2 {
		return ""
	}
	x := func(i int) float64 { return left + (width-right-left)*float64(i)/float64(len(t.Values)-1) }
	var c canvas
	c.path("axis", line(left, height-bottom, width-right, height-bottom))
	c.text(left-8, 16, "scale", "end", value(s.hi))
	c.text(left-8, height-bottom, "scale", "end", value(s.lo))
	if t.Anchor != 0 && finite(t.Anchor) {
		c.path("anchor", line(left, s.at(t.Anchor), width-right, s.at(t.Anchor)))
		c.text(width-right, s.at(t.Anchor)-3, "note", "end", "anchor")
	}
	for _, i := range t.Changes {
		if i >= 0 && i < len(t.Values) {
			c.path("change", line(x(i), 8, x(i), height-bottom))
		}
	}
	c.runs(&t, s, x)
	return c.finish(height, t.describe())
}

// runs draws the line, the dots of doubtful runs and the dot of the newest.
func (c *canvas) runs(t *Trend, s scale, x func(int) float64) {
	var path, doubtful, newest pen
	joined := false
	for i, v := range t.Values {
		if !finite(v) {
			joined = false
			continue
		}
		path.to(x(i), s.at(v), joined)
		joined = true
		if i < len(t.Doubtful) && t.Doubtful[i] {
			doubtful.dot(x(i), s.at(v))
		}
	}
	c.path("trend", path.String())
	c.path("dots doubtful", doubtful.String())
	if last := len(t.Values) - 1; finite(t.Values[last]) {
		newest.dot(x(last), s.at(t.Values[last]))
		c.path("dots head", newest.String())
	}
}

func (t *Trend) describe() string {
	s := t.Name + " over " + text.Plural(len(t.Values), "run")
	if last := t.Values[len(t.Values)-1]; finite(last) {
		s += fmt.Sprintf(", now %s %s", value(last), t.Unit)
	}
	if len(t.Changes) > 0 {
		s += fmt.Sprintf("; changes of level: %d", len(t.Changes))
	}
	return s
}
