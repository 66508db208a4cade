// Package trend finds where the history of a cell changed its level for good, and slow drift that no single comparison shows.
// It decides nothing.
package trend

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/matrix"
	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/verdict"
)

// series is the history of one metric of one cell on one host.
type series struct {
	Host    string  `json:"host"`
	Cell    string  `json:"cell"`
	Metric  string  `json:"metric"`
	Unit    string  `json:"unit,omitempty"`
	Runs    int     `json:"runs"`
	Changes []level `json:"changes"`
	Drift   *drift  `json:"drift,omitempty"`
	// Newest is the last run against those before it.
	Newest *verdict.NewestRun `json:"newest,omitempty"`

	better    bench.Direction
	values    []float64 // one for each run of the host, NaN where it has none
	unhealthy []int     // places of the values of an unhealthy host
	revisions []string
}

// level is a change of the level, from one commit to the next that was measured.
type level struct {
	verdict.Changed
	P      float64 `json:"p"`
	After  string  `json:"after"`  // last commit on the old level
	Before string  `json:"before"` // first one on the new level
}

// drift is a loss in steps that are too small to be found one by one.
type drift struct {
	verdict.Changed
	Since string `json:"since"` // commit
}

// Options say what is looked at.
type Options struct {
	Only []string // ids or globs of cells; all if empty
	All  bool     // metrics that are only shown, too
	JSON bool
}

// Report writes the changes of level, the drift and the newest runs of all series in the
// runs and histories that arguments name. It decides nothing. It fails if no series is
// long enough to be looked at.
func Report(w io.Writer, arguments []string, o Options) error {
	runs, err := keptRuns(arguments)
	if err != nil {
		return err
	}
	all := o.collect(runs)
	long := 0
	for i := range all {
		if all[i].look(); all[i].Runs >= leastHistory {
			long++
		}
	}
	if long == 0 {
		return fmt.Errorf("no cell of %s has a metric with %d values, which finding a change takes: keep more runs, or choose other cells", text.Plural(len(runs), "run"), leastHistory)
	}
	judgeNewest(all)
	slices.SortStableFunc(all, func(a, b series) int { return cmp.Compare(a.worst(), b.worst()) })
	if o.JSON {
		e := json.NewEncoder(w)
		e.SetIndent("", " ")
		return e.Encode(map[string]any{"runs": len(runs), "series": all})
	}
	return write(w, all, len(runs))
}

// leastHistory is how many values a series needs to be looked at.
const leastHistory = 8

// judgeNewest judges the newest run of each host as a whole, so that few of many
// cells are false alarms: by itself, and with the run before it, which it may confirm.
func judgeNewest(all []series) {
	byHost := map[string][]int{}
	for i := range all {
		byHost[all[i].Host] = append(byHost[all[i].Host], i)
	}
	for _, indexes := range byHost {
		cells := make([]detect.Cell, len(indexes))
		for n, i := range indexes {
			last := len(all[i].values) - 1
			cells[n] = detect.Cell{Base: all[i].level()[:last], Head: all[i].values[last:], Options: detect.Options{HigherIsBetter: all[i].better != bench.Lower}}
		}
		judged, next := detect.JudgeReport(cells, 0).Cells, detect.JudgeNext(cells, 0).Cells
		for n, i := range indexes {
			if next[n].Verdict == detect.Regressed { // the run before shows it, too
				judged[n] = next[n]
			}
			all[i].Newest = verdict.NewestOf(&judged[n], all[i].better)
		}
	}
}

// collect makes series of runs, in the order in which they first occur.
func (o *Options) collect(runs []*bench.Run) (all []series) {
	at, revisions := map[[3]string]int{}, map[string][]string{}
	for _, run := range runs {
		host := run.Host.Label
		revisions[host] = append(revisions[host], run.Revision)
		for i := range run.Results {
			r := &run.Results[i]
			if r.Outcome != bench.Passed || r.Doubt != "" || len(o.Only) > 0 && !matrix.GlobAny(o.Only, r.Cell.ID()) {
				continue
			}
			for _, sample := range r.Samples {
				m := run.Metric(sample.Metric)
				if m == nil || m.Informational && !o.All || len(sample.Values) == 0 || sample.Doubt != "" {
					continue
				}
				key := [3]string{host, r.Cell.ID(), m.Name}
				n, known := at[key]
				if !known {
					n = len(all)
					at[key] = n
					all = append(all, series{Host: host, Cell: key[1], Metric: m.Name, Unit: m.Unit, better: m.Better, Changes: []level{}})
				}
				if all[n].add(len(revisions[host])-1, stats.Median(r.Judged(&sample))); r.Health != nil && r.Health.Status == bench.Unhealthy {
					all[n].unhealthy = append(all[n].unhealthy, len(all[n].values)-1)
				}
			}
		}
	}
	for i := range all {
		all[i].revisions = revisions[all[i].Host]
		all[i].pad(len(all[i].revisions))
	}
	return all
}

// add puts the value of a run in its place.
func (s *series) add(run int, value float64) {
	s.pad(run)
	s.values = append(s.values, value)
	s.Runs++
}

func (s *series) pad(n int) {
	for len(s.values) < n {
		s.values = append(s.values, math.NaN())
	}
}

// level returns the values without those of an unhealthy host, where enough are left: these
// are no sign of the code.
func (s *series) level() []float64 {
	if len(s.unhealthy) == 0 || s.Runs-len(s.unhealthy) < leastHistory {
		return s.values
	}
	values := slices.Clone(s.values)
	for _, at := range s.unhealthy {
		values[at] = math.NaN()
	}
	return values
}

// leastChange is the least relative change of a level that is reported.
const leastChange = 0.01

// look finds changes and drift.
func (s *series) look() {
	if s.Runs < leastHistory {
		return
	}
	higher, values := s.better != bench.Lower, s.level()
	for _, p := range detect.ChangePoints(values, detect.Search{HigherIsBetter: higher, MinEffect: leastChange}) {
		before := p.Index - 1
		for before > 0 && math.IsNaN(values[before]) {
			before--
		}
		s.Changes = append(s.Changes, level{Changed: verdict.ChangeOf(p.Change, s.better), P: p.P, After: s.revisions[max(before, 0)], Before: s.revisions[p.Index]})
	}
	if len(s.Changes) > 0 {
		return // a step looks like drift, too
	}
	if d, ok := detect.Drift(values, higher); ok && d.Alarm >= 0 && d.Change > leastChange {
		s.Drift = &drift{Changed: verdict.ChangeOf(d.Change, s.better), Since: s.revisions[d.Since]}
	}
}

func (s *series) worst() float64 {
	worst := math.Inf(1)
	for _, l := range s.Changes {
		worst = min(worst, s.better.Change(l.Change))
	}
	if s.Drift != nil {
		worst = min(worst, s.better.Change(s.Drift.Change))
	}
	return worst
}
