package evaluator

import (
	"math"
	"slices"
	"strings"
)

// Method describes which tokens a sampling kernel may draw.
type Method string

// The methods, by what the names of definitions contain.
const (
	TopKTopP Method = "top_k_top_p"
	TopK     Method = "top_k"
	TopP     Method = "top_p"
	Plain    Method = "none"
)

// MethodOf returns the method of a definition.
func MethodOf(definition string) Method {
	for _, m := range []Method{TopKTopP, TopK, TopP} {
		if strings.Contains(definition, string(m)) {
			return m
		}
	}
	return Plain
}

func (m Method) topK() bool { return m == TopK || m == TopKTopP }
func (m Method) topP() bool { return m == TopP || m == TopKTopP }

// float is a type that probabilities are computed in.
type float interface{ float32 | float64 }

// ranking returns the tokens by falling probability, equal ones in their order.
func ranking[F float](probs []F) []int32 {
	order := make([]int32, len(probs))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		switch p, q := probs[a], probs[b]; {
		case p > q:
			return -1
		case p < q:
			return 1
		}
		return int(a - b)
	})
	return order
}

// cuts are numbers of tokens that are kept, counted by rank. Where the sum of
// the first ones is so close to p that the order of its additions decides,
// low and high are what the one and the other order would keep.
type cuts struct{ exact, low, high int }

// keep applies the rule of the datasets' references: the k likeliest tokens,
// if 0 < k < n; these renormalised; of them as many as it takes to exceed p, if
// 0 < p < 1, the one that crosses p included; the likeliest one alone if p <= 0.
// Tokens of probability 0 are never drawn.
func keep[F float](m Method, probs []F, order []int32, k int, p float64) cuts {
	n, total := len(order), 1.0
	if m.topK() && 0 < k && k < n {
		n, total = k, 0
		for _, token := range order[:k] {
			total += float64(probs[token])
		}
	}
	c := cuts{n, n, n}
	if m.topP() && p <= 0 {
		c = cuts{1, 1, 1}
	} else if m.topP() && p < 1 {
		// Partial sums in float32 are off by about half a unit times the
		// square root of the number of terms.
		band := math.Sqrt(float64(n)) * 0x1p-23
		nucleus := func(p float64) int { return crossing(probs, order[:n], F(p*total)) }
		c = cuts{nucleus(p), nucleus(p - band), nucleus(p + band)}
	}
	positive := len(order)
	for positive > 1 && probs[order[positive-1]] <= 0 {
		positive--
	}
	return cuts{min(c.exact, positive), min(c.low, positive), min(c.high, positive)}
}

// crossing returns how many tokens it takes to exceed p.
func crossing[F float](probs []F, order []int32, p F) int {
	sum := 0.0
	for i, token := range order {
		if sum += float64(probs[token]); F(sum) > p {
			return i + 1
		}
	}
	return len(order)
}

func mass[F float](probs []F, tokens []int32) (sum float64) {
	for _, token := range tokens {
		sum += float64(probs[token])
	}
	return sum
}

// FibMask returns the tokens that upstream's evaluator lets a kernel draw,
// which are not those that its references draw: all that are at least as likely
// as the k-th, if 0 < k < n, and of them those up to which the sum of all
// original probabilities is at most p + 0.05, and the first one, if 0 < p < 1.
// Upstream computes in float32.
func FibMask[F float](m Method, probs []F, k int, p float64) []bool {
	mask := make([]bool, len(probs))
	order := ranking(probs)
	n := len(order)
	if m.topK() && 0 < k && k < n {
		for kth := probs[order[k-1]]; k < n && probs[order[k]] == kth; {
			k++
		}
		n = k
	}
	if m.topP() && 0 < p && p < 1 {
		var sum F
		for i, token := range order[:n] {
			if sum += probs[token]; sum > F(p+fibSlack) && i > 0 {
				n = i
				break
			}
		}
	}
	for _, token := range order[:n] {
		mask[token] = true
	}
	return mask
}

const fibSlack = 0.05

// FibExpected returns the distribution that upstream's evaluator expects.
func FibExpected[F float](m Method, probs []F, k int, p float64) []F {
	expected := make([]F, len(probs))
	var total F
	for token, allowed := range FibMask(m, probs, k, p) {
		if allowed {
			expected[token] = probs[token]
			total += probs[token]
		}
	}
	for token := range expected {
		expected[token] /= total
	}
	return expected
}
