package engine

import (
	"fmt"
	"math"
)

// greedy returns the token of the largest logit among those that answers are
// restricted to: printable ASCII and the newline. The lowest token wins a tie.
// It returns an error if any logit is NaN or infinite: a broken computation
// must not pass for an answer.
func greedy(logits []float32) (int, error) {
	best := -1
	for token, logit := range logits {
		if math.IsNaN(float64(logit)) || math.IsInf(float64(logit), 0) {
			return 0, fmt.Errorf("logit of token %d is %v", token, logit)
		}
		if sampled(token) && (best < 0 || logit > logits[best]) {
			best = token
		}
	}
	if best < 0 {
		return 0, fmt.Errorf("none of %d logits belongs to a printable token", len(logits))
	}
	return best, nil
}
