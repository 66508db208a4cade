package measure

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/text"
)

// relate computes the relations of all results anew, one value for each measurement of both cells.
func (p *Plan) relate(run *bench.Run) {
	p.unrelate(run)
	at := make(map[string]*bench.Result, len(run.Results))
	for i := range run.Results {
		if r := &run.Results[i]; len(p.relations(r.Cell.Suite)) > 0 {
			at[place(r.Cell, nil)] = r
		}
	}
	for i := range run.Results {
		r := &run.Results[i]
		relations := p.relations(r.Cell.Suite)
		for _, name := range slices.Sorted(maps.Keys(relations)) {
			relation := relations[name]
			if other := partnerOf(r, &relation, at); other != nil && r.Outcome == bench.Passed {
				addRelation(r, other, name, &relation)
			}
		}
	}
}

// partnerOf is the result that a relation compares one with, itself where both metrics are of one cell; nil where there is none.
func partnerOf(r *bench.Result, relation *config.Relation, at map[string]*bench.Result) *bench.Result {
	i := relation.Other()
	if i < 0 {
		return r
	}
	if other := at[place(r.Cell, relation.Terms[i].Cell)]; other != r {
		return other
	}
	return nil
}

// noRelation begins the warning of a cell that lacks a relation.
const noRelation = "there is no "

// addRelation adds a relation to a result, or why it has none.
func addRelation(r, other *bench.Result, name string, relation *config.Relation) {
	of := [2]*bench.Result{r, r}
	if i := relation.Other(); i >= 0 {
		of[i] = other
	}
	lacks := func(why string) {
		why = text.Clip(relation.Text+", and "+why, bench.MaxFact/2)
		r.Absent = append(r.Absent, bench.Absent{Metric: name, At: why})
		r.Warnings = append(slices.Clip(r.Warnings), noRelation+name+" ("+why+"): see the log of that cell")
	}
	var samples [2]*bench.Sample
	for i, t := range relation.Terms {
		if of[i].Outcome == bench.Passed {
			samples[i] = of[i].Used(t.Metric)
		}
		if samples[i] == nil || len(samples[i].Values) == 0 {
			lacks(fmt.Sprintf("cell %s has no value of %s", of[i].Cell.ID(), t.Metric))
			return
		}
	}
	a, b := samples[0], samples[1]
	n := min(len(a.Values), len(b.Values))
	sample := bench.Sample{Metric: name}
	for i := range n {
		v, ok := quotient(a.Values[i], b.Values[i], relation.Difference)
		if !ok {
			lacks(fmt.Sprintf("%v / %v has no value", a.Values[i], b.Values[i]))
			return
		}
		sample.Values = append(sample.Values, v)
	}
	if len(a.Base) == len(a.Values) && len(b.Base) == len(b.Values) {
		for i := range n {
			if v, ok := quotient(a.Base[i], b.Base[i], relation.Difference); ok {
				sample.Base = append(sample.Base, v)
			}
		}
	}
	if len(sample.Base) < n { // of fewer pairs none
		sample.Base = nil
	}
	r.Samples = append(r.Samples, sample)
}

// quotient is the ratio or difference of two values.
func quotient(a, b float64, difference bool) (v float64, ok bool) {
	if difference {
		return a - b, bench.Finite(a - b)
	}
	return a / b, b != 0 && bench.Finite(a/b)
}

// unrelate takes the relations out of results, which are measured again.
func (p *Plan) unrelate(run *bench.Run) {
	for i := range run.Results {
		r := &run.Results[i]
		relations := p.relations(r.Cell.Suite)
		if len(relations) == 0 {
			continue
		}
		r.Samples = slices.DeleteFunc(r.Samples, func(s bench.Sample) bool { _, is := relations[s.Metric]; return is })
		r.Warnings = slices.DeleteFunc(r.Warnings, func(w string) bool {
			name, _, _ := strings.Cut(strings.TrimPrefix(w, noRelation), " (")
			_, is := relations[name]
			return is && strings.HasPrefix(w, noRelation)
		})
		r.Absent = slices.DeleteFunc(r.Absent, func(a bench.Absent) bool { _, is := relations[a.Metric]; return is })
	}
}

// withPartners measures the cells as often as those that relations compare with them.
func (p *Plan) withPartners(run *bench.Run, more map[string]int) {
	at := map[string]string{}
	for i := range run.Results {
		at[place(run.Results[i].Cell, nil)] = run.Results[i].Cell.ID()
	}
	for i := range run.Results {
		c := run.Results[i].Cell
		n := more[c.ID()]
		if n == 0 {
			continue
		}
		for _, partner := range p.partners(c) {
			if id, ok := at[partner]; ok {
				more[id] = max(more[id], n)
			}
		}
	}
}
