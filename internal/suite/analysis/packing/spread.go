package packing

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// Spread divides jobs among machines so that the last to finish finishes early:
// the most expensive job first, each to the machine with the least to do, the
// first of several. It is never worse than 4/3 of the best possible (Graham, 1969).
//
// The result has one list of indices per bin, in the order in which they were
// given out, which may be empty. Fewer bins than one count as one. Costs are in
// any unit; negative ones count as 0, and sums end at the largest int64.
func Spread(costs []int64, bins int) [][]int {
	parts := make([][]int, max(bins, 1))
	order := make([]int, len(costs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(max(costs[b], 0), max(costs[a], 0)) })
	machines := newMachines(len(parts))
	for _, i := range order {
		id := machines.lightest()
		parts[id] = append(parts[id], i)
		machines.charge(costs[i])
	}
	return parts
}

// Makespan returns the cost of the most expensive part, counted as in [Spread].
func Makespan(costs []int64, parts [][]int) (longest int64) {
	for _, part := range parts {
		var sum int64
		for _, i := range part {
			sum = addSaturated(sum, max(costs[i], 0))
		}
		longest = max(longest, sum)
	}
	return longest
}

// MakespanBound returns a makespan below which no division among bins goes: that
// of the most expensive job, or an equal share of all, rounded up.
func MakespanBound(costs []int64, bins int) int64 {
	var largest int64
	var high, low, carry uint64 // the sum, in 128 bits
	for _, cost := range costs {
		largest = max(largest, cost)
		low, carry = bits.Add64(low, uint64(max(cost, 0)), 0)
		high += carry
	}
	n := uint64(max(bins, 1))
	low, carry = bits.Add64(low, n-1, 0)
	if high += carry; high >= n {
		return math.MaxInt64
	}
	share, _ := bits.Div64(high, low, n)
	return max(largest, int64(min(share, math.MaxInt64)))
}

func addSaturated(a, b int64) int64 {
	if b > math.MaxInt64-a {
		return math.MaxInt64
	}
	return a + b
}

// machines are bins without capacity, ordered by load and number.
type machines struct{ bins }

func newMachines(n int) *machines {
	m := &machines{bins{open: make([]bin, n), ordered: true}}
	m.reset()
	return m
}

func (m *machines) lightest() int { return m.open[0].id }

func (m *machines) charge(cost int64) {
	m.open[0].weight = addSaturated(m.open[0].weight, max(cost, 0))
	m.sink()
}
