package packing_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/analysis/packing"
)

func TestSpread(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		costs           []int64
		bins            int
		want            [][]int
		makespan, bound int64
	}{
		{[]int64{2, 3, 4, 6, 2, 2}, 3, [][]int{{3}, {2, 4}, {1, 0, 5}}, 7, 7},
		{[]int64{5, 5}, 3, [][]int{{0}, {1}, nil}, 5, 5},
		{nil, 2, [][]int{nil, nil}, 0, 0},
		{[]int64{1, 2}, 0, [][]int{{1, 0}}, 3, 3},
		{[]int64{-4, 0, 3}, 2, [][]int{{2}, {0, 1}}, 3, 3},
		{[]int64{math.MaxInt64, math.MaxInt64, math.MaxInt64}, 1, [][]int{{0, 1, 2}}, math.MaxInt64, math.MaxInt64},
		{[]int64{math.MaxInt64, math.MaxInt64, 1}, 2, [][]int{{0, 2}, {1}}, math.MaxInt64, math.MaxInt64},
	} {
		got := packing.Spread(test.costs, test.bins)
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("%v on %d: got %v, want %v", test.costs, test.bins, got, test.want)
		}
		if makespan, bound := packing.Makespan(test.costs, got), packing.MakespanBound(test.costs, test.bins); makespan != test.makespan || bound != test.bound {
			t.Errorf("%v on %d: makespan %d and bound %d, want %d and %d", test.costs, test.bins, makespan, bound, test.makespan, test.bound)
		}
	}
}

// TestSpreadIsNear compares with optimal divisions: the bound is one, and the
// makespan keeps Graham's guarantee of 4/3 - 1/(3n).
func TestSpreadIsNear(t *testing.T) {
	t.Parallel()
	optimal := 0
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 4))
		n := int64(1 + r.IntN(3))
		costs := make([]int64, 1+r.IntN(8))
		for i := range costs {
			costs[i] = r.Int64N(30)
		}
		parts := packing.Spread(costs, int(n))
		seen := map[int]bool{}
		for _, part := range parts {
			for _, i := range part {
				if seen[i] {
					t.Errorf("seed %d: job %d twice", seed, i)
				}
				seen[i] = true
			}
		}
		best, got := shortestMakespan(costs, int(n)), packing.Makespan(costs, parts)
		if len(seen) != len(costs) || len(parts) != int(n) || got < best || got*3*n > best*(4*n-1) || packing.MakespanBound(costs, int(n)) > best {
			t.Errorf("seed %d: %v on %d: %v takes %d, optimum %d", seed, costs, n, parts, got, best)
		}
		if got == best {
			optimal++
		}
	}
	if optimal < 400 {
		t.Errorf("only %d are optimal", optimal)
	}
}
