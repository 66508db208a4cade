package models

import (
	"cmp"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/matrix"
	"github.com/accelgate/accelgate/internal/nearest"
	"github.com/accelgate/accelgate/internal/parse"
)

// demanded reports whether the cell must report the metric. A metric that is gated
// in place of another one is demanded with that one.
func (m metric) demanded(c bench.Cell) bool {
	switch {
	case m.Informational || m.Optional || m.FallbackFor != "":
		return false
	}
	return len(m.When) == 0 || matrix.Match(m.When).Selects(c)
}

// Demands lists the metrics that the cell must report, each with those that may
// stand in for it.
func (s *Suite) Demands(c bench.Cell) (demands [][]string) {
	for _, m := range s.body.Metrics {
		if m.demanded(c) {
			demands = append(demands, append([]string{m.Name}, s.standIns(m.Name)...))
		}
	}
	return demands
}

func (s *Suite) standIns(metric string) (names []string) {
	for _, m := range s.body.Metrics {
		if m.FallbackFor == metric {
			names = append(names, m.Name)
		}
	}
	return names
}

// absent notes which metrics a cell that passed should have reported and did not,
// and what its output held instead.
func (s *Suite) absent(result *bench.Result, keys func() []string) {
	if result.Outcome != bench.Passed {
		return
	}
	for _, names := range s.Demands(result.Cell) {
		if slices.ContainsFunc(names, func(name string) bool { return result.Sample(name) != nil }) {
			continue
		}
		if result.Absent == nil {
			result.Keys = keys()
		}
		result.Absent = append(result.Absent, s.lack(names[0], result.Keys))
	}
}

func (s *Suite) lack(name string, keys []string) bench.Absent {
	i := slices.IndexFunc(s.body.Metrics, func(m metric) bool { return m.Name == name })
	m := s.body.Metrics[i]
	a := bench.Absent{Metric: name, At: "json: " + m.JSON}
	switch {
	case s.body.Parser != "":
		a.At = "parser: " + s.body.Parser
	case m.JSON == "":
		a.At = "regexp: " + m.Regexp
	}
	word := strings.TrimPrefix(cmp.Or(m.JSON, name), "$.")
	a.Near = nearest.Word(word, keys)
	return a
}

// keysOf names what the numbers of an output are called.
func (r *reader) keysOf(printed parse.Output) func() []string {
	return func() (keys []string) {
		if r.format == nil {
			return parse.NewDocument(printed.Stdout).Keys(bench.MaxKeys, bench.MaxKey)
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
