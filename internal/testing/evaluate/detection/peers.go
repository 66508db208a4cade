package detection

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// WelchP is the two-sided p of Welch's t-test; 1 where there are fewer than two
// values a side.
func WelchP(a, b []float64) float64 {
	na, nb := float64(len(a)), float64(len(b))
	if na < 2 || nb < 2 {
		return 1
	}
	va, vb := variance(a)/na, variance(b)/nb
	if va+vb == 0 {
		return certain(average(a) == average(b))
	}
	t := (average(b) - average(a)) / math.Sqrt(va+vb)
	df := (va + vb) * (va + vb) / (va*va/(na-1) + vb*vb/(nb-1))
	return 2 * distuv.StudentsT{Sigma: 1, Nu: df}.Survival(math.Abs(t))
}

// StudentP is the two-sided p of Student's t-test with one variance; a side may
// have a single value.
func StudentP(a, b []float64) float64 {
	na, nb := float64(len(a)), float64(len(b))
	df := na + nb - 2
	if df < 1 {
		return 1
	}
	pooled := (variance(a)*(na-1) + variance(b)*(nb-1)) / df
	if pooled == 0 {
		return certain(average(a) == average(b))
	}
	t := (average(b) - average(a)) / math.Sqrt(pooled*(1/na+1/nb))
	return 2 * distuv.StudentsT{Sigma: 1, Nu: df}.Survival(math.Abs(t))
}

func certain(equal bool) float64 {
	if equal {
		return 1
	}
	return 0
}

// variance is that of a sample; 0 for a single value.
func variance(y []float64) float64 {
	if len(y) < 2 {
		return 0
	}
	var sum float64
	m := average(y)
	for _, v := range y {
		sum += (v - m) * (v - m)
	}
	return sum / float64(len(y)-1)
}

// RankSumP is the two-sided p of the Mann-Whitney U test: exact without ties, by
// the normal approximation with them.
func RankSumP(a, b []float64) float64 {
	var u, ties float64
	for _, x := range a {
		for _, y := range b {
			switch {
			case y > x:
				u++
			case y == x:
				u += 0.5
			}
		}
	}
	all := slices.Sorted(slices.Values(append(slices.Clone(a), b...)))
	for i := 0; i < len(all); {
		j := i
		for j < len(all) && all[j] == all[i] {
			j++
		}
		t := float64(j - i)
		ties += t*t*t - t
		i = j
	}
	if ties == 0 {
		return exactU(len(a), len(b), u)
	}
	n, m := float64(len(a)), float64(len(b))
	spread := math.Sqrt(n * m / 12 * (n + m + 1 - ties/((n+m)*(n+m-1))))
	if spread == 0 {
		return 1
	}
	z := max(0, math.Abs(u-n*m/2)-0.5) / spread
	return 2 * distuv.UnitNormal.Survival(z)
}

// exactU is the probability that U is as far from its middle as u.
func exactU(n, m int, u float64) float64 {
	counts := uCounts(n, m)
	var total, far float64
	middle := float64(n*m) / 2
	for i, c := range counts {
		total += c
		if math.Abs(float64(i)-middle) >= math.Abs(u-middle) {
			far += c
		}
	}
	return min(1, far/total)
}

var uTable = map[[2]int][]float64{}

// uCounts counts the arrangements of n and m values by U.
func uCounts(n, m int) []float64 {
	if c, ok := uTable[[2]int{n, m}]; ok {
		return c
	}
	counts := make([]float64, n*m+1)
	if n == 0 || m == 0 {
		counts[0] = 1
	} else {
		for u, c := range uCounts(n-1, m) { // the largest is of the first
			counts[u] += c
		}
		for u, c := range uCounts(n, m-1) { // or of the second, above all n
			counts[u+n] += c
		}
	}
	uTable[[2]int{n, m}] = counts
	return counts
}
