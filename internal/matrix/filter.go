package matrix

import (
	"fmt"
	"maps"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
)

// Filter selects cells by id and by tag. A pattern is a case id or a [Glob]
// over ids.
type Filter struct {
	Only     []string // keep what any of these matches; all when empty
	Skip     []string // then drop what any of these matches
	Tags     []string // keep what has any of these tags; all when empty
	SkipTags []string // then drop what has any of these
}

// Select returns the selected points and the ids of the others, both in order.
// A pattern that matches no cell, or a tag that none has, is an error: a filter
// with a typing error would otherwise measure less than its author believes.
func (f Filter) Select(points []Point) (selected []Point, others []string, err error) {
	used := make(map[string]bool)
	for _, p := range points {
		id := p.Cell.ID()
		keep := len(f.Only) == 0 || matchAny(f.Only, id, used)
		keep = !matchAny(f.Skip, id, used) && keep
		keep = keep && (len(f.Tags) == 0 || overlap(f.Tags, p.Tags)) && !overlap(f.SkipTags, p.Tags)
		if keep {
			selected = append(selected, p)
		} else {
			others = append(others, id)
		}
	}
	for _, pattern := range slices.Concat(f.Only, f.Skip) {
		if !used[pattern] {
			return nil, nil, fmt.Errorf("pattern %q matches no cell: list the ids with 'accelgate plan --list'", pattern)
		}
	}
	if err := f.checkTags(points); err != nil {
		return nil, nil, err
	}
	return selected, others, nil
}

// Split is Select for cells without tags: a filter with a tag is an error.
func (f Filter) Split(cells []bench.Cell) (selected []bench.Cell, others []string, err error) {
	points := make([]Point, len(cells))
	for i, c := range cells {
		points[i].Cell = c
	}
	points, others, err = f.Select(points)
	for _, p := range points {
		selected = append(selected, p.Cell)
	}
	return selected, others, err
}

// checkTags refuses tags that no point has.
func (f Filter) checkTags(points []Point) error {
	wanted := slices.Concat(f.Tags, f.SkipTags)
	if len(wanted) == 0 {
		return nil
	}
	seen := make(map[string]bool)
	for _, p := range points {
		for _, tag := range p.Tags {
			seen[tag] = true
		}
	}
	for _, tag := range wanted {
		switch {
		case len(seen) == 0:
			return fmt.Errorf("no cell has the tag %q: add tags to values or sweeps of the configuration", tag)
		case !seen[tag]:
			return fmt.Errorf("no cell has the tag %q: %s", tag, instead(tag, slices.Sorted(maps.Keys(seen))))
		}
	}
	return nil
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

func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}
