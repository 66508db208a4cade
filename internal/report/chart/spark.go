package chart

import "math"

// Sparkline writes the newest of values, at most most, as a line of blocks, the oldest
// first. Values that are not finite are left out. It is "" below two values.
func Sparkline(values []float64, maximum int) string {
	shown := make([]float64, 0, maximum)
	for i := len(values) - 1; i >= 0 && len(shown) < maximum; i-- {
		if finite(values[i]) {
			shown = append(shown, values[i])
		}
	}
	if len(shown) < 2 {
		return ""
	}
	blocks := []rune("▁▂▃▄▅▆▇█")
	s := levels(shown)
	line := make([]rune, len(shown))
	for i, v := range shown {
		line[len(shown)-1-i] = blocks[s.cell(v, len(blocks))]
	}
	return string(line)
}

// levels spans values, and at least 5 % of the largest: less would show noise as a change.
func levels(values []float64) scale {
	s := scale{lo: math.Inf(1), hi: math.Inf(-1), to: 1}
	for _, v := range values {
		if finite(v) {
			s.lo, s.hi = min(s.lo, v), max(s.hi, v)
		}
	}
	minimum := 0.05 * max(math.Abs(s.lo), math.Abs(s.hi))
	if short := minimum - (s.hi - s.lo); short > 0 {
		s.lo, s.hi = max(s.lo-short/2, -math.MaxFloat64), min(s.hi+short/2, math.MaxFloat64)
	}
	return s
}

// cell is the place of v among n, the lowest first.
func (s scale) cell(v float64, n int) int { return min(n-1, max(0, int(s.at(v)*float64(n)))) }

// Spark draws the trend small, for many beside each other: the line, changes of level and the newest run, without a scale.
// It is "" below two values.
func (t Trend) Spark() string {
	const wide, height, room = 160.0, 40.0, 4.0
	s, ok := scaleOf(height-room, room, t.Values)
	if !ok || len(t.Values) < 2 {
		return ""
	}
	x := func(i int) float64 { return room + (wide-2*room)*float64(i)/float64(len(t.Values)-1) }
	var c canvas
	for _, i := range t.Changes {
		if i >= 0 && i < len(t.Values) {
			c.path("change", line(x(i), 0, x(i), height))
		}
	}
	c.runs(&t, s, x)
	return c.frame(wide, height, "chart spark", t.describe())
}
