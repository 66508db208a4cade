package diff

import (
	"cmp"
	"slices"
)

// both is one thing as both sides have it; nil where a side does not.
type both[T any] struct {
	key      string
	old, new *T
}

// pairUp pairs the elements of two lists by key, in the order in which the keys
// first appear. Of elements with one key in a list, the first counts.
func pairUp[T any](old, new []T, key func(*T) string) []both[T] {
	at := make(map[string]int, len(old))
	var pairs []both[T]
	add := func(list []T, side func(*both[T]) **T) {
		for i := range list {
			k := key(&list[i])
			j, ok := at[k]
			if !ok {
				j = len(pairs)
				at[k], pairs = j, append(pairs, both[T]{key: k})
			}
			if place := side(&pairs[j]); *place == nil {
				*place = &list[i]
			}
		}
	}
	add(old, func(b *both[T]) **T { return &b.old })
	add(new, func(b *both[T]) **T { return &b.new })
	return pairs
}

// metricPair is one metric of one cell. One with an empty name stands for a
// cell without metrics that only one side has.
type metricPair struct {
	cell string
	both[Metric]
	gone, added bool // the whole cell, from or in the candidate
}

// pairMetrics returns the union of both sides' metrics, sorted by cell and name.
func pairMetrics(baseline, candidate Document) []metricPair {
	var pairs []metricPair
	for _, c := range pairCells(baseline.Cells, candidate.Cells) {
		pairs = append(pairs, metricsOf(c)...)
	}
	slices.SortStableFunc(pairs, func(a, b metricPair) int {
		return cmp.Or(cmp.Compare(a.cell, b.cell), cmp.Compare(a.key, b.key))
	})
	return pairs
}

// pairCells pairs cells by id. The only cells of both sides belong together
// whatever their ids: an envelope has none.
func pairCells(old, new []Cell) []both[Cell] {
	if len(old) == 1 && len(new) == 1 {
		return []both[Cell]{{key: cmp.Or(old[0].ID, new[0].ID), old: &old[0], new: &new[0]}}
	}
	return pairUp(old, new, func(c *Cell) string { return c.ID })
}

func metricsOf(c both[Cell]) []metricPair {
	var old, new []Metric
	if c.old != nil {
		old = c.old.Metrics
	}
	if c.new != nil {
		new = c.new.Metrics
	}
	var pairs []metricPair
	for _, m := range pairUp(old, new, func(m *Metric) string { return m.Name }) {
		pairs = append(pairs, metricPair{cell: c.key, both: m, gone: c.new == nil, added: c.old == nil})
	}
	if len(pairs) == 0 && (c.old == nil || c.new == nil) {
		pairs = append(pairs, metricPair{cell: c.key, gone: c.new == nil, added: c.old == nil})
	}
	return pairs
}
