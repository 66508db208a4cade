package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// axis is the value of an axis that some cells have in common.
type axis struct {
	key   string // "" if no cell of the run has it
	value string
	of    int // cells of the matrix that have the value
}

// common are the values that cells have in common, the rarest first.
type common []axis

// commonAxes finds the two rarest parts that all cells of a set have and that not all
// cells of the host have. shared is made by keepShared.
func (h *host) commonAxes(shared []string) (common common) {
	if !slices.ContainsFunc(shared, func(s string) bool { return s != "" }) {
		return nil
	}
	counts, all := make([]int, len(shared)), 0
	last := ""
	for i := range h.Comparison.Verdicts {
		id := h.Comparison.Verdicts[i].Cell
		if id == "" || id == last {
			continue
		}
		last = id
		all++
		if strings.Count(id, "__") != len(shared)-1 {
			continue
		}
		for k := range shared {
			part, rest, _ := strings.Cut(id, "__")
			if part == shared[k] {
				counts[k]++
			}
			id = rest
		}
	}
	var order []int
	for k, n := range counts {
		if shared[k] != "" && n < all {
			order = append(order, k)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(counts[a], counts[b]) })
	for _, k := range order[:min(2, len(order))] {
		common = append(common, axis{h.axisName(k, len(shared)), shared[k], counts[k]})
	}
	return common
}

// axisName is the name of an axis, if all cells of the run with as many agree on it.
func (h *host) axisName(at, parts int) string {
	key := ""
	for i := range h.Run.Results {
		params := h.Run.Results[i].Cell.Params
		if len(params) != parts {
			continue
		}
		key = cmp.Or(key, params[at].Key)
		if params[at].Key != key {
			return ""
		}
	}
	return key
}

// with writes ", all with feature `f10`", or that these are all cells of it.
func (c common) with(n int) inline {
	switch {
	case len(c) == 0:
		return nil
	case n == c[0].of:
		return append(inline{plain(", which are all cells with ")}, c[:1].names()...)
	case len(c) == 1:
		return append(append(inline{plain(", all with ")}, c.names()...), plain(fmt.Sprintf(" (%d cells have it)", c[0].of)))
	}
	return append(inline{plain(", all with ")}, c.names()...)
}

func (c common) names() (line inline) {
	for i, a := range c {
		if i > 0 {
			line = append(line, plain(" and "))
		}
		if a.key != "" {
			line = append(line, reason(a.key), plain(" "))
		}
		line = append(line, code(a.value))
	}
	return line
}

// attachAxes finds what the cells of each shared cause have in common, and the
// cells of rows that a class cannot show.
func (r *Report) attachAxes() {
	shared := r.shown.action.shared
	for _, f := range shared[:min(maxShared, len(shared))] { // each takes a pass over all cells
		f.cause.common = r.hosts[f.host].commonAxes(f.cause.shared)
	}
	for i := range r.shown.action.classes {
		l := &r.shown.action.classes[i]
		if l.total > len(l.rows) && l.host >= 0 {
			l.common = r.hosts[l.host].commonAxes(l.shared)
		}
	}
}
