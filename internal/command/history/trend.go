// Package history finds where the history of a cell changed its level for good, and slow drift that no single comparison shows.
// It decides nothing.
package history

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/judge"
	"github.com/accelgate/accelgate/internal/matrix"
	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/text/terminal"
)

// Series is the history of one metric of one cell on one host.
type Series struct {
	Host    string  `json:"host"`
	Cell    string  `json:"cell"`
	Metric  string  `json:"metric"`
	Unit    string  `json:"unit,omitempty"`
	Runs    int     `json:"runs"`
	Changes []Level `json:"changes"`
	Drift   *Drift  `json:"drift,omitempty"`
	// Newest is the last run against those before it.
	Newest *judge.NewestRun `json:"newest,omitempty"`

	Better bench.Direction `json:"-"`
	// Values has one median for each run of the host, the oldest first, NaN where the run has none.
	Values    []float64 `json:"-"`
	Unhealthy []int     `json:"-"` // places of the values of an unhealthy host, ascending
	Revisions []string  `json:"-"` // of the runs, as many as Values
}

// Level is a change of the level, from one commit to the next that was measured.
type Level struct {
	judge.Changed
	P      float64 `json:"p"`
	After  string  `json:"after"`  // last commit on the old level
	Before string  `json:"before"` // first one on the new level
	From   int     `json:"-"`      // the run before the change, as a place of Series.Values
	At     int     `json:"-"`      // the first run on the new level
}

// Drift is a loss in steps that are too small to be found one by one.
type Drift struct {
	judge.Changed
	Since string `json:"since"` // commit
}

// Options say what is looked at.
type Options struct {
	Only []string // ids or globs of cells; all if empty
	All  bool     // metrics that are only shown, too
	JSON bool
	Cell string // id or glob of cells whose trend is drawn; "" draws none
	// Columns is the width of a drawing; 0 is 100.
	Columns int
}

// Report writes the changes of level, the drift and the newest runs of all series in the
// runs and histories that arguments name, or draws the trend of Options.Cell. It decides
// nothing. It fails if no series is long enough to be looked at.
func Report(w io.Writer, arguments []string, o Options) error {
	runs, err := keptRuns(arguments)
	if err != nil {
		return err
	}
	all := Collect(slices.Values(runs), o)
	if o.Cell != "" {
		if all, err = o.drawable(all, runs); err != nil {
			return err
		}
	}
	long := 0
	for i := range all {
		if all[i].Look(); all[i].Runs >= minHistory {
			long++
		}
	}
	if long == 0 && o.Cell == "" {
		return fmt.Errorf("no cell of %s has a metric with %d values, which finding a change takes: keep more runs, or choose other cells",
			text.Plural(len(runs), "run"), minHistory)
	}
	JudgeNewest(all)
	slices.SortStableFunc(all, func(a, b Series) int { return cmp.Compare(a.worst(), b.worst()) })
	if o.JSON {
		e := json.NewEncoder(w)
		e.SetIndent("", " ")
		return e.Encode(map[string]any{"runs": len(runs), "series": all})
	}
	if o.Cell != "" {
		t := terminal.NewTable(w, o.Columns)
		return cmp.Or(o.draw(t, all), t.Flush())
	}
	return write(w, o.Columns, all, len(runs))
}

// minHistory is how many values a series needs to be looked at.
const minHistory = 8

// JudgeNewest sets Newest of all series. It judges the newest run of each host as a whole, so that
// few of many cells are false alarms: by itself, and with the run before it, which it may confirm.
func JudgeNewest(all []Series) {
	byHost := map[string][]int{}
	for i := range all {
		byHost[all[i].Host] = append(byHost[all[i].Host], i)
	}
	for _, indexes := range byHost {
		cells := make([]detect.Cell, len(indexes))
		for n, i := range indexes {
			last := len(all[i].Values) - 1
			cells[n] = detect.Cell{
				Base:    all[i].level()[:last],
				Head:    all[i].Values[last:],
				Options: detect.Options{HigherIsBetter: all[i].Better != bench.Lower},
			}
		}
		judged, next := detect.JudgeReport(cells, 0).Cells, detect.JudgeNext(cells, 0).Cells
		for n, i := range indexes {
			if next[n].Verdict == detect.Regressed { // the run before shows it, too
				judged[n] = next[n]
			}
			all[i].Newest = judge.NewestOf(&judged[n], all[i].Better)
		}
	}
}

