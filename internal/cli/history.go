package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/matrix"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/terminal"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/verdict"
)

const historyHelp = `Find where the history changed for good: for each host, cell and gated metric, the
commits between which the level moved, and slow drift that no single comparison
shows. Runs are run.json files and histories, history-<host label>.jsonl; of a
folder, all below it. They are put in the order in which they started.

  accelgate history runs/
  accelgate history baselines/history --only 'moe*' --json
  accelgate history record .accelgate/run.json    keep a run for later comparisons

It decides nothing: exit 0 says that the runs were read, 3 that there are too few
of them. Change points are those of E-divisive, as Apache Otava finds them.`

// historyFlags are the flags of history.
type historyFlags struct {
	only []string
	all  bool
	json bool
}

func (c *Command) historyCommand() *cobra.Command {
	var o historyFlags
	cmd := &cobra.Command{
		Use:   "history RUN.json|HISTORY.jsonl|FOLDER...",
		Short: "Find between which commits the history became slower or faster",
		Long:  historyHelp,
		Args:  cobra.MinimumNArgs(1),
		RunE:  func(_ *cobra.Command, args []string) error { return c.history(args, &o) },
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.only, "only", nil, "look only at this case `id` or glob; may be repeated")
	f.BoolVar(&o.all, "all", false, "look at metrics that are only shown, too")
	f.BoolVar(&o.json, "json", false, "print everything as JSON")
	cmd.AddCommand(c.recordCommand())
	return cmd
}

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

func (c *Command) history(paths []string, o *historyFlags) error {
	runs, err := keptRuns(paths)
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
	if o.json {
		e := json.NewEncoder(c.Stdout)
		e.SetIndent("", " ")
		return e.Encode(map[string]any{"runs": len(runs), "series": all})
	}
	return c.printHistory(all, len(runs))
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
func (o *historyFlags) collect(runs []*bench.Run) (all []series) {
	at, revisions := map[[3]string]int{}, map[string][]string{}
	for _, run := range runs {
		host := run.Host.Label
		revisions[host] = append(revisions[host], run.Revision)
		for i := range run.Results {
			r := &run.Results[i]
			if r.Outcome != bench.Passed || r.Doubt != "" || len(o.only) > 0 && !matrix.GlobAny(o.only, r.Cell.ID()) {
				continue
			}
			for _, sample := range r.Samples {
				m := run.Metric(sample.Metric)
				if m == nil || m.Informational && !o.all || len(sample.Values) == 0 || sample.Doubt != "" {
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

func (c *Command) printHistory(all []series, runs int) error {
	t := terminal.NewTable(c.Stdout)
	changed := levels(t, all)
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(c.Stdout, "%s of %d series: %s changed for good\n", text.Plural(runs, "run"), len(all), text.Plural(changed, "level"))
	if newest(t, all) == 0 {
		_, err := fmt.Fprintln(c.Stdout, "newest runs: none is slower than those before it, as far as its noise lets be seen")
		return err
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(c.Stdout, "\nNext: measure suspects again, and see what came between with git log AFTER..BEFORE")
	return err
}

// levels writes a row for each change, and returns how many there are.
func levels(w io.Writer, all []series) (n int) {
	row := func(s *series, format string, args ...any) {
		if n++; n == 1 {
			fmt.Fprintf(w, "host\tcell\tmetric\tchange\tp\tbetween\n")
		}
		fmt.Fprintf(w, s.name()+"\t"+format+"\n", args...)
	}
	for i := range all {
		s := &all[i]
		for _, l := range s.Changes {
			row(s, "%s\t%.1g\t%s and %s", l, l.P, measure.ShortRevision(l.After), measure.ShortRevision(l.Before))
		}
		if s.Drift != nil {
			row(s, "%s\tdrift\tsince %s", s.Drift, measure.ShortRevision(s.Drift.Since))
		}
	}
	return n
}

// newest writes a row for each series whose last value is slower, or may be, and
// returns how many there are.
func newest(w io.Writer, all []series) (n int) {
	for i := range all {
		s, e := &all[i], all[i].Newest
		if e.Verdict != detect.Regressed && e.Verdict != detect.Suspect {
			continue
		}
		if n++; n == 1 {
			fmt.Fprintf(w, "\nnewest run of\tcell\tmetric\tchange\t95 %%\tp\tverdict\n")
		}
		fmt.Fprintf(w, s.name()+"\t%s\t%+.1f … %+.1f\t%.1g\t%s\n", e, 100*e.Interval[0], 100*e.Interval[1], e.P, e.Verdict)
	}
	return n
}

// name is that of a series, in columns, fit to print and to be a format.
func (s *series) name() string {
	return strings.ReplaceAll(text.OneLine(s.Host)+"\t"+text.OneLine(s.Cell)+"\t"+text.OneLine(s.Metric), "%", "%%")
}
