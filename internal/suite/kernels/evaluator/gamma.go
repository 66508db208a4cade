package evaluator

import "math"

// chiSquareTail returns the probability that a chi-square variable with df
// degrees of freedom exceeds x, 1 if there are none.
func chiSquareTail(x, df float64) float64 {
	if df <= 0 || x <= 0 {
		return 1
	}
	return gammaTail(df/2, x/2)
}

// gammaTail is the regularised upper incomplete gamma function Q(a, x), by the
// series of P below a and by the continued fraction above, as in Abramowitz
// and Stegun 6.5.29 and 6.5.31. Both take some times sqrt(a) steps.
func gammaTail(a, x float64) float64 {
	switch {
	case math.IsNaN(x):
		return math.NaN()
	case math.IsInf(x, 1):
		return 0
	}
	lgamma, _ := math.Lgamma(a)
	scale := math.Exp(a*math.Log(x) - x - lgamma)
	if x < a+1 {
		return 1 - scale*gammaSeries(a, x)
	}
	return scale * gammaFraction(a, x)
}

const (
	precision = 1e-15
	maxSteps  = 1 << 20
)

func gammaSeries(a, x float64) float64 {
	term := 1 / a
	sum := term
	for n := 1.0; n < maxSteps && term > sum*precision; n++ {
		term *= x / (a + n)
		sum += term
	}
	return sum
}

// gammaFraction evaluates the fraction by Lentz's method.
func gammaFraction(a, x float64) float64 {
	const tiny = 1e-300
	b := x + 1 - a
	c, d := 1/tiny, 1/b
	h := d
	for n := 1.0; n < maxSteps; n++ {
		numerator := -n * (n - a)
		b += 2
		if d = numerator*d + b; math.Abs(d) < tiny {
			d = tiny
		}
		if c = b + numerator/c; math.Abs(c) < tiny {
			c = tiny
		}
		d = 1 / d
		h *= d * c
		if math.Abs(d*c-1) < precision {
			break
		}
	}
	return h
}
