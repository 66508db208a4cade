package detect_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/stats"
)

func sideOf(values []float64) detect.Side {
	return detect.NewSide(stats.Median(values), stats.MAD(values), len(values))
}

// TestSidesProperties: neither unit nor direction matters, more of a loss is never
// less likely one, and noisier or fewer values are never more sure of a loss.
func TestSidesProperties(t *testing.T) {
	t.Parallel()
	rng := source(t)
	for range 300 {
		noise := math.Exp(-6 + 4*rng.Float64())
		draw := func(n int) []float64 { return noisy(rng.Uint64(), noise, [2]float64{100, float64(n)}) }
		base, head := draw(1+2*rng.IntN(3)), draw(1+2*rng.IntN(3)) // odd: a rate has the reciprocal median
		c := detect.TwoSample{Base: sideOf(base), Head: sideOf(head)}
		want := detect.JudgeTwoSample([]detect.TwoSample{c})[0]
		other := detect.TwoSample{Base: c.Base, Head: c.Head, HigherIsBetter: true}
		other.Base.Median, other.Head.Median = 4096/c.Base.Median, 4096/c.Head.Median
		if got := detect.JudgeTwoSample([]detect.TwoSample{other})[0]; math.Abs(got.P-want.P) > 1e-9 {
			t.Fatalf("as a rate %v, want %v", got, want)
		}
		slower := c
		slower.Head.Median *= 1.1
		if got := detect.JudgeTwoSample([]detect.TwoSample{slower})[0]; got.P > want.P {
			t.Fatalf("slower: %v after %v", got, want)
		}
		slower.Head.Median = 1.3 * c.Base.Median
		sure := detect.JudgeTwoSample([]detect.TwoSample{slower})[0]
		slower.Base.Noise *= 3
		if got := detect.JudgeTwoSample([]detect.TwoSample{slower})[0]; got.P < sure.P {
			t.Fatalf("noisier: %v after %v", got, sure)
		}
		minimum := want.MinLoss(0.01)
		slower = c
		slower.Head.Median = c.Base.Median * (1 + minimum)
		if got := detect.JudgeTwoSample([]detect.TwoSample{slower})[0]; math.Abs(got.P-0.01) > 1e-6 {
			t.Fatalf("p %v at the slow-down of p 1 %%", got.P)
		}
	}
}

// TestSidesHoldTheirPromise: reports of two sessions that differ as the allowance
// says are rarely red, and a plain loss on a quiet host is found.
func TestSidesHoldTheirPromise(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(41, 42))
	const reports, count = 200, 30
	red, found := 0, 0
	session := func(noise float64) []float64 {
		level := 100 * math.Exp(1.5*noise*rng.NormFloat64())
		return []float64{level * math.Exp(noise*rng.NormFloat64()), level * math.Exp(noise*rng.NormFloat64()), level * math.Exp(noise*rng.NormFloat64())}
	}
	for range reports {
		cells := make([]detect.TwoSample, count)
		for i := range cells {
			noise := math.Exp(-5 + 2*rng.Float64())
			cells[i] = detect.TwoSample{Base: sideOf(session(noise)), Head: sideOf(session(noise))}
		}
		ps := make([]float64, count)
		for i, e := range detect.JudgeTwoSample(cells) {
			ps[i] = e.P
		}
		for _, q := range detect.AdjustHolm(ps) {
			if q <= detect.DefaultFalseAlarms {
				red++
				break
			}
		}
		quiet := make([]detect.TwoSample, count)
		for i := range quiet {
			quiet[i] = detect.TwoSample{Base: sideOf(session(0.003)), Head: sideOf(session(0.003))}
		}
		quiet[0].Head.Median *= 1.5
		if detect.JudgeTwoSample(quiet)[0].P*count <= detect.DefaultFalseAlarms {
			found++
		}
	}
	if red > 4*reports/100 {
		t.Errorf("%d of %d unchanged reports are red", red, reports)
	}
	if found < 95*reports/100 {
		t.Errorf("a loss of 50 %% on a quiet host is found in %d of %d", found, reports)
	}
	if e := detect.JudgeTwoSample([]detect.TwoSample{{Head: detect.Side{Median: 1, N: 1}}})[0]; e.P != 1 || e.Estimate >= e.Huge {
		t.Errorf("without a base: %+v", e)
	}
}

// TestLargeLosses holds for any noise and number of values: what is large on any
// host is at least as much as on a healthy one that has enough values, more noise
// never lowers either, and no noise raises the limit beyond 5 times.
func TestLargeLosses(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 18))
	for range 500 {
		n, noise, slower := 3+r.IntN(8), 0.2*r.Float64(), 1+3*r.Float64()
		of := func(noise float64) detect.TwoSampleEvidence {
			side := detect.Side{Median: 10, Noise: noise, N: n}
			head := side
			head.Median *= slower
			return detect.JudgeTwoSample([]detect.TwoSample{{Base: side, Head: head}})[0]
		}
		quiet, loud := of(noise), of(1.5*noise)
		if math.Abs(quiet.Estimate-(slower-1)) > 1e-9 || quiet.Large < 0.4-1e-9 || quiet.Huge < 0.9-1e-9 || quiet.Huge > 4+1e-9 {
			t.Fatalf("%d values, noise %v, %v times: %+v", n, noise, slower, quiet)
		}
		if quiet.Huge < min(quiet.Large, 4-1e-9) || loud.Large < quiet.Large || loud.Huge < quiet.Huge {
			t.Fatalf("%d values, noise %v: %+v, %+v", n, noise, quiet, loud)
		}
	}
	few := detect.Side{Median: 1, Noise: 0.001, N: 2}
	if e := detect.JudgeTwoSample([]detect.TwoSample{{Base: few, Head: few}})[0]; !math.IsInf(e.Large, 1) {
		t.Errorf("2 values: %+v", e)
	}
}
