package matrix

import (
	"fmt"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/text"
)

// Filter selects cells by id. A pattern is a case id or a [Glob] over ids.
type Filter struct {
	Only []string // keep what any of these matches; all when empty
	Skip []string // then drop what any of these matches
}

// Split returns the selected cells and the ids of the others, both in order.
// A pattern that matches no cell is an error: a filter with a typing error
// would otherwise measure less than its author expects.
func (f Filter) Split(cells []bench.Cell) (selected []bench.Cell, others []string, err error) {
	used := make(map[string]bool)
	for _, c := range cells {
		id := c.ID()
		keep := len(f.Only) == 0 || matchAny(f.Only, id, used)
		if matchAny(f.Skip, id, used) {
			keep = false
		}
		if keep {
			selected = append(selected, c)
		} else {
			others = append(others, id)
		}
	}
	for _, pattern := range append(append([]string(nil), f.Only...), f.Skip...) {
		if !used[pattern] {
			near := text.NearestID(pattern, append(ids(selected), others...))
			if near != "" {
				near = " (did you mean " + text.ShellQuote(near) + "?)"
			}
			return nil, nil, fmt.Errorf("pattern %q matches no cell%s: list the ids with 'accelgate plan --list'", pattern, near)
		}
	}
	return selected, others, nil
}

func ids(cells []bench.Cell) (all []string) {
	for _, c := range cells {
		all = append(all, c.ID())
	}
	return all
}

// matchAny tries every pattern, so that each learns whether it is of use.
func matchAny(patterns []string, id string, used map[string]bool) bool {
	found := false
	for _, pattern := range patterns {
		if Glob(pattern, id) {
			used[pattern], found = true, true
		}
	}
	return found
}
