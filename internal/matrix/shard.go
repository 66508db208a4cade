package matrix

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// MaxShards bounds the shards of a matrix: GitHub starts at most 256 jobs per
// matrix and run.
const MaxShards = 256

// Shard is one of several parts of a matrix.
type Shard struct {
	Index int // from 1
	Of    int
}

// String returns "2/3".
func (s Shard) String() string { return strconv.Itoa(s.Index) + "/" + strconv.Itoa(s.Of) }

// ParseShard reads "2/3".
func ParseShard(text string) (Shard, error) {
	index, of, _ := strings.Cut(text, "/")
	var s Shard
	s.Index, _ = strconv.Atoi(index)
	s.Of, _ = strconv.Atoi(of)
	if s.Index < 1 || s.Index > s.Of || s.Of > MaxShards || s.String() != text {
		return Shard{}, fmt.Errorf("shard %.40q: write INDEX/OF such as 2/3, INDEX from 1 to OF, OF at most %d", text, MaxShards)
	}
	return s, nil
}

// Pack distributes the indices of weights over k bins, k at least 1, so that
// the bins' sums are nearly equal: longest processing time first (Graham,
// "Bounds on multiprocessing timing anomalies", 1969). The largest sum is at
// most 4/3 - 1/(3k) times the least possible one. Equal weights go in order of
// their indices, into the first of equal bins, so equal arguments give equal
// bins. The indices of a bin ascend.
//
// A weight that is not known (zero, negative, infinite or not a number) counts
// as the median of those that are, or as 1 if none is.
func Pack(weights []float64, k int) [][]int {
	weights = known(weights)
	order := make([]int, len(weights))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(weights[b], weights[a]) })
	bins, sums := make([][]int, k), make([]float64, k)
	for _, i := range order {
		bin := 0
		for b := range sums {
			if sums[b] < sums[bin] {
				bin = b
			}
		}
		bins[bin], sums[bin] = append(bins[bin], i), sums[bin]+weights[i]
	}
	for _, bin := range bins {
		slices.Sort(bin)
	}
	return bins
}

// known returns the weights with the median in place of unknown ones.
func known(weights []float64) []float64 {
	valid := func(w float64) bool { return w > 0 && !math.IsInf(w, 1) }
	var sorted []float64
	for _, w := range weights {
		if valid(w) {
			sorted = append(sorted, w)
		}
	}
	median := 1.0
	if n := len(sorted); n > 0 {
		slices.Sort(sorted)
		low, high := sorted[(n-1)/2], sorted[n/2]
		median = low + (high-low)/2
	}
	filled := slices.Clone(weights)
	for i, w := range filled {
		if !valid(w) {
			filled[i] = median
		}
	}
	return filled
}
