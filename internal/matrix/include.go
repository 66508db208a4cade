package matrix

import (
	"fmt"

	"github.com/accelgate/accelgate/internal/bench"
)

// include appends the cells that the entries of Include spell out. Only they
// can repeat an id: the values of axes and sweeps are distinct, and ids split
// back into them.
func (e *expansion) include() error {
	if len(e.Include) == 0 {
		return nil
	}
	ids := make(map[string]bool, len(e.points)+len(e.Include))
	for i := range e.points {
		ids[e.points[i].Cell.ID()] = true
	}
	first := len(e.points)
	for i, m := range e.Include {
		if err := e.includeOne(m); err != nil {
			return fmt.Errorf("include[%d]: %w", i, err)
		}
		id := e.points[len(e.points)-1].Cell.ID()
		if ids[id] {
			return fmt.Errorf("include[%d]: case id %q occurs twice: remove the entry", i, id)
		}
		ids[id] = true
	}
	for i := first; i < len(e.points); i++ {
		if !ids[e.points[i].Partner] {
			e.points[i].Partner = ""
		}
	}
	return nil
}

func (e *expansion) includeOne(m Match) error {
	if err := e.known(m); err != nil {
		return err
	}
	if v, ok := m[envKey]; ok && v != Plain {
		return fmt.Errorf("env is %q: leave it out, and name the variable itself", v)
	}
	c, err := e.spelled(m)
	if err != nil {
		return err
	}
	set, standard, tags, err := e.variables(m)
	if err != nil {
		return err
	}
	p := Point{Cell: bench.Cell{Suite: e.Suite, Params: append(c.params(len(set)), set...)}, Tags: sorted(c.tags(), tags)}
	if e.Skip != nil {
		p.Skip = e.Skip(c)
	}
	if standard {
		plain := bench.Param{Key: envKey, Value: Plain}
		p.Partner = bench.Cell{Params: append(c.params(1), plain)}.ID()
	}
	e.points = append(e.points, p)
	return nil
}

// spelled is the combination that m names. Its values need not be in the axes.
func (e *expansion) spelled(m Match) (Combination, error) {
	c := Combination{axes: make([]Axis, len(e.Axes)), at: make([]int, len(e.Axes))}
	for i, a := range e.Axes {
		id := m[a.Key]
		if id == "" {
			return c, fmt.Errorf("%s is missing: an included cell names every axis", a.Key)
		}
		value := Value{ID: id}
		for _, v := range a.Values {
			if v.ID == id {
				value = v
			}
		}
		c.axes[i] = Axis{Key: a.Key, Values: []Value{value}}
	}
	return c, nil
}

// variables are those that m sets, in the order of the sweeps, or the plain
// parameter; standard says that all are at their defaults.
func (e *expansion) variables(m Match) (set []bench.Param, standard bool, tags []string, err error) {
	var defaults []string
	for i := range e.Sweeps {
		sweep := &e.Sweeps[i]
		v, ok := m[sweep.Env]
		switch {
		case !ok:
			continue
		case v == "":
			return nil, false, nil, fmt.Errorf("%s is empty: give it a value or leave it out", sweep.Env)
		case e.defaults(i) && sweep.standard(v):
			defaults = append(defaults, sweep.Env)
		}
		set, tags = append(set, sweep.param(v)), append(tags, sweep.Tags...)
	}
	switch {
	case len(set) == 0:
		return []bench.Param{{Key: envKey, Value: Plain}}, false, nil, nil
	case len(set) > 1 && e.Mode != Product:
		return nil, false, nil, fmt.Errorf("%d variables are named: a cell sets at most one variable unless the mode is %s", len(set),
			Product)
	case len(defaults) > 0 && len(defaults) < len(set):
		return nil, false, nil, fmt.Errorf("%s is at its default: leave it out beside variables that are not", defaults[0])
	}
	return set, len(defaults) > 0, tags, nil
}
