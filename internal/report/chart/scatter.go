package chart

import (
	"fmt"

	"github.com/accelgate/accelgate/internal/text"
)

// Point is one measurement of a [Scatter].
type Point struct {
	X, Y   float64
	Good   bool // drawn as a dot of its own class
	Marked bool // has the label Mark
}

// Scatter is one number against another, such as latency against throughput.
type Scatter struct {
	X, Y       string // names of the axes, with units
	Good, Mark string // what Good and Marked points are
	Points     []Point
}

// SVG draws the points, joined in their order. It is "" below two points.
func (s Scatter) SVG() string {
	const height = 160.0
	var xs, ys []float64
	for _, p := range s.Points {
		if finite(p.X) && finite(p.Y) {
			xs, ys = append(xs, p.X), append(ys, p.Y)
		}
	}
	x, okX := scaleOf(left, width-right, xs)
	y, okY := scaleOf(height-bottom, 8, ys)
	if !okX || !okY || len(xs) < 2 {
		return ""
	}
	var c canvas
	c.path("axis", line(left, height-bottom, width-right, height-bottom))
	c.text(left-8, 16, "scale", "end", value(y.hi))
	c.text(left-8, 32, "scale", "end", s.Y)
	c.text(left-8, height-bottom, "scale", "end", value(y.lo))
	c.text(width-right, height-4, "scale", "end", value(x.hi)+" "+s.X)
	c.text(left, height-4, "scale", "start", value(x.lo))
	c.dots(s, x, y)
	return c.finish(height, s.describe(len(xs)))
}

func (c *canvas) dots(s Scatter, x, y scale) {
	var path, good, bad pen
	joined := false
	for _, p := range s.Points {
		if !finite(p.X) || !finite(p.Y) {
			continue
		}
		atX, atY := x.at(p.X), y.at(p.Y)
		path.to(atX, atY, joined)
		joined = true
		if p.Good {
			good.dot(atX, atY)
		} else {
			bad.dot(atX, atY)
		}
		if p.Marked {
			c.text(atX, atY-6, "note", "end", s.Mark)
		}
	}
	c.path("trend", path.String())
	c.path("dots head", good.String())
	c.path("dots doubtful", bad.String())
}

func (s Scatter) describe(n int) string {
	good, mark := 0, ""
	for _, p := range s.Points {
		if p.Good {
			good++
		}
		if p.Marked {
			mark = fmt.Sprintf("; %s at %s %s and %s %s", s.Mark, value(p.X), s.X, value(p.Y), s.Y)
		}
	}
	return fmt.Sprintf("%s against %s, %s, %d of them: %s%s", s.Y, s.X, text.Plural(n, "point"), good, s.Good, mark)
}
