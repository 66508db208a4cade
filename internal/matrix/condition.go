package matrix

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/expr-lang/expr/vm"
)

// condition is a predicate of one expansion. It is evaluated once per
// combination of the axes that it names, whatever the other axes are: most
// name one or two. A nil condition always holds.
type condition struct {
	*Predicate
	axes    []Axis
	names   []name
	depends []int // axes, ascending
	known   []truth
	env     map[string]any
	vm      vm.VM
}

// name is a name of the predicate and where its value comes from.
type name struct {
	full     string
	axis     int // -1: the tags of all
	variable string
}

// truth is a result that may not be known yet.
type truth uint8

const (
	unknown truth = iota
	no
	yes
)

// bind prepares p for the combinations of axes.
func bind(p *Predicate, axes []Axis) (*condition, error) {
	if p == nil {
		return nil, nil
	}
	c := &condition{Predicate: p, axes: axes, env: make(map[string]any, len(p.env)), vm: vm.VM{MemoryBudget: memoryBudget}}
	maps.Copy(c.env, p.env)
	for _, full := range p.names() {
		if err := c.add(full); err != nil {
			return nil, err
		}
	}
	slices.Sort(c.depends)
	c.depends = slices.Compact(c.depends)
	size := 1
	for _, axis := range c.depends {
		size *= len(axes[axis].Values)
	}
	c.known = make([]truth, size)
	return c, nil
}

func (c *condition) add(full string) error {
	key, variable, _ := strings.Cut(full, ".")
	if key == "tags" {
		c.names = append(c.names, name{full, -1, ""})
		for i, a := range c.axes {
			if slices.ContainsFunc(a.Values, func(v Value) bool { return len(v.Tags) > 0 }) {
				c.depends = append(c.depends, i)
			}
		}
		return nil
	}
	axis := slices.IndexFunc(c.axes, func(a Axis) bool { return a.Key == key })
	if axis < 0 {
		return fmt.Errorf("%q names the axis %s, which this matrix does not have: compile it for the axes of the matrix", c.text, key)
	}
	c.names, c.depends = append(c.names, name{full, axis, variable}), append(c.depends, axis)
	return nil
}

// holds reports whether the predicate is true of the combination, which must
// be one of the axes that the condition was bound to.
func (c *condition) holds(at Combination) (bool, error) {
	if c == nil {
		return true, nil
	}
	i := 0
	for _, axis := range c.depends {
		i = i*len(c.axes[axis].Values) + at.at[axis]
	}
	if c.known[i] == unknown {
		result, err := c.evaluate(at)
		if err != nil {
			return false, err
		}
		c.known[i] = no
		if result {
			c.known[i] = yes
		}
	}
	return c.known[i] == yes, nil
}

func (c *condition) evaluate(at Combination) (bool, error) {
	for _, n := range c.names {
		switch {
		case n.axis < 0:
			c.env[n.full] = at.tags()
		case n.variable == "":
			c.env[n.full] = at.value(n.axis).ID
		default:
			c.env[n.full] = at.value(n.axis).Vars[n.variable]
		}
	}
	result, err := c.vm.Run(c.program, c.env)
	if err != nil {
		return false, fmt.Errorf("at %s: %w", at, located(c.text, err, "make it hold for every combination, or guard it with and"))
	}
	return result.(bool), nil // Compile has checked the type
}
