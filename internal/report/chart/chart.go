// Package chart draws small charts as SVG: the spread of values, their trend over runs, and the parts of a change. It
// draws trends as text, too, where a page cannot have SVG.
//
// A chart in SVG has a fixed width, classes in place of colours (a page's style sheet decides, light or dark), a description
// for screen readers, and no script. All names are escaped; numbers that are not finite are left out. The same
// input gives the same bytes. Functions are pure and safe for concurrent use.
package chart

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
)

const (
	width  = 560.0
	left   = 120.0 // room for names
	right  = 48.0  // room for what is written beside the last point
	row    = 26.0
	bottom = 18.0 // room for the scale
)

// canvas collects the elements of a chart.
type canvas struct{ strings.Builder }

// finish puts the frame around the elements.
func (c *canvas) finish(height float64, description string) string {
	return c.frame(width, height, "chart", description)
}

func (c *canvas) frame(width, height float64, class, description string) string {
	return fmt.Sprintf(`<svg class="%s" viewBox="0 0 %s %s" role="img" aria-label="%s">%s</svg>`, class, n(width), n(height),
		html.EscapeString(description), c.String())
}

// text writes a text; anchor is start, middle or end.
func (c *canvas) text(x, y float64, class, anchor, s string) {
	fmt.Fprintf(c, `<text class="%s" x="%s" y="%s" text-anchor="%s">%s</text>`, class, n(x), n(y), anchor, html.EscapeString(s))
}

func (c *canvas) path(class, d string) {
	if d != "" {
		fmt.Fprintf(c, `<path class="%s" d="%s"/>`, class, d)
	}
}

// scale maps values to a span of pixels.
type scale struct{ lo, hi, from, to float64 }

// scaleOf spans all finite values, with some room on both sides.
func scaleOf(from, to float64, values ...[]float64) (scale, bool) {
	s := scale{math.Inf(1), math.Inf(-1), from, to}
	for _, list := range values {
		for _, v := range list {
			if finite(v) {
				s.lo, s.hi = min(s.lo, v), max(s.hi, v)
			}
		}
	}
	if s.lo > s.hi {
		return s, false
	}
	room := 0.05 * (s.hi - s.lo)
	if room == 0 || !finite(room) {
		room = max(math.Abs(s.hi)*0.05, math.SmallestNonzeroFloat64)
	}
	s.lo, s.hi = max(s.lo-room, -math.MaxFloat64), min(s.hi+room, math.MaxFloat64)
	return s, true
}

func (s scale) at(v float64) float64 {
	// Halves keep the difference of two huge numbers finite.
	share := (v/2 - s.lo/2) / (s.hi/2 - s.lo/2)
	if !finite(share) {
		share = 0.5
	}
	return s.from + share*(s.to-s.from)
}

func line(x1, y1, x2, y2 float64) string {
	return "M" + n(x1) + " " + n(y1) + "L" + n(x2) + " " + n(y2)
}

// pen writes a path of many points in whole pixels, each relative to the one before it: a page has thousands of them.
type pen struct {
	strings.Builder
	x, y int
}

// to adds a point; it is joined to the one before it, or a dot of its own.
func (p *pen) to(x, y float64, joined bool) {
	at, to := int(math.Round(x)), int(math.Round(y))
	switch {
	case p.Len() == 0:
		fmt.Fprintf(p, "M%d %d", at, to)
	case joined:
		fmt.Fprintf(p, "l%d %d", at-p.x, to-p.y)
	default:
		fmt.Fprintf(p, "m%d %d", at-p.x, to-p.y)
	}
	p.x, p.y = at, to
}

// dot adds a line without length, whose round ends a style sheet makes large.
func (p *pen) dot(x, y float64) {
	p.to(x, y, false)
	p.WriteString("h0")
}

// n writes a coordinate.
func n(x float64) string { return strconv.FormatFloat(math.Round(x*10)/10, 'f', -1, 64) }

// value writes a number of a scale.
func value(x float64) string {
	if a := math.Abs(x); a >= 1e4 && a < 1e9 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// cut shortens a name to what fits beside a chart.
func cut(s string) string {
	const maximum = 18 // runes
	if r := []rune(s); len(r) > maximum {
		return string(r[:maximum-1]) + "…"
	}
	return s
}
