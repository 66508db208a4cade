package lowrank_test

import (
	"slices"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/analysis/lowrank"
)

func items(costs ...int64) []lowrank.Item {
	var list []lowrank.Item
	for _, c := range costs {
		list = append(list, lowrank.Item{Cost: c})
	}
	return list
}

func assign(t *testing.T, list []lowrank.Item, world int, strategy lowrank.Strategy) lowrank.Assignment {
	t.Helper()
	a, err := lowrank.Assign(list, world, strategy)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestUpstreamAssignment: seven targets on four ranks, and fewer than ranks.
func TestUpstreamAssignment(t *testing.T) {
	t.Parallel()
	seven := items(1, 1, 1, 1, 1, 1, 1)
	for _, c := range []struct {
		list     []lowrank.Item
		world    int
		strategy lowrank.Strategy
		want     [][]int
	}{
		{seven, 4, lowrank.Contiguous, [][]int{{0}, {1}, {2}, {3, 4, 5, 6}}},
		{seven, 3, lowrank.Contiguous, [][]int{{0, 1}, {2, 3}, {4, 5, 6}}},
		{seven, 4, lowrank.RoundRobin, [][]int{{0, 4}, {1, 5}, {2, 6}, {3}}},
		{items(1, 1), 4, lowrank.Contiguous, [][]int{{}, {}, {}, {0, 1}}},
		{items(), 2, lowrank.LPT, [][]int{{}, {}}},
		{items(5, 9, 4, 6), 2, lowrank.LPT, [][]int{{1, 2}, {0, 3}}},
	} {
		a := assign(t, c.list, c.world, c.strategy)
		if !slices.EqualFunc(a.Ranks, c.want, slices.Equal[[]int]) {
			t.Errorf("%s of %d on %d: %v, want %v", c.strategy, len(c.list), c.world, a.Ranks, c.want)
		}
	}
	if a := assign(t, seven, 4, lowrank.Contiguous); a.Makespan != 4 || a.Bound != 2 || a.Ratio != 2 {
		t.Errorf("%+v", a)
	}
}

// TestAssignments: each item once, the ratio at least 1, and LPT never worse
// than 4/3 of any other strategy, as Graham proved.
func TestAssignments(t *testing.T) {
	t.Parallel()
	r := source(31)
	for range 300 {
		var costs []int64
		for range r.IntN(30) {
			costs = append(costs, lowrank.Cost(1+r.IntN(300), 1+r.IntN(300)))
		}
		list, world := items(costs...), 1+r.IntN(9)
		var lpt lowrank.Assignment
		for _, strategy := range lowrank.Strategies {
			a := assign(t, list, world, strategy)
			if strategy == lowrank.LPT {
				lpt = a
			}
			all := slices.Sorted(slices.Values(slices.Concat(a.Ranks...)))
			for i, index := range all {
				if i != index {
					t.Fatalf("%s: items %v", strategy, all)
				}
			}
			if len(all) != len(list) || len(a.Ranks) != world || a.Ratio < 1 || float64(lpt.Makespan) > 4./3*float64(a.Makespan)+1 {
				t.Errorf("%s of %v on %d: %+v, LPT %+v", strategy, costs, world, a, lpt)
			}
		}
	}
}

// TestBoundIsReached: two of five equal items share a rank of four.
func TestBoundIsReached(t *testing.T) {
	t.Parallel()
	if a := assign(t, items(7, 7, 7, 7, 7), 4, lowrank.LPT); a.Bound != 14 || a.Ratio != 1 {
		t.Errorf("%+v", a)
	}
	if a := assign(t, items(0, 0), 4, lowrank.LPT); a.Ratio != 1 {
		t.Errorf("%+v", a)
	}
}

func TestAssignRefuses(t *testing.T) {
	t.Parallel()
	for _, world := range []int{-1, 0, lowrank.MaxWorld + 1} {
		if _, err := lowrank.Assign(items(1), world, lowrank.LPT); err == nil {
			t.Errorf("%d ranks are accepted", world)
		}
	}
	if _, err := lowrank.Assign(items(1), 1, "fair"); err == nil {
		t.Error("an unknown strategy is accepted")
	}
}

func TestCost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n, m int
		want int64
	}{{128, 896, 128 * 128 * 896}, {896, 128, 128 * 128 * 896}, {0, 9, 0}, {1 << 30, 1 << 31, 1 << 60}} {
		if got := lowrank.Cost(c.n, c.m); got != c.want {
			t.Errorf("%d x %d costs %d, want %d", c.n, c.m, got, c.want)
		}
	}
}
