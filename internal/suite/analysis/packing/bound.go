package packing

import (
	"math"
	"slices"
)

// LowerBound returns a number of rows below which no packing of these lengths
// exists: ceil(L2/ranks), where L2 is the bound on bins of Martello and Toth
// (Knapsack Problems, 1990, 8.3). A length over max counts as a row of its own, and
// lengths of 0 alone as one row. It takes the time of sorting. limit and ranks must
// be at least 1, and the lengths must not be negative and add up to at most 63 bits.
func LowerBound(lengths []int64, limit int64, ranks int) int {
	var fit []int64
	own := 0
	for _, length := range lengths {
		switch {
		case length > limit:
			own++
		case length > 0:
			fit = append(fit, length)
		}
	}
	rows := own + rowsOf(fit, limit, ranks)
	if rows == 0 && len(lengths) > 0 {
		return 1
	}
	return rows
}

// LowerBound returns a number of rows below which no packing of the problem
// exists: that of [LowerBound] over the lengths that the policy lets in. Under
// [Legacy] a length that is too long takes a cell and not a row, and empty ones take
// nothing. The problem must be one that can be packed.
func (p Problem) LowerBound() int {
	var lengths []int64
	for _, length := range p.Lengths {
		switch {
		case p.rejects(length):
		case p.Policy != Legacy:
			lengths = append(lengths, length)
		case length > 0:
			lengths = append(lengths, min(length, p.Max))
		}
	}
	return LowerBound(lengths, p.Max, p.Ranks)
}

func rowsOf(fit []int64, limit int64, ranks int) int {
	slices.Sort(fit)
	return ceilDiv(l2(func(i int) int64 { return fit[len(fit)-1-i] }, len(fit), limit), ranks)
}

// l2 returns Martello and Toth's bound on the number of bins for n lengths,
// which descend from at most limit to at least 1.
//
// For each a up to limit/2, no two lengths over limit/2 share a bin, and
// those over limit-a leave no room for any of at least a. The others of at
// least a fill what room there is, and then new bins. a is 0 or one of the
// lengths.
func l2(length func(i int) int64, n int, limit int64) int {
	big := 0                      // how many lengths are over limit/2
	var free, small, bound uint64 // room beside big ones; sum of small ones
	for ; big < n && length(big) > limit/2; big++ {
		free += uint64(limit - length(big))
	}
	for i := big; i < n; i++ {
		small += uint64(length(i))
	}
	full := 0 // how many of the big ones are over limit-a
	for i := n - 1; ; i-- {
		more := uint64(0)
		if small > free {
			more = (small-free-1)/uint64(limit) + 1
		}
		bound = max(bound, uint64(big)+more)
		if i < big {
			return int(min(bound, math.MaxInt))
		}
		// The next a is just over the present length: that no longer counts.
		small -= uint64(length(i))
		if i > big {
			for ; full < big && length(full) > limit-length(i-1); full++ {
				free -= uint64(limit - length(full))
			}
		}
	}
}
