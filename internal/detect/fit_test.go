package detect_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// fitXs are the places of points of which the last one weighs most.
var fitXs = []float64{1, 2, 4, 8}

// pairsOfLine draws points of 10 + 5x with noise and tails; the head has another slope.
func pairsOfLine(r *rand.Rand, pairs int, sd, slope float64) []detect.FitPoint {
	out := make([]detect.FitPoint, len(fitXs))
	value := func(level float64) float64 {
		y := sd * r.NormFloat64()
		if r.IntN(10) == 0 {
			y += 0.5 * r.Float64()
		}
		return level * math.Exp(y)
	}
	for i, x := range fitXs {
		out[i].X = x
		for range pairs {
			out[i].Base, out[i].Head = append(out[i].Base, value(10+5*x)), append(out[i].Head, value(10+slope*x))
		}
	}
	return out
}

// TestFitPairsAreExact: under unchanged code, p is at most alpha in a share of alpha of the fits.
func TestFitPairsAreExact(t *testing.T) {
	if testtier.Race {
		t.Skip("numbers of one goroutine")
	}
	t.Parallel()
	r := rand.New(rand.NewPCG(6, 26))
	const fits = 700
	for _, pairs := range []int{2, 6} {
		for _, c := range []detect.Coefficient{detect.Slope, detect.Intercept} {
			low := 0
			for range fits {
				if e, _ := detect.JudgeFitPairs(pairsOfLine(r, pairs, 0.02, 5), c, false); e.P <= 0.05 {
					low++
				}
			}
			if share := float64(low) / fits; share > 0.075 { // 3 standard errors
				t.Errorf("%d pairs, coefficient %d: p is at most 5 %% in %.1f %% of unchanged fits", pairs, c, 100*share)
			}
		}
	}
}

// TestFitSidesAllowForSessions: two sessions of unchanged code, of which each point differs by twice the noise
// within and all by 1.5 %, have a p of at most 2 % in less than 2 % of the fits.
func TestFitSidesAllowForSessions(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 26))
	const fits, sd = 3000, 0.01
	for _, c := range []detect.Coefficient{detect.Slope, detect.Intercept} {
		low := 0
		for range fits {
			points := make([]detect.FitTwoSample, len(fitXs))
			session := func(level float64, common float64) detect.Side {
				y := make([]float64, 5)
				own := 2 * sd * r.NormFloat64()
				for k := range y {
					y[k] = level * math.Exp(common+own+sd*r.NormFloat64())
				}
				slices.Sort(y)
				mad := []float64{}
				for _, v := range y {
					mad = append(mad, math.Abs(v-y[2]))
				}
				slices.Sort(mad)
				return detect.NewSide(y[2], mad[2], 5)
			}
			before, after := 0.015*r.NormFloat64(), 0.015*r.NormFloat64()
			for i, x := range fitXs {
				points[i] = detect.FitTwoSample{X: x, Base: session(10+5*x, before), Head: session(10+5*x, after)}
			}
			if e, _ := detect.JudgeFitTwoSample(points, c, false); e.P <= 0.02 {
				low++
			}
		}
		if share := float64(low) / fits; share > 0.02 {
			t.Errorf("coefficient %d: p is at most 2 %% in %.1f %% of unchanged fits", c, 100*share)
		}
	}
}

// TestFitByHand: y = 1, 3, 2, 5 at x = 0, 1, 2, 3 has the line 1.1 + 1.1x, with the standard errors of
// a textbook: residuals -0.1, 0.8, -1.3, 0.6, so s^2 = 2.7 / 2.
func TestFitByHand(t *testing.T) {
	t.Parallel()
	xs, ys := []float64{0, 1, 2, 3}, []float64{1, 3, 2, 5}
	slope, se, ok := detect.FitOne(xs, ys, detect.Slope)
	if !ok || math.Abs(slope-1.1) > 1e-12 || math.Abs(se-math.Sqrt(1.35/5)) > 1e-12 {
		t.Errorf("slope %v, standard error %v", slope, se)
	}
	intercept, se, ok := detect.FitOne(xs, ys, detect.Intercept)
	if !ok || math.Abs(intercept-1.1) > 1e-12 || math.Abs(se-math.Sqrt(1.35*(1.0/4+1.5*1.5/5))) > 1e-12 {
		t.Errorf("intercept %v, standard error %v", intercept, se)
	}
	for _, bad := range [][]float64{{1, 2}, {1, 1, 2, 2}, {1, 1, 1}, {1, 2, math.Inf(1)}, {1, 2, math.NaN()}, {}} {
		if _, _, ok := detect.FitOne(bad, bad, detect.Slope); ok {
			t.Errorf("a line over %v", bad)
		}
	}
}

// TestFitProperties: the order of points and a turned direction change no size, and a steeper line is found.
func TestFitProperties(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(8, 26))
	for range 200 {
		points := pairsOfLine(r, 1+r.IntN(20), 0.01, 4+2*r.Float64())
		a, _ := detect.JudgeFitPairs(points, detect.Slope, false)
		turned := slices.Clone(points)
		slices.Reverse(turned)
		for i := range turned {
			turned[i].Base, turned[i].Head = turned[i].Head, turned[i].Base
		}
		b, _ := detect.JudgeFitPairs(turned, detect.Slope, true)
		if math.Abs(a.P-b.P) > 1e-9 || math.Abs(a.Old-b.New) > 1e-9 || math.Abs(a.New-b.Old) > 1e-9 {
			t.Fatalf("%+v and %+v", a, b)
		}
	}
	e, _ := detect.JudgeFitPairs(pairsOfLine(r, 20, 0.01, 7), detect.Slope, false)
	if low, high := e.Interval(); e.P > 0.001 || low > 2 || high < 2 {
		t.Errorf("%+v, from %v to %v", e, low, high)
	}
}
