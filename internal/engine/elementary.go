package engine

import "math"

// ln2 in two parts: the first has 32 zero bits at its end, so that its product
// with a small integer is exact.
const (
	ln2High = 6.93147180369123816490e-01
	ln2Low  = 1.90821492927058770002e-10
)

// taylor holds 1/n! for n from 12 down to 0.
var taylor = [...]float64{
	1. / 479001600, 1. / 39916800, 1. / 3628800, 1. / 362880, 1. / 40320, 1. / 5040,
	1. / 720, 1. / 120, 1. / 24, 1. / 6, 1. / 2, 1, 1,
}

// exp returns e**x within a few units of the last place of a float64, the same
// on every platform. Above 709 it is +Inf and below -708 it is 0.
func exp(x float64) float64 {
	switch {
	case x != x:
		return x
	case x > 709:
		return math.Inf(1)
	case x < -708:
		return 0
	}
	n := math.Floor(float64(x*math.Log2E) + 0.5)
	r := x - float64(n*ln2High) - float64(n*ln2Low)
	sum := 0.
	for _, c := range taylor {
		sum = float64(sum*r) + c
	}
	return float64(sum * math.Float64frombits(uint64(int64(n)+1023)<<52)) // times 2**n
}

// sincos returns sine and cosine of an angle between 0 and 1 radian.
func sincos(angle float64) (sin, cos float64) {
	term := 1. // angle**n / n!, with the signs of the series
	for n := 0; n < 20; n += 2 {
		cos += term
		term = float64(term*angle) / float64(n+1)
		sin += term
		term = -float64(term*angle) / float64(n+2)
	}
	return sin, cos
}
