package chart

import (
	"fmt"
	"math"
)

// Curve is one line of [Curves].
type Curve struct {
	Name string
	X, Y []float64 // of the same length
}

// Curves are several lines on common axes, such as a share by author. On an axis
// that is logarithmic, values that are not above 0 are left out.
type Curves struct {
	X, Y       string // names of the axes, with units
	LogX, LogY bool
	Dots       bool // each value has a dot as well
	Curves     []Curve
}

// MaxCurves is how many curves have lines of their own kind; more are not drawn.
const MaxCurves = 6

// SVG draws the curves with the classes curve c0 to c5, and a legend below them. It is
// "" if no curve has two values.
func (s Curves) SVG() string {
	const height = 200.0
	curves := s.drawn()
	var xs, ys [][]float64
	for _, c := range curves {
		xs, ys = append(xs, c.X), append(ys, c.Y)
	}
	x, okX := scaleOf(left, width-right, xs...)
	y, okY := scaleOf(height-bottom, 8, ys...)
	if !okX || !okY {
		return ""
	}
	var c canvas
	c.path("axis", line(left, height-bottom, width-right, height-bottom))
	c.text(left-8, 16, "scale", "end", value(unlog(y.hi, s.LogY)))
	c.text(left-8, 32, "scale", "end", s.Y)
	c.text(left-8, height-bottom, "scale", "end", value(unlog(y.lo, s.LogY)))
	c.text(left, height-4, "scale", "start", value(unlog(x.lo, s.LogX)))
	c.text(width-right, height-4, "scale", "end", value(unlog(x.hi, s.LogX))+" "+s.X)
	if s.LogX && x.lo < 0 && x.hi > 0 {
		c.path("anchor", line(x.at(0), 8, x.at(0), height-bottom))
		c.text(x.at(0)+3, 16, "note", "start", "1")
	}
	at := height + row/2
	for i, curve := range curves {
		class := fmt.Sprintf("c%d", i)
		c.curve(curve, x, y, class, s.Dots)
		c.path("curve "+class, line(left, at, left+30, at))
		c.text(left+38, at+4, "name", "start", curve.Name)
		at += row * 0.7
	}
	return c.finish(at, s.describe(curves))
}

// drawn are the curves with two values or more, in the numbers of their axes.
func (s Curves) drawn() (curves []Curve) {
	for _, c := range s.Curves {
		one := Curve{Name: c.Name}
		for i := range min(len(c.X), len(c.Y)) {
			x, y := logOf(c.X[i], s.LogX), logOf(c.Y[i], s.LogY)
			if finite(x) && finite(y) {
				one.X, one.Y = append(one.X, x), append(one.Y, y)
			}
		}
		if len(one.X) > 1 && len(curves) < MaxCurves {
			curves = append(curves, one)
		}
	}
	return curves
}

func logOf(v float64, log bool) float64 {
	if log {
		return math.Log10(v) // not finite for what is not above 0
	}
	return v
}

func unlog(v float64, log bool) float64 {
	if log {
		return math.Pow(10, v)
	}
	return v
}

func (c *canvas) curve(curve Curve, x, y scale, class string, dotted bool) {
	var path, dots pen
	for i := range curve.X {
		path.to(x.at(curve.X[i]), y.at(curve.Y[i]), i > 0)
		if dotted {
			dots.dot(x.at(curve.X[i]), y.at(curve.Y[i]))
		}
	}
	c.path("curve "+class, path.String())
	c.path("dots "+class, dots.String())
}

func (s Curves) describe(curves []Curve) string {
	text := s.Y + " against " + s.X
	for _, c := range curves {
		last := len(c.X) - 1
		text += fmt.Sprintf("; %s: from %s at %s to %s at %s", c.Name, value(unlog(c.Y[0], s.LogY)), value(unlog(c.X[0], s.LogX)),
			value(unlog(c.Y[last], s.LogY)), value(unlog(c.X[last], s.LogX)))
	}
	return text
}
