package chart

import (
	"fmt"
	"slices"

	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/text"
)

// Group is one row of a strip plot.
type Group struct {
	Name   string // "base"
	Class  string // of its dots, such as "base" or "head": a word of letters
	Values []float64
	// Low and High are an interval of the group's level; it is not drawn where they are equal.
	Low, High float64
}

// Strip draws each value of each group as a dot on a common scale, the median as a tick
// and the interval as a bar. It is "" if no value is finite.
func Strip(groups []Group, unit string) string {
	all := make([][]float64, 0, 2*len(groups))
	for _, g := range groups {
		all = append(all, g.Values)
		if g.Low < g.High {
			all = append(all, []float64{g.Low, g.High})
		}
	}
	s, ok := scaleOf(left, width-right, all...)
	if !ok {
		return ""
	}
	var c canvas
	for i, g := range groups {
		c.strip(g, s, row*(float64(i)+0.5))
	}
	height := row * float64(len(groups))
	c.path("axis", line(s.from, height, s.to, height))
	c.text(s.from, height+bottom-4, "scale", "start", value(s.lo))
	c.text(s.to, height+bottom-4, "scale", "end", value(s.hi)+" "+unit)
	return c.finish(height+bottom, describe(groups, unit))
}

func (c *canvas) strip(g Group, s scale, y float64) {
	c.text(left-8, y+4, "name", "end", cut(g.Name))
	if g.Low < g.High && finite(g.Low) && finite(g.High) {
		c.path("interval "+g.Class, line(s.at(g.Low), y, s.at(g.High), y))
	}
	var dots pen
	for i, v := range g.Values {
		if finite(v) {
			dots.dot(s.at(v), y+float64(i*7%5-2)*2) // apart, so that equal values show
		}
	}
	c.path("dots "+g.Class, dots.String())
	if m, ok := median(g.Values); ok {
		c.path("median", line(s.at(m), y-9, s.at(m), y+9))
	}
}

func describe(groups []Group, unit string) string {
	s := ""
	for _, g := range groups {
		m, ok := median(g.Values)
		if !ok {
			continue
		}
		if s != "" {
			s += "; "
		}
		s += fmt.Sprintf("%s: %s, median %s %s", g.Name, text.Plural(len(g.Values), "value"), value(m), unit)
	}
	return s
}

// median of the finite values.
func median(values []float64) (float64, bool) {
	v := slices.DeleteFunc(slices.Clone(values), func(x float64) bool { return !finite(x) })
	if len(v) == 0 {
		return 0, false
	}
	return stats.Median(v), true
}
