package builtin

import "math"

// values gives element i of an input that is no place for random numbers, by the
// input's name and the sizes of all axes.
var values = map[string]func(i int, axes map[string]int) float64{
	"kv_indptr":        pagesBefore,
	"kv_indices":       func(i int, axes map[string]int) float64 { return float64((7*i + 3) % axes["num_pages"]) },
	"kv_last_page_len": func(i int, axes map[string]int) float64 { return float64(1 + 5*i%axes["page_size"]) },
	"cos_sin_cache":    cosOrSin,
	"positions":        func(i int, axes map[string]int) float64 { return float64(37 * i % axes["max_seq_len"]) },
	"top_k":            func(i int, axes map[string]int) float64 { return []float64{40, 1, 8, float64(axes["vocab_size"])}[i%4] },
	"top_p":            func(i int, _ map[string]int) float64 { return []float64{0.9, 0.5, 1, 0.1}[i%4] },
}

// pagesBefore gives each sequence more pages than the one before.
func pagesBefore(i int, axes map[string]int) float64 {
	n := axes["batch_size"]
	return float64(axes["num_kv_indices"] * (i * (i + 1)) / (n * (n + 1)))
}

// cosOrSin is of the angle position / 10000^(2j/dim) for the rotated pair j, the
// base of the paper (arXiv:2104.09864): first the cosines of all pairs of a
// position, then the sines.
func cosOrSin(i int, axes map[string]int) float64 {
	dim := axes["rotary_dim"]
	position, column := i/dim, i%dim
	pair := column % (dim / 2)
	angle := float64(position) / math.Pow(10000, 2*float64(pair)/float64(dim))
	if column < dim/2 {
		return math.Cos(angle)
	}
	return math.Sin(angle)
}
