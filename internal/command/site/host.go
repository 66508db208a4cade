package site

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"iter"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	trend "github.com/accelgate/accelgate/internal/command/history"
	"github.com/accelgate/accelgate/internal/reference/baseline"
	"github.com/accelgate/accelgate/internal/reference/history"
)

// site is one building of pages.
type site struct {
	Options
	ctx     context.Context // ends the building
	sources *sources
	dir     string
	hosts   []summary // in the order of the labels
	pages   atomic.Int64
}

// host is one host while its pages are written.
type host struct {
	*site
	Label    string
	Runs     []bench.Point // the oldest first
	Cells    []*cell       // by id
	Suites   []*suite      // by name
	Baseline *bench.Run    // nil if there is none
	Failures []failure     // the newest first
	Moves    []levelShift  // changes of level, the newest first
}

// suite is the cells of one suite. The name is "" for those of which no baseline and no run names the suite.
type suite struct {
	Name, Slug string
	Cells      []*cell
}

// cell is a cell of a host, with a history, a baseline or both.
type cell struct {
	ID, Suite string
	Series    []*trend.Series
	Reference *bench.Result // in the baseline; nil if there is none
	present   []bool        // whether a run has a value, one for each run
}

// read reads a host, and finds what changed in it.
func (s *site) read(label string) (*host, error) {
	h := &host{site: s, Label: label}
	var err error
	if path := s.sources.baselines[label]; path != "" {
		file, loadErr := baseline.Load(path)
		if loadErr != nil && !errors.Is(loadErr, fs.ErrNotExist) {
			return nil, loadErr
		} else if loadErr == nil {
			h.Baseline = file.Run()
		}
	}
	file, err := s.sources.load(label)
	if err != nil {
		return nil, err
	}
	all := trend.Collect(h.points(file), trend.Options{})
	for i := range all {
		all[i].Look()
	}
	if len(h.Runs) > 1 {
		trend.JudgeNewest(all)
	}
	if d := s.sources.documents[label]; d != nil {
		h.Failures = slices.Clone(d.failures)
		slices.SortStableFunc(h.Failures, func(a, b failure) int { return b.At.Compare(a.At) })
	}
	h.arrange(all)
	h.Moves = h.moves()
	return h, nil
}

// points notes each run as it passes.
func (h *host) points(file *history.File) iter.Seq[*bench.Run] {
	return func(yield func(*bench.Run) bool) {
		for run := range file.All(h.Label) {
			h.Runs = append(h.Runs, bench.Point{At: run.Started, Revision: run.Revision})
			if !yield(run) {
				return
			}
		}
	}
}

// arrange makes cells of series and the baseline's results, and suites of cells.
func (h *host) arrange(all []trend.Series) {
	byID := map[string]*cell{}
	at := func(id string) *cell {
		if byID[id] == nil {
			byID[id] = &cell{ID: id}
			h.Cells = append(h.Cells, byID[id])
		}
		return byID[id]
	}
	for i := range all {
		c := at(all[i].Cell)
		c.Series = append(c.Series, &all[i])
	}
	if h.Baseline != nil {
		for i := range h.Baseline.Results {
			r := &h.Baseline.Results[i]
			c := at(r.Cell.ID())
			c.Reference, c.Suite = r, r.Cell.Suite
		}
	}
	for i := range h.Failures {
		h.Failures[i].Page = h.cellPage(at(h.Failures[i].Cell))
	}
	slices.SortFunc(h.Cells, func(a, b *cell) int { return cmp.Compare(a.ID, b.ID) })
	suites := map[string]*suite{}
	for _, c := range h.Cells {
		if d := h.sources.documents[h.Label]; d != nil {
			c.Suite = cmp.Or(d.suites[c.ID], c.Suite)
		}
		c.mark(len(h.Runs))
		if suites[c.Suite] == nil {
			suites[c.Suite] = &suite{Name: c.Suite, Slug: slug(cmp.Or(c.Suite, "other"))}
			h.Suites = append(h.Suites, suites[c.Suite])
		}
		suites[c.Suite].Cells = append(suites[c.Suite].Cells, c)
	}
	slices.SortFunc(h.Suites, func(a, b *suite) int { return cmp.Compare(a.Name, b.Name) })
}

// mark notes which runs have a value of the cell.
func (c *cell) mark(runs int) {
	c.present = make([]bool, runs)
	for _, s := range c.Series {
		for i, v := range s.Values {
			c.present[i] = c.present[i] || !math.IsNaN(v)
		}
	}
}

// last is the newest run with a value; -1 if there is none.
func (c *cell) last() int {
	for i := len(c.present) - 1; i >= 0; i-- {
		if c.present[i] {
			return i
		}
	}
	return -1
}

// anchor is the level that a metric was pinned to, and when; 0 if it was not.
func (c *cell) anchor(metric string) (level float64, since time.Time) {
	if c.Reference == nil {
		return 0, since
	}
	if s := c.Reference.Sample(metric); s != nil && s.Anchor > 0 && bench.Finite(s.Anchor) {
		return s.Anchor, c.Reference.Anchored.At
	}
	return 0, since
}
