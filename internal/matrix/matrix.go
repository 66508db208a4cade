// Package matrix expands axes to cells: the product of the axes, sweeps of
// environment variables one at a time or as a product, predicates, includes,
// excludes, filters and shards. It reads no file and is independent of kinds.
package matrix

import (
	"fmt"

	"github.com/accelgate/accelgate/internal/bench"
)

// maxCells bounds an expansion, and the combinations of its axes: a typing
// error must not fill the memory.
const maxCells = 1_000_000

// maxSweeps bounds the sweeps of a matrix. TensorSharp, which has the most of
// the programs with presets, sweeps 23 variables.
const maxSweeps = 128

// Plain is the value of the "env" parameter of a cell that no sweep touches;
// TensorSharp's ids end in it.
const Plain = "baseline"

// envKey is the parameter of an unswept cell.
const envKey = "env"

// Axis is one dimension: every value meets every value of the other axes.
type Axis struct {
	Key    string // an identifier of letters, digits and underscores, so that predicates can name it
	Values []Value
}

// Value is one value of an axis.
type Value struct {
	ID   string            // what ids and predicates call it
	Vars map[string]string // what predicates may ask of it
	Tags []string
}

// Sweep sets one environment variable to each of its values.
type Sweep struct {
	Env    string
	Values []string
	// Default is the value that the plain cell runs with. If it is empty or
	// none of Values, no value equals the plain cell.
	Default string
	When    *Predicate // of the combinations that the sweep applies to; nil: all
	Tags    []string   // of the cells that set the variable
}

// standard reports whether the plain cell runs with v.
func (s *Sweep) standard(v string) bool { return v != "" && v == s.Default }

// Mode describes how sweeps meet each other.
type Mode string

// The modes. The zero value means OneAtATime.
const (
	// OneAtATime changes one variable per cell. The value equal to a sweep's
	// default is left out, because it is the plain cell once more.
	OneAtATime Mode = "one-at-a-time"
	// Product combines the values of all sweeps that apply. A variable at its
	// default is left out of the cell, so no two cells run the same thing. A
	// sweep whose default is one of its values therefore has as many options
	// as values; one without has all its values and is unset in the plain cell
	// only. So v1, ..., vn values make v1*...*vn cells with the plain one, and
	// one more if any of the sweeps has no default among its values.
	Product Mode = "product"
)

// Spec is a matrix. Cells come in the order of nested loops, first axis
// slowest, and per combination of axis values the plain cell first, then the
// swept ones: sweep by sweep, or in a product as nested loops, first sweep
// slowest, with a default before the other values.
type Spec struct {
	Suite  string
	Axes   []Axis
	Sweeps []Sweep
	Mode   Mode
	// NoisePairs adds cells that run what the plain cell runs, with variables
	// written at their defaults: the difference is noise. One at a time, there
	// is one for each sweep that has its default among its values; in a
	// product, there is one at the end of each combination, with all variables
	// that apply, if all of them have such a default.
	NoisePairs bool
	When       *Predicate // of the combinations that exist; nil: all
	// Exclude drops the cells that any of its entries selects. A variable that
	// a cell leaves out has no value in it, not even its default.
	Exclude []Match
	// Include adds one cell per entry after all others, whatever the
	// predicates and Exclude say. It names a value for each axis, and swept
	// variables with any values: at most one of them unless Mode is Product.
	// Either all of the variables are at their defaults, which makes a noise
	// pair, or none.
	Include []Match
	// Skip is why this host cannot run a combination, or "" if it can. Such
	// a combination is one plain Point with the reason. Nil: it can run all.
	// The argument is valid until Skip returns.
	Skip func(Combination) string
}

// Point is a cell with what the matrix records about it.
type Point struct {
	Cell bench.Cell
	Skip string // why this host cannot run the cell; "" if it can
	// Partner is the id of the plain cell that runs the same thing; "" if the
	// cell is no noise pair, or if the plain cell is excluded.
	Partner string
	// Tags are those of the axis values and of the swept variables, sorted,
	// each once. Points share the slice: do not write to it.
	Tags []string
}

// Combination is one value per axis.
type Combination struct {
	axes []Axis
	at   []int // index of the value, by axis
}

// Get returns the value of the axis, or the zero Value if there is no such
// axis.
func (c Combination) Get(key string) Value {
	for i := range c.axes {
		if c.axes[i].Key == key {
			return *c.value(i)
		}
	}
	return Value{}
}

// String returns the ids of the values, for messages.
func (c Combination) String() string { return bench.Cell{Params: c.params(0)}.ID() }

func (c Combination) value(axis int) *Value { return &c.axes[axis].Values[c.at[axis]] }

// tags of the values, sorted, each once.
func (c Combination) tags() []string {
	var tags []string
	for i := range c.axes {
		tags = append(tags, c.value(i).Tags...)
	}
	return sorted(tags)
}

// params of a cell, with room for extra more.
func (c Combination) params(extra int) []bench.Param {
	params := make([]bench.Param, 0, len(c.axes)+extra)
	for i := range c.axes {
		params = append(params, bench.Param{Key: c.axes[i].Key, Value: c.value(i).ID})
	}
	return params
}

// Unique reports the first case id that stands twice, with both suites.
func Unique(cells []bench.Cell) error {
	seen := make(map[string]string, len(cells))
	for _, c := range cells {
		id := c.ID()
		if suite, ok := seen[id]; ok {
			return fmt.Errorf("case id %q occurs twice (suites %q and %q): rename a model, a feature or a case, "+
				"or set prefix in a suite of kind exec", id, suite, c.Suite)
		}
		seen[id] = c.Suite
	}
	return nil
}
