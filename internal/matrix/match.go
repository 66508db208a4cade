package matrix

import (
	"fmt"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/text"
)

// Match selects cells: each key names an axis, "env", or a swept variable, and
// each value is a [Glob] that the cell's value must match. An empty Match
// selects nothing.
type Match map[string]string

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

func (s *Spec) excluded(c bench.Cell) bool {
	return slices.ContainsFunc(s.Exclude, func(m Match) bool { return m.Selects(c) })
}

// known refuses keys that could never select anything.
func (s *Spec) known(m Match) error {
	keys := s.keys()
	if len(m) == 0 {
		return fmt.Errorf("is empty: name at least one of %s", strings.Join(keys, ", "))
	}
	for key := range m {
		if !slices.Contains(keys, key) {
			return fmt.Errorf("unknown key %q: %s", key, text.Instead(key, keys))
		}
	}
	return nil
}

func (s *Spec) keys() []string {
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
