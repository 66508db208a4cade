package detect

import (
	"cmp"
	"slices"
)

// AdjustFDR returns, for each p-value, the smallest false discovery rate at
// which Benjamini and Hochberg's procedure would reject it. Equal p-values get
// equal results, so the order of ps does not matter. They must be in [0, 1].
func AdjustFDR(ps []float64) []float64 {
	order := make([]int, len(ps))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ps[b], ps[a]) })
	adjusted := make([]float64, len(ps))
	least := 1.0
	for i, at := range order { // the largest first
		least = min(least, ps[at]*float64(len(ps))/float64(len(ps)-i))
		adjusted[at] = least
	}
	return adjusted
}
