package load

import (
	"math"
	"math/rand/v2"
)

// The arithmetic here is our own so that a seed means the same schedule on
// every machine and with every Go: math.Log has an assembly version on some
// processors, rand.ExpFloat64 may change its method, and a compiler may fuse a
// product and a sum into one rounding unless the product is converted
// explicitly, as the language specification says under "Floating-point
// operators". PCG is fixed by its paper (O'Neill, HMC-CS-2014-0905).

// stream distinguishes this use of a seed from the caller's own draws.
const stream = 0x6c6f61642f617272 // "load/arr"

func newRandom(seed uint64) *rand.PCG { return rand.NewPCG(seed, stream) }

// uniform returns one of 2^53 equidistant numbers above 0 and up to 1.
func uniform(r *rand.PCG) float64 {
	return float64(r.Uint64()>>11+1) * 0x1p-53
}

// normal draws from the standard normal distribution by Marsaglia's polar
// method. The second of each pair is dropped, which keeps it without a state.
func normal(r *rand.PCG) float64 {
	for {
		u, v := float64(2*uniform(r))-1, float64(2*uniform(r))-1
		if s := float64(u*u) + float64(v*v); s > 0 && s < 1 {
			return float64(u * math.Sqrt(-2*ln(s)/s))
		}
	}
}

// gamma draws from the gamma distribution of that shape and scale 1, by the
// method of Marsaglia and Tsang (ACM TOMS 26, 2000); shapes below 1 are those
// above, scaled down by a power of a uniform number.
func gamma(r *rand.PCG, shape float64) float64 {
	switch {
	case shape == 1:
		return -ln(uniform(r))
	case shape < 1:
		g := gamma(r, shape+1)
		return float64(g * exp(ln(uniform(r))/shape))
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := normal(r)
		t := 1 + float64(c*x)
		if t <= 0 {
			continue
		}
		v := float64(t*t) * t
		if ln(uniform(r)) < float64(0.5*x*x)+d-float64(d*v)+float64(d*ln(v)) {
			return float64(d * v)
		}
	}
}

// ln returns the natural logarithm of a positive finite number, within a part
// in 1e15: the series of 2*atanh((m-1)/(m+1)) of the mantissa m.
func ln(x float64) float64 {
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, e = 2*m, e-1
	}
	s := (m - 1) / (m + 1)
	z := float64(s * s)
	sum := 0.0
	for k := 23.0; k >= 3; k -= 2 { // the next term is below 0.0295^12/25 of s
		sum = float64((sum + 1/k) * z)
	}
	return float64(float64(e)*math.Ln2) + float64(2*s) + float64(2*s*sum)
}

// exp returns e to the power of x for x from about -700 to 700, within a
// part in 1e13, and 0 below: Taylor's series of x modulo ln 2.
func exp(x float64) float64 {
	if x < -700 {
		return 0
	}
	k := math.Floor(float64(x/math.Ln2) + 0.5)
	r := x - float64(k*math.Ln2)
	sum := 1.0
	for n := 16.0; n >= 1; n-- {
		sum = 1 + float64(sum*r/n)
	}
	return math.Ldexp(sum, int(k))
}
