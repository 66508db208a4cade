// Package matrix expands axes to cells: the product of the axes, one-at-a-time
// sweeps of environment variables, includes, excludes and filters. It reads no
// file and knows no kind of suite.
package matrix

import (
	"fmt"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
)

// MaxCells bounds an expansion: a typing error must not fill the memory.
const MaxCells = 1_000_000

// Plain is the value of the "env" parameter of a cell that no sweep touches;
// TensorSharp's ids end in it.
const Plain = "baseline"

// envKey is the parameter of an unswept cell.
const envKey = "env"

// Axis is one dimension: every value meets every value of the other axes.
type Axis struct {
	Key    string
	Values []string
}

// Sweep sets one environment variable to each of its values, one at a time:
// sweeps are never combined with each other.
type Sweep struct {
	Env    string
	Values []string
}

// Match selects cells: each key names an axis, "env", or a swept variable, and
// each value is a [Glob] that the cell's value must match. An empty Match
// selects nothing.
type Match map[string]string

// Spec is a matrix. Cells come in the order of nested loops, first axis
// slowest, and per combination the plain cell first, then each sweep in turn.
type Spec struct {
	Suite  string
	Axes   []Axis
	Sweeps []Sweep
	// Exclude drops the cells that any of its entries selects.
	Exclude []Match
	// Include adds one cell per entry after the product. It names a value for
	// each axis, and at most one swept variable with any value.
	Include []Match
}

// Expand returns the cells of the matrix. The error says which axis is empty,
// which value stands twice, or that there are more than [MaxCells].
func (s Spec) Expand() ([]bench.Cell, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	cells := make([]bench.Cell, 0, s.size())
	s.product(0, nil, func(params []bench.Param) {
		for _, cell := range s.variants(params) {
			if !slices.ContainsFunc(s.Exclude, func(m Match) bool { return m.Selects(cell) }) {
				cells = append(cells, cell)
			}
		}
	})
	for i, m := range s.Include {
		cell, err := s.include(m)
		if err != nil {
			return nil, fmt.Errorf("include[%d]: %w", i, err)
		}
		cells = append(cells, cell)
	}
	return cells, Unique(cells)
}

func (s Spec) check() error {
	for _, a := range s.Axes {
		if err := distinct(a.Key, a.Values); err != nil {
			return err
		}
	}
	for _, sweep := range s.Sweeps {
		if err := distinct(sweep.Env, sweep.Values); err != nil {
			return err
		}
	}
	if n := s.size(); n > MaxCells {
		return fmt.Errorf("the matrix has %d cells, more than %d: shorten an axis or split the suite", n, MaxCells)
	}
	for i, m := range s.Exclude {
		if err := s.known(m); err != nil {
			return fmt.Errorf("exclude[%d]: %w", i, err)
		}
	}
	return nil
}

func distinct(key string, values []string) error {
	if len(values) == 0 {
		return fmt.Errorf("%s has no values: add at least one", key)
	}
	seen := make(map[string]bool, len(values))
	for _, v := range values {
		if v == "" {
			return fmt.Errorf("%s has an empty value: name it", key)
		}
		if seen[v] {
			return fmt.Errorf("%s has %q twice: remove one", key, v)
		}
		seen[v] = true
	}
	return nil
}

// size is the number of cells of the product, saturating above MaxCells.
func (s Spec) size() int {
	n := 1
	for _, sweep := range s.Sweeps {
		n += len(sweep.Values)
	}
	for _, a := range s.Axes {
		n *= len(a.Values)
		if n > MaxCells {
			return n
		}
	}
	return n
}

func (s Spec) product(axis int, params []bench.Param, yield func([]bench.Param)) {
	if axis == len(s.Axes) {
		yield(params)
		return
	}
	a := s.Axes[axis]
	for _, v := range a.Values {
		s.product(axis+1, append(params, bench.Param{Key: a.Key, Value: v}), yield)
	}
}

// variants returns the plain cell of params and one cell per swept value.
func (s Spec) variants(params []bench.Param) []bench.Cell {
	cells := []bench.Cell{s.cell(params, bench.Param{Key: envKey, Value: Plain})}
	for _, sweep := range s.Sweeps {
		for _, v := range sweep.Values {
			cells = append(cells, s.cell(params, bench.Param{Key: bench.EnvPrefix + sweep.Env, Value: v}))
		}
	}
	return cells
}

func (s Spec) cell(params []bench.Param, last bench.Param) bench.Cell {
	return bench.Cell{Suite: s.Suite, Params: append(slices.Clone(params), last)}
}

// include makes the one cell that m spells out.
func (s Spec) include(m Match) (bench.Cell, error) {
	if err := s.known(m); err != nil {
		return bench.Cell{}, err
	}
	var params []bench.Param
	last := bench.Param{Key: envKey, Value: Plain}
	for _, a := range s.Axes {
		v, ok := m[a.Key]
		if !ok || v == "" {
			return bench.Cell{}, fmt.Errorf("%s is missing: an included cell names every axis", a.Key)
		}
		params = append(params, bench.Param{Key: a.Key, Value: v})
	}
	if v, ok := m[envKey]; ok && v != Plain {
		return bench.Cell{}, fmt.Errorf("env is %q: leave it out, and name the variable itself", v)
	}
	for key, v := range m {
		if s.axis(key) || key == envKey {
			continue
		}
		if last.Key != envKey {
			return bench.Cell{}, fmt.Errorf("%s and %s: a cell sets at most one variable", strings.TrimPrefix(last.Key, bench.EnvPrefix), key)
		}
		last = bench.Param{Key: bench.EnvPrefix + key, Value: v}
	}
	return s.cell(params, last), nil
}

func (s Spec) axis(key string) bool {
	return slices.ContainsFunc(s.Axes, func(a Axis) bool { return a.Key == key })
}

// known refuses keys that could never select anything.
func (s Spec) known(m Match) error {
	if len(m) == 0 {
		return fmt.Errorf("is empty: name at least one of %s", strings.Join(s.keys(), ", "))
	}
	for key := range m {
		if !slices.Contains(s.keys(), key) {
			return fmt.Errorf("unknown key %q: use one of %s", key, strings.Join(s.keys(), ", "))
		}
	}
	return nil
}

func (s Spec) keys() []string {
	var keys []string
	for _, a := range s.Axes {
		keys = append(keys, a.Key)
	}
	keys = append(keys, envKey)
	for _, sweep := range s.Sweeps {
		keys = append(keys, sweep.Env)
	}
	return keys
}

// Selects reports whether every key of m matches the cell.
func (m Match) Selects(c bench.Cell) bool {
	for key, glob := range m {
		v := c.Get(key)
		if v == "" {
			v = c.Get(bench.EnvPrefix + key)
		}
		if v == "" || !Glob(glob, v) {
			return false
		}
	}
	return len(m) > 0
}

// Unique reports the first case id that stands twice, with both suites.
func Unique(cells []bench.Cell) error {
	seen := make(map[string]string, len(cells))
	for _, c := range cells {
		id := c.ID()
		if suite, ok := seen[id]; ok {
			return fmt.Errorf("case id %q stands twice (suites %q and %q): rename a model or a feature", id, suite, c.Suite)
		}
		seen[id] = c.Suite
	}
	return nil
}
