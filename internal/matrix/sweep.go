package matrix

import (
	"fmt"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
)

// family is the cells of one combination.
type family struct {
	*expansion
	combination Combination
	tags        []string // of its axis values
	skip        string
	plain       string // id of the plain cell where an A/A partner is wanted
}

// add appends the cell that sets the variables, unless it is excluded.
func (f *family) add(set []bench.Param, partner string, tags []string) (kept bool) {
	if len(set) == 0 {
		set = []bench.Param{{Key: envKey, Value: Plain}}
	}
	cell := bench.Cell{Suite: f.Suite, Params: append(f.combination.params(len(set)), set...)}
	if f.excluded(cell) {
		return false
	}
	f.points = append(f.points, Point{Cell: cell, Skip: f.skip, Partner: partner, Tags: tags})
	return true
}

func (f *family) oneAtATime(sweeps []int) {
	for _, i := range sweeps {
		sweep := &f.Sweeps[i]
		tags := sorted(f.tags, sweep.Tags)
		for _, v := range sweep.Values {
			partner := ""
			if sweep.standard(v) {
				if !f.NoisePairs {
					continue
				}
				partner = f.plain
			}
			f.add([]bench.Param{sweep.param(v)}, partner, tags)
		}
	}
}

// product adds every combination of the sweeps' options but the plain one.
func (f *family) product(sweeps []int) {
	sizes, allDefault := make([]int, len(sweeps)), true
	for place, i := range sweeps {
		sizes[place] = len(f.options[i])
		allDefault = allDefault && f.defaults(i)
	}
	for at := range odometer(sizes) {
		set, tags := f.choose(sweeps, func(place, sweep int) string { return f.options[sweep][at[place]] })
		if len(set) > 0 {
			f.add(set, "", tags)
		}
	}
	if f.NoisePairs && allDefault && len(sweeps) > 0 {
		set, tags := f.choose(sweeps, func(_, sweep int) string { return f.Sweeps[sweep].Default })
		f.add(set, f.plain, tags)
	}
}

// choose returns the variables that have a value, and the tags of such a cell.
func (f *family) choose(sweeps []int, value func(place, sweep int) string) (set []bench.Param, tags []string) {
	lists := [][]string{f.tags}
	for place, i := range sweeps {
		if v := value(place, i); v != "" {
			set = append(set, f.Sweeps[i].param(v))
			lists = append(lists, f.Sweeps[i].Tags)
		}
	}
	return set, sorted(lists...)
}

func (s *Sweep) param(v string) bench.Param {
	return bench.Param{Key: bench.EnvPrefix + s.Env, Value: v}
}

// sorted returns the union of lists in order. One list is enough to be
// shared if all others are empty and it is in order already.
func sorted(lists ...[]string) []string {
	var all []string
	for _, list := range lists {
		if len(all) == 0 {
			all = list[:len(list):len(list)]
		} else {
			all = append(all, list...)
		}
	}
	if ascending(all) {
		return all
	}
	all = slices.Clone(all)
	slices.Sort(all)
	return slices.Compact(all)
}

// ascending reports whether list is in order without repetition.
func ascending(list []string) bool {
	for i := 1; i < len(list); i++ {
		if list[i-1] >= list[i] {
			return false
		}
	}
	return true
}

// sweeps appends to buffer the indices of the sweeps that apply to c; exists
// is false if the combination is none of the matrix.
func (e *expansion) sweeps(c Combination, buffer []int) (indices []int, exists bool, err error) {
	if exists, err = e.when.holds(c); err != nil || !exists {
		return nil, false, wrapped("when", err)
	}
	for i, applies := range e.applies {
		ok, err := applies.holds(c)
		if err != nil {
			return nil, false, wrapped("sweep "+e.Sweeps[i].Env+": when", err)
		}
		if ok {
			buffer = append(buffer, i)
		}
	}
	return buffer, true, nil
}

func wrapped(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

// size is the number of cells of a combination, saturating above maxCells.
func (e *expansion) size(sweeps []int) int {
	if e.Mode == Product {
		return e.productSize(sweeps)
	}
	n := 1
	for _, i := range sweeps {
		n += len(e.Sweeps[i].Values)
		if e.defaults(i) && !e.NoisePairs {
			n--
		}
	}
	return n
}

func (e *expansion) productSize(sweeps []int) int {
	n, allDefault := 1, true
	for _, i := range sweeps {
		if n *= len(e.options[i]); n > maxCells {
			return n
		}
		allDefault = allDefault && e.defaults(i)
	}
	if !allDefault {
		return n + 1
	}
	if e.NoisePairs && len(sweeps) > 0 {
		n++
	}
	return n
}

// defaults reports whether one of the values of the sweep is the default.
func (e *expansion) defaults(sweep int) bool { return e.options[sweep][0] == "" }
