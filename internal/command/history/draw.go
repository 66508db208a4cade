package history

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/report/chart"
	"github.com/accelgate/accelgate/internal/text"
)

// maxDrawn is how many series are drawn at most.
const maxDrawn = 10

// draw draws the series of o.Cell, in plain text that is as wide as the terminal.
func (o *Options) draw(w io.Writer, all []Series) error {
	for i := range all[:min(maxDrawn, len(all))] {
		s := &all[i]
		const rows = 8
		lines, shown := s.Chart().Text(cmp.Or(o.Columns, 100), rows)
		if _, err := fmt.Fprintf(w, "%s\n%s\n%s\n\n", s.title(), strings.Join(lines, "\n"), strings.Join(s.facts(shown), "\n")); err != nil {
			return err
		}
	}
	if more := len(all) - maxDrawn; more > 0 {
		fmt.Fprintf(w, "... and %d more series: give --cell an id instead of a pattern\n", more)
	}
	_, err := fmt.Fprintln(w, "* a run, o one of an unhealthy host, # the newest, : a change of level")
	return err
}

// title is "m__cpu__tg__baseline on desk: decode_tps, tok/s, higher is better".
func (s *Series) title() string {
	parts := []string{text.OneLine(s.Metric)}
	if s.Unit != "" {
		parts = append(parts, text.OneLine(s.Unit))
	}
	if s.Better == bench.Higher || s.Better == bench.Lower {
		parts = append(parts, string(s.Better)+" is better")
	}
	return text.OneLine(s.Cell) + " on " + text.OneLine(s.Host) + ": " + strings.Join(parts, ", ")
}

// facts say which runs are drawn, and what the history shows.
func (s *Series) facts(shown int) []string {
	first := len(s.Values) - shown
	lines := []string{
		fmt.Sprintf("%s from %s to %s", text.Plural(shown, "run"), measure.ShortRevision(s.Revisions[first]),
			measure.ShortRevision(s.Revisions[len(s.Revisions)-1])),
	}
	if first > 0 {
		lines[0] += fmt.Sprintf("; %d earlier are not shown", first)
	}
	if s.Runs < minHistory {
		return append(lines, fmt.Sprintf("%s: finding a change takes %d", text.Plural(s.Runs, "value"), minHistory))
	}
	for _, l := range s.Changes {
		lines = append(lines,
			fmt.Sprintf("level: %s between %s and %s, p %.1g", l, measure.ShortRevision(l.After), measure.ShortRevision(l.Before), l.P))
	}
	if s.Drift != nil {
		lines = append(lines, fmt.Sprintf("drift: %s since %s", s.Drift, measure.ShortRevision(s.Drift.Since)))
	}
	if e := s.Newest; e != nil && !math.IsNaN(s.Values[len(s.Values)-1]) {
		lines = append(lines, fmt.Sprintf("newest run: %s, %s", e, e.Verdict))
	}
	return lines
}

// Chart is the series to draw, without names, which are foreign, and without an anchor.
func (s *Series) Chart() chart.Trend {
	t := chart.Trend{Values: s.Values}
	if len(s.Unhealthy) > 0 {
		t.Doubtful = make([]bool, len(s.Values))
		for _, i := range s.Unhealthy {
			t.Doubtful[i] = true
		}
	}
	for _, l := range s.Changes {
		t.Changes = append(t.Changes, l.At)
	}
	return t
}

// drawable returns the series that have a trend. It fails if there are none.
func (o *Options) drawable(all []Series, runs []*bench.Run) (kept []Series, err error) {
	for i := range all {
		if all[i].Runs >= 2 {
			kept = append(kept, all[i])
		}
	}
	switch {
	case len(kept) > 0:
		return kept, nil
	case len(all) > 0:
		return nil, fmt.Errorf("%s has a single run, and a trend takes two: record more with 'accelgate history record'",
			text.ShellQuote(o.Cell))
	}
	var ids []string
	for _, s := range Collect(slices.Values(runs), Options{All: o.All}) {
		ids = append(ids, s.Cell)
	}
	near := text.NearestID(o.Cell, ids)
	if near != "" {
		near = " (did you mean " + text.ShellQuote(near) + "?)"
	}
	return nil, exit.Usagef("--cell: %s has no cell %q with a gated metric%s: list the cells with 'accelgate list --cells', or add --all",
		text.Plural(len(runs), "run"), text.OneLine(o.Cell), near)
}
