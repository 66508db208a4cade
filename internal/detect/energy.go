package detect

import "math"

// farthest returns the index, from 1 to len(y)-1, at which the energy distance
// between what is before it and what follows it, up to any end, is largest. Of
// equal ones it is the first. It takes time and memory of len(y) squared.
func farthest(y []float64) int {
	n := len(y)
	d := distances(y)
	best, at := math.Inf(-1), 1
	for cut := 1; cut < n; cut++ {
		for end := cut + 1; end <= n; end++ {
			if q := energy(d, cut, end); q > best {
				best, at = q, cut
			}
		}
	}
	return at
}

// distances returns sums: d[i][j] is that of |y[a]-y[b]| over all a < i, b < j.
func distances(y []float64) [][]float64 {
	n := len(y)
	cells := make([]float64, (n+1)*(n+1))
	d := make([][]float64, n+1)
	for i := range d {
		d[i] = cells[i*(n+1) : (i+1)*(n+1)]
	}
	for i := range n {
		var row float64
		for j := range n {
			row += math.Abs(y[i] - y[j])
			d[i+1][j+1] = d[i][j+1] + row
		}
	}
	return d
}

// energy is Matteson and James' scaled sample measure of divergence with
// exponent 1 between [0, cut) and [cut, end). A side of one value has no
// distance within.
func energy(d [][]float64, cut, end int) float64 {
	n, m := float64(cut), float64(end-cut)
	between := d[cut][end] - d[cut][cut]
	left := d[cut][cut]
	right := d[end][end] - 2*d[cut][end] + d[cut][cut]
	e := 2 * between / (n * m)
	if cut > 1 {
		e -= left / (n * (n - 1))
	}
	if end-cut > 1 {
		e -= right / (m * (m - 1))
	}
	return n * m / (n + m) * e
}
