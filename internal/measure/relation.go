package measure

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/matrix"
	"github.com/accelgate/accelgate/internal/text"
)

// withRelations adds the relations of a suite to its metrics, which are not modified. One is shown, unless a limit names its
// change.
func withRelations(s *config.Suite, metrics []bench.Metric) ([]bench.Metric, error) {
	all := bench.Run{Metrics: metrics[:len(metrics):len(metrics)]}
	for _, name := range slices.Sorted(maps.Keys(s.Relations)) {
		r := s.Relations[name]
		of := [2]*bench.Metric{}
		for i, t := range r.Terms {
			if of[i] = cmp.Or(all.Metric(t.Metric), bench.Resource(t.Metric)); of[i] == nil {
				return nil, s.Errorf("relations."+name, "the suite has no metric %s: %s",
					text.Quote(t.Metric, 80), text.Instead(t.Metric, names(all.Metrics)))
			}
		}
		if all.Metric(name) != nil || bench.Resource(name) != nil {
			return nil, s.Errorf("relations."+name, "a metric has this name: use another one")
		}
		all.Metrics = append(all.Metrics, describe(s, name, &r, of))
	}
	return all.Metrics, nil
}

// describe is the relation as a metric: it is better where the metric of the cell itself is.
func describe(s *config.Suite, name string, r *config.Relation, of [2]*bench.Metric) bench.Metric {
	gated := func(l config.Limit) bool { return l.Metric == name && l.Change != nil }
	m := bench.Metric{Name: name, Unit: "x", Better: of[0].Better, Definition: r.Text, Informational: !slices.ContainsFunc(s.Limits, gated)}
	if r.Difference {
		m.Unit, m.Kind = of[0].Unit, bench.Score // which may be negative
	}
	if r.Other() == 0 { // more of another cell is better where less of this one is
		m.Better = bench.Lower
		if of[1].Better == bench.Lower {
			m.Better = bench.Higher
		}
	}
	return m
}

func names(metrics []bench.Metric) (all []string) {
	for i := range metrics {
		all = append(all, metrics[i].Name)
	}
	return all
}

// relations are those of a suite.
func (p *Plan) relations(suite string) map[string]config.Relation {
	for i := range p.File.Suites {
		if s := &p.File.Suites[i]; s.Name == suite {
			return s.Relations
		}
	}
	return nil
}

// place identifies a cell by its suite and parameters, of which some may have other values.
func place(c bench.Cell, values [][2]string) string {
	params := map[string]string{}
	for _, p := range c.Params {
		params[strings.TrimPrefix(p.Key, bench.EnvPrefix)] = p.Value
	}
	for _, v := range values {
		if v == [2]string{"env", matrix.Plain} {
			maps.DeleteFunc(params, func(key, _ string) bool { return c.Get(bench.EnvPrefix+key) != "" })
		}
		params[v[0]] = v[1]
	}
	var b strings.Builder
	b.WriteString(c.Suite)
	for _, key := range slices.Sorted(maps.Keys(params)) {
		fmt.Fprintf(&b, "\x00%s\x00%s", key, params[key])
	}
	return b.String()
}

// partners are the cells that relations compare a cell with, each by its place, and never the cell itself.
func (p *Plan) partners(c bench.Cell) (places []string) {
	for _, r := range p.relations(c.Suite) {
		if i := r.Other(); i >= 0 {
			if at := place(c, r.Terms[i].Cell); at != place(c, nil) {
				places = append(places, at)
			}
		}
	}
	return places
}

// hasRelation reports whether a cell has a relation, among cells at these places.
func hasRelation(c bench.Cell, r *config.Relation, at map[string]bool) bool {
	i := r.Other()
	if i < 0 {
		return true
	}
	partner := place(c, r.Terms[i].Cell)
	return partner != place(c, nil) && at[partner]
}

// checkRelations refuses relations and limits of them that no cell can have.
func (p *Plan) checkRelations(s *config.Suite, all []bench.Cell) error {
	if len(s.Relations) == 0 || len(all) == 0 {
		return nil
	}
	at := map[string]bool{}
	for _, c := range all {
		at[place(c, nil)] = true
	}
	for _, name := range slices.Sorted(maps.Keys(s.Relations)) {
		r := s.Relations[name]
		has := func(c bench.Cell) bool { return hasRelation(c, &r, at) }
		if !slices.ContainsFunc(all, has) {
			return s.Errorf("relations."+name, "no cell of the suite has such a partner: compare the values in brackets with 'accelgate plan --list'")
		}
		for i, l := range s.Limits {
			of := matrix.WhenOf(l.When)
			if l.Metric != name || !of.On(p.Host.Label) {
				continue
			}
			if n := slices.IndexFunc(all, func(c bench.Cell) bool { return of.Selects(c) && !has(c) }); n >= 0 {
				return s.Errorf(fmt.Sprintf("limits[%d]", i), "%s is a relation that the cell %s does not have: leave that cell out by when",
					name, text.Quote(all[n].ID(), 200))
			}
		}
	}
	return nil
}

// related merges the numbers of cells that relations compare or that share a process, which are measured on one device and in
// one shard.
func (p *Plan) related(of *Planned, cells []bench.Cell, numbers []int) []int {
	sharing := of.Plan.Sharing
	if len(p.relations(of.Name)) == 0 && sharing == nil {
		return numbers
	}
	at, processes := map[string]int{}, map[string]int{}
	for i, c := range cells {
		at[place(c, nil)] = i
	}
	return merge(numbers, func(link func(i, j int)) {
		for i, c := range cells {
			if sharing != nil {
				process := sharing.Process(c)
				if j, known := processes[process]; known && process != "" {
					link(i, j)
				}
				processes[process] = i
			}
			for _, partner := range p.partners(c) {
				if j, ok := at[partner]; ok {
					link(i, j)
				}
			}
		}
	})
}

// wantsPartners adds the cells that relations of wanted ones need.
func (p *Plan) wantsPartners(s *Planned, want func(bench.Cell) bool) func(bench.Cell) bool {
	if len(p.relations(s.Name)) == 0 {
		return want
	}
	needed := map[string]bool{}
	for _, c := range s.Cells {
		if want(c) {
			for _, at := range p.partners(c) {
				needed[at] = true
			}
		}
	}
	return func(c bench.Cell) bool { return want(c) || needed[place(c, nil)] }
}
