package dataset

import (
	"fmt"
	"math"
)

// Dist is how lengths are distributed.
type Dist string

// The distributions of lengths.
const (
	Fixed     Dist = "fixed"     // Value
	Uniform   Dist = "uniform"   // Min to Max, both included, each as often
	LogNormal Dist = "lognormal" // P50 and Sigma, truncated to Min and Max
)

// Lengths describes how long prompts or answers are, in words for generated prompts
// and in tokens for answers. The zero value says nothing.
type Lengths struct {
	Dist  Dist `yaml:"dist" json:"dist,omitempty"`
	Value int  `yaml:"value" json:"value,omitempty"` // fixed
	// Min and Max bound uniform and lognormal lengths. A lognormal one may leave
	// them 0, for 1 and the most that is allowed.
	Min int `yaml:"min" json:"min,omitempty"`
	Max int `yaml:"max" json:"max,omitempty"`
	// P50 is the median and Sigma the standard deviation of the logarithm of a
	// lognormal length before it is truncated; truncation that cuts more from
	// one side moves the median. Sigma is above 0 and at most 5; that of
	// ShareGPT's lengths is about 1.
	P50   int     `yaml:"p50" json:"p50,omitempty"`
	Sigma float64 `yaml:"sigma" json:"sigma,omitempty"`
}

const maxSigma = 5

func (l Lengths) isZero() bool { return l == Lengths{} }

// check returns what is wrong with l, whose lengths may be up to limit.
func (l Lengths) check(field string, limit int) error {
	within := func(name string, v, low, high int) error {
		if v < low || v > high {
			return fmt.Errorf("%s.%s: %d is out of range: write a number from %d to %d", field, name, v, low, high)
		}
		return nil
	}
	switch l.Dist {
	case Fixed:
		if err := l.only(field, Lengths{Dist: Fixed, Value: l.Value}, "value"); err != nil {
			return err
		}
		return within("value", l.Value, 1, limit)
	case Uniform:
		if err := l.only(field, Lengths{Dist: Uniform, Min: l.Min, Max: l.Max}, "min and max"); err != nil {
			return err
		}
		return firstOf(within("min", l.Min, 1, limit), within("max", l.Max, l.Min, limit))
	case LogNormal:
		return l.checkLogNormal(field, limit, within)
	case "":
		return fmt.Errorf("%s.dist: is missing: write fixed, uniform or lognormal", field)
	}
	return unknown(field+".dist", string(l.Dist), Fixed, Uniform, LogNormal)
}

func (l Lengths) checkLogNormal(field string, limit int, within func(string, int, int, int) error) error {
	if l.Value != 0 {
		return fmt.Errorf("%s.value: is for dist fixed: write p50 and sigma", field)
	}
	if !(l.Sigma > 0 && l.Sigma <= maxSigma) { // so that NaN is refused
		return fmt.Errorf("%s.sigma: %v is out of range: write a number above 0 and up to %d, such as 1", field, l.Sigma, maxSigma)
	}
	b := l.bounded(limit)
	return firstOf(within("min", b.Min, 1, limit), within("max", b.Max, b.Min, limit), within("p50", l.P50, b.Min, b.Max))
}

// only reports whether l has no other fields than those of want.
func (l Lengths) only(field string, want Lengths, names string) error {
	if l != want {
		return fmt.Errorf("%s: dist %s takes only %s: remove the other keys", field, l.Dist, names)
	}
	return nil
}

// bounded fills in the bounds that a lognormal length leaves open.
func (l Lengths) bounded(limit int) Lengths {
	if l.Dist == LogNormal && l.Min == 0 {
		l.Min = 1
	}
	if l.Dist == LogNormal && l.Max == 0 {
		l.Max = limit
	}
	return l
}

// draw returns a length of l, 0 if l says nothing. It takes one number from
// the source in any case, so that what follows does not depend on l.
//
// A lognormal length is drawn by inverting the distribution function between
// its bounds. The last bit of Exp and Erf may differ between processors; a
// length differs only where that bit decides which way one is rounded.
func (l Lengths) draw(from source, limit int) int {
	l = l.bounded(limit)
	switch l.Dist {
	case Fixed:
		from.float()
		return l.Value
	case Uniform:
		return l.Min + from.intn(l.Max-l.Min+1)
	case LogNormal:
		low, high := l.below(float64(l.Min)-0.5), l.below(float64(l.Max)+0.5)
		u := low + float64((high-low)*from.float())
		z := math.Sqrt2 * math.Erfinv(2*u-1)
		v := float64(l.P50) * math.Exp(l.Sigma*z)
		return int(math.Round(min(max(v, float64(l.Min)), float64(l.Max))))
	}
	from.float()
	return 0
}

// below is the lognormal distribution function before truncation.
func (l Lengths) below(v float64) float64 {
	return (1 + math.Erf(math.Log(v/float64(l.P50))/(l.Sigma*math.Sqrt2))) / 2
}
