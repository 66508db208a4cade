package matrix_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/quick"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/matrix"
)

func TestPack(t *testing.T) {
	check := func(weights []float64, k int, want ...[]int) {
		t.Helper()
		if diff := cmp.Diff(want, matrix.Pack(weights, k)); diff != "" {
			t.Errorf("Pack(%v, %d) (-want +got):\n%s", weights, k, diff)
		}
	}
	check([]float64{7, 6, 5, 5, 4}, 2, []int{0, 3}, []int{1, 2, 4}) // 12 and 15; the least possible is 14
	check([]float64{1, 1, 1, 1, 1}, 2, []int{0, 2, 4}, []int{1, 3})
	check([]float64{0, 9, math.NaN(), 1, math.Inf(1), -3}, 2, []int{1, 3, 4}, []int{0, 2, 5}) // the unknown ones count as 5
	check([]float64{0, 0, 0}, 3, []int{0}, []int{1}, []int{2})
	check([]float64{3}, 2, []int{0}, nil)
	check(nil, 1, nil)
}

func TestPackHoldsEachIndexOnce(t *testing.T) {
	property := func(weights []float64, k uint8) bool {
		bins := matrix.Pack(weights, int(k)+1)
		var all []int
		for _, bin := range bins {
			if !slices.IsSorted(bin) {
				return false
			}
			all = append(all, bin...)
		}
		slices.Sort(all)
		for i, index := range all {
			if i != index {
				return false
			}
		}
		return len(all) == len(weights) && cmp.Equal(bins, matrix.Pack(weights, int(k)+1))
	}
	if err := quick.Check(property, nil); err != nil {
		t.Error(err)
	}
}

func TestPackKeepsGrahamsBound(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		k := 2 + r.IntN(3)
		weights := make([]float64, 1+r.IntN(8))
		for i := range weights {
			weights[i] = float64(1 + r.IntN(12))
		}
		largest := 0.0
		for _, bin := range matrix.Pack(weights, k) {
			sum := 0.0
			for _, i := range bin {
				sum += weights[i]
			}
			largest = max(largest, sum)
		}
		best := optimum(weights, make([]float64, k))
		if bound := best * (4.0/3 - 1/(3*float64(k))); largest > bound+1e-9 {
			t.Errorf("%v in %d bins: the largest sum is %v, the bound %v, the optimum %v", weights, k, largest, bound, best)
		}
	}
}

// optimum tries all packings on top of the sums.
func optimum(weights, sums []float64) float64 {
	if len(weights) == 0 {
		return slices.Max(sums)
	}
	best := math.Inf(1)
	for i := range sums {
		sums[i] += weights[0]
		best = min(best, optimum(weights[1:], sums))
		sums[i] -= weights[0]
	}
	return best
}

func FuzzParseShard(f *testing.F) {
	for _, seed := range []string{"1/1", "2/3", "256/256", "3/2", "0/1", "-1/2", "+1/2", "01/2", "1/257", "1/", "/", "1/2/3", "9999999999999999999/1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := matrix.ParseShard(text)
		if err != nil {
			return
		}
		if s.String() != text || s.Index < 1 || s.Index > s.Of || s.Of > matrix.MaxShards {
			t.Errorf("ParseShard(%q) = %+v", text, s)
		}
	})
}

func TestParseShard(t *testing.T) {
	if s, err := matrix.ParseShard("2/3"); err != nil || s != (matrix.Shard{Index: 2, Of: 3}) {
		t.Errorf("2/3 is %+v, %v", s, err)
	}
	for _, text := range []string{"", "2", "3/2", "0/2", "1/257", "01/2", "1/2/3", " 1/2"} {
		if s, err := matrix.ParseShard(text); err == nil {
			t.Errorf("ParseShard(%q) = %v, want an error", text, s)
		}
	}
}
