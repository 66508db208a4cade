package detect

import (
	"cmp"
	"slices"
)

// AdjustHolm returns, for each p-value, the smallest rate of false alarms, that is
// the chance of any, at which Holm's procedure over all of them would reject it.
// It holds whatever the dependence between them. Equal p-values get equal
// results, so the order of ps does not matter. They must be in [0, 1].
func AdjustHolm(ps []float64) []float64 {
	order := make([]int, len(ps))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(ps[a], ps[b]) })
	adjusted := make([]float64, len(ps))
	maximum := 0.0
	for i, at := range order { // the smallest first
		maximum = max(maximum, min(1, ps[at]*float64(len(ps)-i)))
		adjusted[at] = maximum
	}
	return adjusted
}
