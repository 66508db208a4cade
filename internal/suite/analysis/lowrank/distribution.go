package lowrank

import (
	"fmt"
	"slices"

	"github.com/accelgate/accelgate/internal/suite/analysis/packing"
)

// Cost is what decomposing an n x m weight costs, in units of no meaning:
// min(n, m)^2 * max(n, m), to which its operations are proportional. It is
// clipped at 2^60, so that two of them can be added.
func Cost(n, m int) int64 {
	k := float64(min(n, m))
	return int64(min(k*k*float64(max(n, m)), 1<<60))
}

// Strategy describes how parameters are given to ranks.
type Strategy string

// The strategies. Upstream uses Contiguous, and used RoundRobin in 2025.
const (
	LPT        Strategy = "lpt"         // the most expensive first, each to the rank that has least
	Contiguous Strategy = "contiguous"  // blocks of floor(items/world), what remains to the last rank
	RoundRobin Strategy = "round-robin" // item i to rank i mod world
)

// Strategies are all of them.
var Strategies = []Strategy{LPT, Contiguous, RoundRobin}

// MaxWorld is the largest number of ranks.
const MaxWorld = 1 << 16

// Assignment describes which items each rank works on.
type Assignment struct {
	Strategy Strategy `json:"strategy"`
	Ranks    [][]int  `json:"ranks"`    // indices of items, ascending
	Makespan int64    `json:"makespan"` // the cost of the rank that has most
	Bound    int64    `json:"bound"`    // no assignment has a smaller makespan
	// Ratio is Makespan/Bound, at least 1, and 1 if nothing costs anything:
	// how much longer than in the best case all ranks wait for the last one.
	Ratio float64 `json:"ratio"`
}

// Assign gives each item to one of world ranks, 1 to [MaxWorld]. Every host
// that is given the same items gets the same answer.
func Assign(items []Item, world int, strategy Strategy) (Assignment, error) {
	if world < 1 || world > MaxWorld {
		return Assignment{}, fmt.Errorf("%d ranks: give a world size of 1 to %d", world, MaxWorld)
	}
	costs := make([]int64, len(items))
	for i, item := range items {
		costs[i] = item.Cost
	}
	a := Assignment{Strategy: strategy, Bound: minMakespan(costs, world), Ratio: 1}
	switch strategy {
	case LPT:
		a.Ranks = packing.Spread(costs, world)
		for i, rank := range a.Ranks {
			a.Ranks[i] = append([]int{}, rank...) // none is nil, which JSON would show
		}
	case Contiguous:
		a.Ranks = spread(len(items), world, func(i int) int { return contiguous(i, len(items)/world, world) })
	case RoundRobin:
		a.Ranks = spread(len(items), world, func(i int) int { return i % world })
	default:
		return Assignment{}, fmt.Errorf("strategy %.40q: use one of %q", strategy, Strategies)
	}
	for _, rank := range a.Ranks {
		slices.Sort(rank)
	}
	a.Makespan = packing.Makespan(costs, a.Ranks)
	if a.Bound > 0 {
		a.Ratio = float64(a.Makespan) / float64(a.Bound)
	}
	return a, nil
}

// contiguous returns the rank of item i for blocks of a size, which is 0 if
// there are fewer items than ranks.
func contiguous(i, block, world int) int {
	if block == 0 {
		return world - 1
	}
	return min(i/block, world-1)
}

func spread(items, world int, rank func(i int) int) [][]int {
	ranks := make([][]int, world)
	for i := range ranks {
		ranks[i] = []int{}
	}
	for i := range items {
		ranks[rank(i)] = append(ranks[rank(i)], i)
	}
	return ranks
}

// minMakespan adds to packing's bound that, of the world+1 most expensive
// items, one rank has two.
func minMakespan(costs []int64, world int) int64 {
	bound := packing.MakespanBound(costs, world)
	if sorted := slices.Sorted(slices.Values(costs)); len(sorted) > world {
		first := len(sorted) - world - 1
		bound = max(bound, sorted[first]+sorted[first+1])
	}
	return bound
}
