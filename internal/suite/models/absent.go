package models

import (
	"cmp"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/formats"
	"github.com/accelgate/accelgate/internal/matrix"
	"github.com/accelgate/accelgate/internal/text"
)

// demand returns which metrics each cell must report: those that are gated, unless
// they are gated in place of another one or of other cells. A metric that is
// optional counts if the suite itself lists it, because a preset is for programs
// with several modes.
func demand(c *config.Suite) (func(bench.Cell) []bench.Demand, error) {
	b, err := load(c)
	if err != nil {
		return nil, err
	}
	return b.demands, nil
}

func (b *body) demands(cell bench.Cell) []bench.Demand {
	demands := make([]bench.Demand, 0, len(b.Metrics))
	for _, m := range b.Metrics {
		switch {
		case !b.of(cell, m.Name):
		case m.Informational || m.FallbackFor != "" || m.Optional && !b.own:
		case len(m.When) == 0 || matrix.Match(m.When).Selects(cell):
			demands = append(demands,
				bench.Demand{Metrics: append([]string{m.Name}, b.standIns(m.Name)...), At: b.at(m), Optional: m.Optional})
		}
	}
	return demands
}

func (b *body) standIns(metric string) (names []string) {
	for _, m := range b.Metrics {
		if m.FallbackFor == metric {
			names = append(names, m.Name)
		}
	}
	return names
}

// at returns where the suite looks for the metric.
func (b *body) at(m metric) string {
	switch {
	case b.Parser != "":
		return "parser: " + b.Parser
	case m.JSON == "":
		return "regexp: " + m.Regexp
	}
	return "json: " + m.JSON
}

// absent notes which metrics a cell that passed should have reported and did not,
// and what its output held instead.
func (s *Suite) absent(result *bench.Result, keys func() []string) {
	if result.Outcome != bench.Passed {
		return
	}
	for _, d := range append(s.body.demands(result.Cell), s.rowlessAt(result.Cell)...) {
		if d.Met(result) {
			continue
		}
		if result.Absent == nil {
			result.Keys = keys()
		}
		result.Absent = append(result.Absent, s.lack(d, result.Keys))
	}
}

// rowlessAt are the gated metrics of rows of which there is none. The first cell that is measured lacks them.
func (s *Suite) rowlessAt(cell bench.Cell) (demands []bench.Demand) {
	if len(s.rowless) == 0 || cell.ID() != s.first {
		return nil
	}
	for _, m := range s.body.Metrics {
		if slices.Contains(s.rowless, m.Name) && !m.Informational && !m.Optional {
			demands = append(demands, bench.Demand{Metrics: []string{m.Name}, At: s.body.at(m)})
		}
	}
	return demands
}

func (s *Suite) lack(d bench.Demand, keys []string) bench.Absent {
	name := d.Metrics[0]
	m := s.body.Metrics[slices.IndexFunc(s.body.Metrics, func(m metric) bool { return m.Name == name })]
	word := strings.TrimPrefix(cmp.Or(m.JSON, name), "$.")
	return bench.Absent{Metric: name, At: d.At, Near: text.Nearest(word, keys), Optional: d.Optional}
}

// keysOf names what the numbers of an output are called.
func (r *reader) keysOf(printed formats.Output) func() []string {
	return func() (keys []string) {
		if r.format == nil {
			return printed.Document().Keys(bench.MaxKeys, bench.MaxKey)
		}
		reading, err := r.format(printed)
		if err != nil {
			return nil
		}
		for _, v := range reading.Values[:min(len(reading.Values), bench.MaxKeys)] {
			if len(v.Metric) <= bench.MaxKey {
				keys = append(keys, v.Metric)
			}
		}
		return keys
	}
}
