package svd_test

import (
	"math"
	"math/rand/v2"
)

// shapes of matrices: what is at row i, column j of an m x n one.
var shapes = map[string]func(r *rand.Rand, m, n int) func(i, j int) float64{
	"normal": func(r *rand.Rand, m, n int) func(i, j int) float64 {
		return func(i, j int) float64 { return r.NormFloat64() }
	},
	"tiny": func(r *rand.Rand, m, n int) func(i, j int) float64 {
		return func(i, j int) float64 { return r.NormFloat64() * 1e-300 }
	},
	"subnormal": func(r *rand.Rand, m, n int) func(i, j int) float64 {
		return func(i, j int) float64 { return r.NormFloat64() * 0x1p-1060 }
	},
	"huge": func(r *rand.Rand, m, n int) func(i, j int) float64 {
		return func(i, j int) float64 { return r.NormFloat64() * 1e304 }
	},
	"mixed scales": func(r *rand.Rand, m, n int) func(i, j int) float64 {
		return func(i, j int) float64 { return r.NormFloat64() * math.Pow(10, 300*(2*r.Float64()-1)) }
	},
	"zero":     func(r *rand.Rand, m, n int) func(i, j int) float64 { return func(i, j int) float64 { return 0 } },
	"constant": func(r *rand.Rand, m, n int) func(i, j int) float64 { return func(i, j int) float64 { return -3 } },
	"identity": func(r *rand.Rand, m, n int) func(i, j int) float64 { return diagonal(func(int) float64 { return 1 }) },
	"repeated": func(r *rand.Rand, m, n int) func(i, j int) float64 {
		return diagonal(func(i int) float64 { return float64(i%3) - 1 })
	},
	"rank 2": func(r *rand.Rand, m, n int) func(i, j int) float64 {
		a := r.NormFloat64()
		return func(i, j int) float64 { return math.Sin(a*float64(i+1)) * math.Cos(float64(j)) * (1 + float64(i*j%2)) }
	},
	"Hilbert": func(r *rand.Rand, m, n int) func(i, j int) float64 {
		return func(i, j int) float64 { return 1 / float64(i+j+1) }
	},
	"graded down": func(r *rand.Rand, m, n int) func(i, j int) float64 {
		return func(i, j int) float64 { return r.NormFloat64() * math.Pow(2, -float64(i+j)) }
	},
	"graded up": func(r *rand.Rand, m, n int) func(i, j int) float64 {
		return func(i, j int) float64 { return r.NormFloat64() * math.Pow(2, float64(i+j-m-n)) }
	},
	"few signs": func(r *rand.Rand, m, n int) func(i, j int) float64 {
		return func(i, j int) float64 { return float64(r.IntN(3) - 1) }
	},
	"holes in a bidiagonal": func(r *rand.Rand, m, n int) func(i, j int) float64 {
		return func(i, j int) float64 {
			if j != i && j != i+1 || r.IntN(4) == 0 {
				return 0
			}
			return r.NormFloat64()
		}
	},
	"weakly coupled blocks": func(r *rand.Rand, m, n int) func(i, j int) float64 {
		return func(i, j int) float64 {
			x := r.NormFloat64() * math.Pow(10, 2*r.Float64())
			switch {
			case j != i && j != i+1:
				return 0
			case j == i+1 && r.IntN(6) == 0:
				return x * 1e-12
			}
			return x
		}
	},
	// The first block runs in the other direction than the whole, and soon
	// after it: the last block is small.
	"turning": func(r *rand.Rand, m, n int) func(i, j int) float64 {
		cut := min(m, n) - 3
		return func(i, j int) float64 {
			switch {
			case j == i && i < cut:
				return 1 + float64(i)
			case j == i:
				return 0.5 + r.Float64()/4
			case j == i+1 && j == cut:
				return 1e-13
			case j == i+1:
				return 1e-3
			}
			return 0
		}
	},
	"blocks far apart": func(r *rand.Rand, m, n int) func(i, j int) float64 {
		return func(i, j int) float64 {
			switch k := min(m, n) / 2; {
			case i < k && j < k:
				return r.NormFloat64()
			case i >= k && j >= k:
				return r.NormFloat64() * 1e-170
			}
			return 0
		}
	},
	"ones above the diagonal": func(r *rand.Rand, m, n int) func(i, j int) float64 {
		return func(i, j int) float64 { return max(0, min(1, float64(j-i))) }
	},
	"Kahan": func(r *rand.Rand, m, n int) func(i, j int) float64 {
		return func(i, j int) float64 {
			switch row := math.Pow(0.8, float64(i)); {
			case i == j:
				return row
			case i < j:
				return -0.6 * row
			}
			return 0
		}
	},
}

func diagonal(at func(i int) float64) func(i, j int) float64 {
	return func(i, j int) float64 {
		if i != j {
			return 0
		}
		return at(i)
	}
}

func fill(m, n int, at func(i, j int) float64) []float64 {
	a := make([]float64, m*n)
	for k := range a {
		a[k] = at(k/n, k%n)
	}
	return a
}

// sizes that take each of the solver's ways: wide, tall, nearly square.
func sizes(r *rand.Rand) [][2]int {
	all := [][2]int{{1, 1}, {1, 7}, {7, 1}, {2, 2}, {2, 3}, {3, 2}, {5, 5}, {40, 40}, {64, 7}, {7, 64}, {33, 27}, {27, 33}}
	for range 4 {
		all = append(all, [2]int{1 + r.IntN(60), 1 + r.IntN(60)})
	}
	return all
}
