package evaluator

// Expected returns the distribution that the reference of a sampling definition
// draws from. Of tokens that are equally likely where the line is drawn it
// keeps the first ones. k and p are ignored where m has none.
func Expected[F float](m Method, probs []F, k int, p float64) []float64 {
	expected := make([]float64, len(probs))
	if len(probs) == 0 {
		return expected
	}
	order := ranking(probs)
	kept := order[:keep(m, probs, order, k, p).exact]
	total := mass(probs, kept)
	for _, token := range kept {
		expected[token] = float64(probs[token]) / total
	}
	return expected
}
