package detect

import (
	"cmp"
	"math"
	"slices"

	"github.com/accelgate/accelgate/internal/stats"
)

// ChangePoint is a run from which on a history is on another level.
type ChangePoint struct {
	// Index is that of the first run on the new level; the last one on the old
	// level is the usable one before it.
	Index  int     `json:"index"`
	Change float64 `json:"change"` // relative, positive for the worse
	P      float64 `json:"p"`      // two-sided
}

// Search describes how change points are searched for. The zero value is useful.
type Search struct {
	HigherIsBetter bool
	Window         int     // runs that are looked at together; 0 is 50, Otava's
	MaxP           float64 // 0 is 0.001, Otava's
	MinEffect      float64 // relative; 0 is every change
	// Significance returns the two-sided p of two neighbouring levels, each of at
	// least one logarithm. nil is the score of this package, corrected for the
	// number of places where the cut could have been: a cut is made where it looks
	// best.
	Significance func(left, right []float64) float64
}

// ChangePoints finds where a history of runs, the oldest first, changes its level
// for good. It divides windows where the energy distance of both sides is
// largest (Matteson and James 2014, E-divisive) for as long as the halves
// differ at 10 times MaxP, then removes the weakest until all that are left
// hold at MaxP, as Hunter and Apache Otava do (Fleming et al. 2023). There is no
// random number in it. Unusable values are skipped. It takes time in proportion to
// the length and the square of the window.
func ChangePoints(values []float64, s Search) []ChangePoint {
	y, at := make([]float64, 0, len(values)), make([]int, 0, len(values))
	for i, v := range values {
		if l, ok := level(v, s.HigherIsBetter); ok {
			y, at = append(y, l), append(at, i)
		}
	}
	d := divider{y: y, search: s.defaults(y)}
	d.split()
	d.merge()
	points := make([]ChangePoint, len(d.cuts))
	for i, cut := range d.cuts {
		points[i] = ChangePoint{Index: at[cut.at], Change: relative(cut.effect), P: cut.p}
	}
	return points
}

func (s Search) defaults(y []float64) Search {
	if s.Window <= 1 {
		s.Window = 50
	}
	if s.MaxP <= 0 {
		s.MaxP = 0.001
	}
	if s.Significance == nil {
		own, _ := ownNoise(y)
		if own == 0 {
			own = max(ownFloor, stats.StepNoise(y))
		}
		s.Significance = func(left, right []float64) float64 { return significance(left, right, own) }
	}
	return s
}

// significance is twice the smaller of both one-sided p, for each place of the cut.
func significance(left, right []float64, own float64) float64 {
	s := samples{base: left, head: right}
	r := s.score(Options{Mode: Anchor, Own: own})
	places := float64(len(left) + len(right) - 1)
	return min(1, places*2*min(r.P, StudentTail(-r.T/inflation, r.DF)))
}

type divider struct {
	y      []float64
	search Search
	cuts   []cut // ascending
}

type cut struct {
	at        int
	p, effect float64
}

// firstPass is how much weaker a change point may be at first: its neighbours
// may hide it.
const firstPass = 10

// split walks windows that overlap by half over the history.
func (d *divider) split() {
	w := d.search.Window
	for start := 0; start < len(d.y); {
		end := min(start+w, len(d.y))
		last := d.divide(start, end)
		if end == len(d.y) {
			break
		}
		start = max(last, start+max(1, w/2))
	}
	slices.SortFunc(d.cuts, func(a, b cut) int { return cmp.Compare(a.at, b.at) })
	d.cuts = slices.CompactFunc(d.cuts, func(a, b cut) bool { return a.at == b.at })
}

// divide adds the cuts of a window and returns the last one, 0 if there is none.
func (d *divider) divide(start, end int) (last int) {
	segments := [][2]int{{start, end}}
	for len(segments) > 0 {
		s := segments[len(segments)-1]
		segments = segments[:len(segments)-1]
		if s[1]-s[0] < 2 {
			continue
		}
		at := s[0] + farthest(d.y[s[0]:s[1]])
		if !(d.search.Significance(d.y[s[0]:at], d.y[at:s[1]]) <= firstPass*d.search.MaxP) {
			continue
		}
		d.cuts = append(d.cuts, cut{at: at})
		last = max(last, at)
		segments = append(segments, [2]int{s[0], at}, [2]int{at, s[1]})
	}
	return last
}

// merge removes the weakest cut until all hold.
func (d *divider) merge() {
	for i := range d.cuts {
		d.test(i)
	}
	for len(d.cuts) > 0 {
		weakest := 0
		for i := range d.cuts {
			if d.weaker(i, weakest) {
				weakest = i
			}
		}
		if d.holds(d.cuts[weakest]) {
			return
		}
		d.cuts = slices.Delete(d.cuts, weakest, weakest+1)
		if weakest > 0 {
			d.test(weakest - 1)
		}
		if weakest < len(d.cuts) {
			d.test(weakest)
		}
	}
}

// weaker orders cuts: those that do not hold first, by p, then by effect.
func (d *divider) weaker(i, j int) bool {
	a, b := d.cuts[i], d.cuts[j]
	if h := d.holds(a); h != d.holds(b) {
		return !h
	}
	if a.p != b.p {
		return a.p > b.p
	}
	return math.Abs(a.effect) < math.Abs(b.effect)
}

func (d *divider) holds(c cut) bool {
	return c.p <= d.search.MaxP && math.Abs(c.effect) >= math.Log1p(max(d.search.MinEffect, 0))
}

// test judges a cut by the levels on both sides of it.
func (d *divider) test(i int) {
	from, to := 0, len(d.y)
	if i > 0 {
		from = d.cuts[i-1].at
	}
	if i+1 < len(d.cuts) {
		to = d.cuts[i+1].at
	}
	c := &d.cuts[i]
	left, right := d.y[from:c.at], d.y[c.at:to]
	c.p, c.effect = d.search.Significance(left, right), mean(right)-mean(left)
}
