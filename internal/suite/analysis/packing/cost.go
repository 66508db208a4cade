package packing

import (
	"errors"
	"fmt"
	"math"
)

// Cost is what a rank spends on a sequence of l tokens: A*l + B*l*l, in any
// unit. The square is attention's, which is over pairs of tokens. The zero value
// counts tokens. Capacity is tokens whatever the cost.
type Cost struct{ A, B float64 }

// of returns the cost of a sequence of l tokens.
func (c Cost) of(l int64) float64 {
	if c == (Cost{}) {
		return float64(l)
	}
	// The conversions keep the compiler from fusing the sum, which would give
	// other bits on other processors.
	x := float64(l)
	return float64(c.A*x) + float64(float64(c.B*x)*x)
}

// linear reports whether balancing costs is balancing tokens.
func (c Cost) linear() bool { return c.B == 0 }

func (c Cost) check(lengths []int64) error {
	for _, x := range []float64{c.A, c.B} {
		if math.IsNaN(x) || math.IsInf(x, 0) || x < 0 {
			return fmt.Errorf("cost factor %v: give a number from 0 on", x)
		}
	}
	if math.IsInf(c.total(lengths), 1) {
		return errors.New("the costs add up to infinity: give smaller factors, as only their ratio matters")
	}
	return nil
}

func (c Cost) total(lengths []int64) (total float64) {
	for _, l := range lengths {
		total += c.of(l)
	}
	return total
}

// weights returns integers in proportion to the costs, so that algorithms add
// and compare exactly and alike on every machine: the tokens themselves if the
// cost is linear, and shares of 2^62 otherwise.
func (c Cost) weights(lengths []int64) []int64 {
	total := c.total(lengths)
	if c.linear() || total == 0 {
		return lengths
	}
	weights := make([]int64, len(lengths))
	for i, l := range lengths {
		weights[i] = int64(c.of(l) / total * (1 << 62))
	}
	return weights
}
