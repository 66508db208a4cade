package site

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/command/history"
	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/judge"
)

// levelShift is a change of level of one metric of one cell, or a regression of the run before the newest that the newest confirms.
type levelShift struct {
	judge.Changed
	At                        time.Time // when the first run on the new level started
	Host, Suite, Cell, Metric string
	After, Before             string // commits between which it happened; Before is the first one on the new level
	P                         float64
	Page                      string // from the root, with the place on it
	Confirmed                 bool   // by the newest run, and not a change of level yet
	better                    bench.Direction
}

// Worse reports whether it is a regression.
func (m *levelShift) Worse() bool { return m.Better != nil && !*m.Better }

// moves lists what changed on a host, the newest first.
func (h *host) moves() (all []levelShift) {
	for _, c := range h.Cells {
		for i, s := range c.Series {
			all = append(all, h.ofSeries(c, i, s)...)
		}
	}
	slices.SortStableFunc(all, func(a, b levelShift) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.shiftGain(), b.shiftGain()))
	})
	return all
}

func (m *levelShift) shiftGain() float64 { return m.better.Change(m.Change) }

func (h *host) ofSeries(c *cell, metric int, s *history.Series) (all []levelShift) {
	move := func(changed judge.Changed, p float64, from, at int) levelShift {
		return levelShift{
			Changed: changed,
			At:      h.Runs[at].At,
			Host:    h.Label,
			Suite:   c.Suite,
			Cell:    c.ID,
			Metric:  s.Metric,
			After:   s.Revisions[from],
			Before:  s.Revisions[at],
			P:       p,
			Page:    h.cellPage(c) + "#" + place(metric, s.Revisions[at]),
			better:  s.Better,
		}
	}
	for _, l := range s.Changes {
		all = append(all, move(l.Changed, l.P, l.From, l.At))
	}
	if from, at, ok := confirmed(s); ok {
		m := move(s.Newest.Changed, s.Newest.P, from, at)
		m.Confirmed = true
		all = append(all, m)
	}
	return all
}

// confirmed returns the run that was suspected and the one before it, where the newest run confirms a regression that
// is not a change of level yet.
func confirmed(s *history.Series) (from, at int, ok bool) {
	if s.Newest == nil || s.Newest.Verdict != detect.Regressed || len(s.Values) < 3 {
		return 0, 0, false
	}
	at = len(s.Values) - 2
	for from = at - 1; from > 0 && math.IsNaN(s.Values[from]); from-- {
	}
	if s.SameCode(from, at) {
		return 0, 0, false
	}
	for _, l := range s.Changes {
		if l.At >= from {
			return 0, 0, false
		}
	}
	return from, at, true
}

// place names a change on the page of a cell.
func place(metric int, revision string) string {
	return "m" + strconv.Itoa(metric) + "-" + digest(revision)
}

// since returns the moves from a time on.
func since(moves []levelShift, from time.Time) []levelShift {
	n := 0
	for n < len(moves) && !moves[n].At.Before(from) {
		n++
	}
	return moves[:n]
}

// days is a span before now.
func (o *Options) days(n int) time.Time { return o.Now.AddDate(0, 0, -n) }

func worse(moves []levelShift) (n int) {
	for i := range moves {
		if moves[i].Worse() {
			n++
		}
	}
	return n
}
