package load

import (
	"fmt"
	"math"
	"time"
)

// Curve describes how the rate goes from Plan.Rate to Plan.RateEnd.
type Curve string

// The curves. Each takes the whole Plan.Duration.
const (
	Linear      Curve = "linear"      // by equal differences
	Exponential Curve = "exponential" // by equal factors
)

// ramps reports whether the rate changes.
func (p Plan) ramps() bool { return p.RateEnd != 0 }

func (p Plan) checkRamp() error {
	switch {
	case !p.ramps() && p.Curve != "":
		return fmt.Errorf("a rate curve has no end: give the rate at the end of the duration, or leave the curve out")
	case !p.ramps():
		return nil
	case !p.rated():
		return fmt.Errorf("a load of mode %s has no rate at the end: leave it out or choose constant, gamma or burst", p.Mode)
	case !(p.RateEnd > 0 && p.RateEnd <= maxRate):
		return fmt.Errorf("the rate at the end is %v: give requests per second, above 0 and up to %g", p.RateEnd, float64(maxRate))
	case p.RateEnd == p.Rate:
		return fmt.Errorf("the rate at the end is the rate, %v: leave it out", p.Rate)
	case p.Duration == 0:
		return fmt.Errorf("a rate that changes needs a duration over which it does: give one")
	case p.Requests != 0:
		return fmt.Errorf("a rate that changes takes the whole duration, and requests would cut it: leave requests out")
	case p.Curve != Linear && p.Curve != Exponential:
		return fmt.Errorf("unknown rate curve %q: use linear or exponential", p.Curve)
	}
	return nil
}

// rampStart is when the rate begins to change, in seconds: at the expected end
// of the warm-up, which has the first rate.
func (p Plan) rampStart() float64 {
	return max(p.Warmup.Duration.Seconds(), float64(p.Warmup.Requests)/p.Rate)
}

// rampMoment returns when n requests are expected, n from 0 and not
// necessarily whole: the inverse of the integral of the rate. Products are
// converted against fused rounding, as in random.go.
func (p Plan) rampMoment(n float64) time.Duration {
	start, length := p.rampStart(), p.Duration.Seconds()
	n -= float64(p.Rate * start)
	if n <= 0 {
		return moment((start + n/p.Rate) * 1e9)
	}
	change := p.RateEnd - p.Rate
	whole := float64((p.Rate+p.RateEnd)*length) / 2
	k, seconds := 0.0, 0.0
	if p.Curve == Exponential {
		k = ln(p.RateEnd / p.Rate)
		whole = float64(change*length) / k
	}
	switch {
	case n >= whole:
		seconds = length + (n-whole)/p.RateEnd
	case p.Curve == Exponential:
		seconds = float64(length*ln(max(math.SmallestNonzeroFloat64, 1+float64(n*k)/float64(p.Rate*length)))) / k
	default:
		seconds = 2 * n / (p.Rate + math.Sqrt(max(0, float64(p.Rate*p.Rate)+float64(2*change*n)/length)))
	}
	return moment((start + seconds) * 1e9)
}