// Collect makes series of runs, the oldest first, in the order in which cells and metrics first occur.
// It keeps no run.
func Collect(runs iter.Seq[*bench.Run], o Options) (all []Series) {
	at, revisions := map[[3]string]int{}, map[string][]string{}
	for run := range runs {
		host := run.Host.Label
		revisions[host] = append(revisions[host], run.Revision)
		for i := range run.Results {
			r := &run.Results[i]
			if r.Outcome != bench.Passed || r.Caveat != "" || !o.takes(r.Cell.ID()) {
				continue
			}
			for _, sample := range r.Samples {
				m := run.Metric(sample.Metric)
				if m == nil || m.Informational && !o.All || len(sample.Values) == 0 || sample.Caveat != "" {
					continue
				}
				key := [3]string{host, r.Cell.ID(), m.Name}
				n, known := at[key]
				if !known {
					n = len(all)
					at[key] = n
					all = append(all, Series{Host: host, Cell: key[1], Metric: m.Name, Unit: m.Unit, Better: m.Better, Changes: []Level{}})
				}
				if all[n].add(len(revisions[host])-1, stats.Median(r.Judged(&sample))); r.Health != nil &&
					r.Health.Status == bench.Unhealthy {
					all[n].Unhealthy = append(all[n].Unhealthy, len(all[n].Values)-1)
				}
			}
		}
	}
	for i := range all {
		all[i].Revisions = revisions[all[i].Host]
		all[i].pad(len(all[i].Revisions))
	}
	return all
}

func (o *Options) takes(id string) bool {
	return (len(o.Only) == 0 || matrix.GlobAny(o.Only, id)) && (o.Cell == "" || o.Cell == id || matrix.Glob(o.Cell, id))
}

// add puts the value of a run in its place.
func (s *Series) add(run int, value float64) {
	s.pad(run)
	s.Values = append(s.Values, value)
	s.Runs++
}

func (s *Series) pad(n int) {
	for len(s.Values) < n {
		s.Values = append(s.Values, math.NaN())
	}
}

// level returns the values without those of an unhealthy host, where enough are left: these
// are no sign of the code.
func (s *Series) level() []float64 {
	if len(s.Unhealthy) == 0 || s.Runs-len(s.Unhealthy) < minHistory {
		return s.Values
	}
	values := slices.Clone(s.Values)
	for _, at := range s.Unhealthy {
		values[at] = math.NaN()
	}
	return values
}

// minChange is the least relative change of a level that is reported.
const minChange = 0.01

// Look finds changes and drift, where there are at least 8 values.
func (s *Series) Look() {
	if s.Runs < minHistory {
		return
	}
	higher, values := s.Better != bench.Lower, s.level()
	for _, p := range detect.ChangePoints(values, detect.Search{HigherIsBetter: higher, MinEffect: minChange}) {
		before := max(p.Index-1, 0)
		for before > 0 && math.IsNaN(values[before]) {
			before--
		}
		if s.SameCode(before, p.Index) {
			continue
		}
		s.Changes = append(s.Changes, Level{
			Changed: judge.ChangeOf(p.Change, s.Better),
			P:       p.P,
			After:   s.Revisions[before],
			Before:  s.Revisions[p.Index],
			From:    before,
			At:      p.Index,
		})
	}
	if len(s.Changes) > 0 {
		return // a step looks like drift, too
	}
	if d, ok := detect.Drift(values, higher); ok && d.Alarm >= 0 && d.Change > minChange && !s.SameCode(d.Since, len(s.Revisions)-1) {
		s.Drift = &Drift{Changed: judge.ChangeOf(d.Change, s.Better), Since: s.Revisions[d.Since]}
	}
}

// SameCode reports whether two runs are of one commit: what moved between them is no change of the code.
func (s *Series) SameCode(a, b int) bool {
	return s.Revisions[a] != "" && s.Revisions[a] == s.Revisions[b]
}

func (s *Series) worst() float64 {
	worst := math.Inf(1)
	for _, l := range s.Changes {
		worst = min(worst, s.Better.Change(l.Change))
	}
	if s.Drift != nil {
		worst = min(worst, s.Better.Change(s.Drift.Change))
	}
	return worst
}
