package detect

import (
	"math"
	"slices"
)

// clipAt is the share of all values of both sides below which a value counts as
// it is; larger ones count as the value there. Most noise slows down, so the
// fastest values say most of the code. It was chosen by `make evaluate`.
const clipAt = 0.6

// signTest returns the share of all ways to swap base and head within pairs
// in which the head looks at least as slow as it does. Unchanged code is as likely to be
// on either side of a pair, so p is exact whatever the noise is: no law is
// assumed, and bad minutes hit both sides. base and head are levels, pair by
// pair, at least one. It takes time and memory of 2 to the half of the pairs.
//
// The statistic is the sum of the pairs' differences after clipping at clipAt of
// all values, which no swap changes. It is that of Fisher's randomization test
// on winsorised values, counted exactly by two sorted halves of the sums.
func signTest(base, head []float64) (p float64) {
	limit := clipLevel(base, head)
	d := make([]float64, len(base))
	var sum, size float64
	for i := range d {
		d[i] = min(head[i], limit) - min(base[i], limit)
		sum += d[i]
		size += math.Abs(d[i])
	}
	minimum := sum - rounding*size
	left, right := signSums(d[:len(d)/2]), signSums(d[len(d)/2:])
	count, j := 0, len(right)
	for _, l := range left {
		for j > 0 && l+right[j-1] >= minimum {
			j--
		}
		count += len(right) - j
	}
	return float64(count) / (float64(len(left)) * float64(len(right)))
}

// clipLevel is the value at clipAt of both sides.
func clipLevel(base, head []float64) float64 {
	all := slices.Sorted(slices.Values(slices.Concat(base, head)))
	return all[int(clipAt*float64(len(all)))]
}

// signSums returns the sums of d with every choice of signs, ascending.
func signSums(d []float64) []float64 {
	sums := make([]float64, 1, 1<<len(d))
	for _, v := range d {
		for i := range len(sums) {
			sums = append(sums, sums[i]-v)
			sums[i] += v
		}
	}
	slices.Sort(sums)
	return sums
}
