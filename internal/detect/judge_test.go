package detect_test

import (
	"math"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/detect"
)

// exp returns values with these logarithms.
func exp(y ...float64) []float64 {
	out := make([]float64, len(y))
	for i, v := range y {
		out[i] = math.Exp(v)
	}
	return out
}

func near(t *testing.T, name string, got, want, limit float64) {
	t.Helper()
	if !(math.Abs(got-want) <= limit) {
		t.Errorf("%s: %.15g, want %.15g", name, got, want)
	}
}

// TestByHand computes two scores from nothing but the definitions.
func TestByHand(t *testing.T) {
	t.Parallel()

	// Of 5 samples, 4 are kept: the base's are 0, 0, .02, .02, around .01 with a
	// sum of squares of .0004, and so are the head's, .1 above.
	base := exp(0, 0.02, 0.5, 0.02, 0)
	head := exp(0.12, 0.1, 0.1, 0.12, 0.9)
	got, _ := detect.Compare(base, head, detect.Options{Own: 0.01, Cross: 0.08})
	near(t, "effect", got.Effect, 0.1, 1e-15)
	near(t, "prior", got.Prior, 0.02, 1e-15) // (1e-4 * .08)^(1/3)
	s := math.Sqrt((4*0.0004 + 0.0008) / (4 + 6))
	near(t, "s", got.S, s, 1e-15)
	near(t, "se", got.SE, s*math.Sqrt(0.5), 1e-15)
	near(t, "df", got.DF, 9, 0)
	near(t, "A12", got.A12, 20.0/25+1.0/25, 1e-15) // all but 4 pairs with 0.5, which 0.9 beats
	near(t, "p", got.P, student9(0.1/(s*math.Sqrt(0.5))/1.3), 1e-12)

	// A single sample has all of the base against it, and its median.
	got, _ = detect.Compare(exp(0, 0.01, 0.05), exp(0.11), detect.Options{})
	near(t, "effect", got.Effect, 0.1, 1e-15)
	near(t, "prior", got.Prior, 0.02, 0)
	near(t, "s", got.S, math.Sqrt((4*0.0004+0.0014)/(4+2)), 1e-15)
	near(t, "se", got.SE, got.S*math.Sqrt(1+1.0/3), 1e-15)
	near(t, "df", got.DF, 5, 0)
}

// student9 is 1-F(t) of 9 degrees of freedom in closed form (Abramowitz and
// Stegun, 26.7.3).
func student9(t float64) float64 {
	a := math.Atan(t / 3)
	c := math.Cos(a)
	return 0.5 - (a+math.Sin(a)*(c+2.0/3*c*c*c+8.0/15*math.Pow(c, 5)+16.0/35*math.Pow(c, 7)))/math.Pi
}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	quiet := []float64{100, 100.2, 99.9, 100.1, 100, 99.8, 100.1, 100.2, 99.9, 100, 100.1, 99.9, 100}
	loud := []float64{100, 140, 80, 120, 95, 130, 85, 110, 150, 90, 105, 100, 125}
	nan := math.NaN()
	for _, c := range []struct {
		name       string
		base, head []float64
		o          detect.Options
		want       detect.Verdict
	}{
		{"slower", quiet, []float64{105}, detect.Options{}, detect.Regressed},
		{"slower thrice", quiet, []float64{105, 105.2, 105.1}, detect.Options{}, detect.Regressed},
		{"faster", quiet, []float64{95}, detect.Options{}, detect.Improved},
		{"a rate that fell", quiet, []float64{95}, detect.Options{HigherIsBetter: true}, detect.Regressed},
		{"a rate that rose", quiet, []float64{105}, detect.Options{HigherIsBetter: true}, detect.Improved},
		{"equal", quiet, []float64{100}, detect.Options{}, detect.Unchanged},
		{"less than the least effect", quiet, []float64{101.8}, detect.Options{}, detect.Inconclusive},
		{"the same, tolerated", quiet, []float64{101.8}, detect.Options{Tolerance: 0.1}, detect.Unchanged},
		{"the same, with a smaller least effect", quiet, []float64{101.8}, detect.Options{MinEffect: 0.01}, detect.Regressed},
		{"above all but one", append([]float64{100}, append(quiet, 103.1)...), []float64{103}, detect.Options{Alpha: 0.05}, detect.Inconclusive},
		{"above all", append([]float64{100}, append(quiet, 102.9)...), []float64{103}, detect.Options{Alpha: 0.05}, detect.Regressed},
		{"noise", loud, []float64{120}, detect.Options{}, detect.Inconclusive},
		{"one run before", []float64{100}, []float64{150}, detect.Options{Cross: 0.01}, detect.Suspect},
		{"two runs before", []float64{100, 101}, []float64{150}, detect.Options{Cross: 0.01}, detect.Suspect},
		{"two runs before, thrice", []float64{100, 101}, []float64{150, 151, 150}, detect.Options{Cross: 0.01}, detect.Regressed},
		{"two runs before, faster", []float64{99.6, 101.3}, []float64{87.5, 88.4}, detect.Options{}, detect.Inconclusive},
		{"two runs before, equal", []float64{100, 100}, []float64{100}, detect.Options{Cross: 0.001, Tolerance: 0.2}, detect.Inconclusive},
		{"two runs before, equal thrice", []float64{100, 100}, []float64{100, 100, 100}, detect.Options{Cross: 0.001, Tolerance: 0.2}, detect.Unchanged},
		{"one run before, thrice", []float64{100}, []float64{150, 151, 150}, detect.Options{Cross: 0.01}, detect.Suspect},
		{"no run before", nil, []float64{150}, detect.Options{}, detect.Untested},
		{"nothing measured", quiet, nil, detect.Options{}, detect.Untested},
		{"zero", quiet, []float64{0, 100}, detect.Options{}, detect.Untested},
		{"negative", quiet, []float64{-1}, detect.Options{}, detect.Untested},
		{"missing", quiet, []float64{nan}, detect.Options{}, detect.Untested},
		{"infinite", quiet, []float64{math.Inf(1)}, detect.Options{}, detect.Untested},
		{"missing in history", append([]float64{nan, 0, -1}, quiet...), []float64{105}, detect.Options{}, detect.Regressed},
		{"a pair", []float64{100}, []float64{200}, detect.Options{Mode: detect.Interleaved}, detect.Suspect},
		{"pairs", []float64{100, 101, 100, 99, 100}, []float64{105, 106, 105, 104, 105}, detect.Options{Mode: detect.Interleaved}, detect.Regressed},
		{"missing in pairs", []float64{100, nan, 100, 99, 100}, []float64{105, 106, 105, 104, 105}, detect.Options{Mode: detect.Interleaved}, detect.Untested},
		{"mixed up", []float64{100, 110, 100, 110, 100}, []float64{105, 106, 105, 104, 105}, detect.Options{Mode: detect.Interleaved}, detect.Inconclusive},
	} {
		e := detect.Judge(c.base, c.head, c.o)
		if e.Verdict != c.want {
			t.Errorf("%s: %s, want %s: %+v", c.name, e.Verdict, c.want, e)
		}
		if explained := e.Reason != ""; explained != (e.Verdict != detect.Regressed && e.Verdict != detect.Improved && e.Verdict != detect.Unchanged) {
			t.Errorf("%s: %s because %q", c.name, e.Verdict, e.Reason)
		}
		if lost := strings.Contains(c.name, "missing") || c.name == "zero" || c.name == "negative" || c.name == "infinite"; lost != (e.Unusable > 0) {
			t.Errorf("%s: %d unusable", c.name, e.Unusable)
		}
	}
}

func TestOwnAndCross(t *testing.T) {
	t.Parallel()
	// Steps of .1 alternately, and one level far away, which is one step only.
	y := make([]float64, 31)
	for i := range y {
		y[i] = 0.1 * float64(i%2)
		if i > 20 {
			y[i] += 5
		}
	}
	own, ok := detect.Own(exp(y...))
	near(t, "own", own, 1.4826*0.1/math.Sqrt2, 1e-12)
	if !ok {
		t.Error("31 runs are enough")
	}
	if _, ok := detect.Own(exp(y[:11]...)); ok {
		t.Error("11 runs are not enough")
	}
	if own, _ := detect.Own(exp(make([]float64, 12)...)); own != 0.002 {
		t.Errorf("equal runs have noise %v, want the floor", own)
	}
	cross, ok := detect.Cross([]float64{1.1, 0.9, 1.1, 0.9, 1.1, 0.9, 1.1, 0.9, 1, 1, math.NaN(), math.Inf(1)})
	near(t, "cross", cross, 1.4826*0.1/math.Sqrt2, 1e-12)
	if !ok {
		t.Error("10 steps are enough")
	}
	if _, ok := detect.Cross(make([]float64, 9)); ok {
		t.Error("9 steps are not enough")
	}
}

func TestAdjustHolm(t *testing.T) {
	t.Parallel()
	got := detect.AdjustHolm([]float64{0.04, 0.01, 1, 0.03, 0.01})
	for i, want := range []float64{0.09, 0.05, 1, 0.09, 0.05} {
		near(t, "q", got[i], want, 1e-15)
	}
	if len(detect.AdjustHolm(nil)) != 0 {
		t.Error("of nothing, something")
	}
}

func TestAnchored(t *testing.T) {
	t.Parallel()
	var creeping []float64
	for i := range 40 {
		creeping = append(creeping, 100+0.2*float64(i)+0.1*float64(i%3))
	}
	if e := detect.Judge(creeping[:39], creeping[39:], detect.Options{}); e.Verdict == detect.Regressed {
		t.Errorf("one step of many is an alarm: %+v", e)
	}
	e := detect.Anchored([]float64{100}, creeping, detect.Options{MinEffect: 0.05})
	if e.Verdict != detect.Regressed || e.Mode != detect.Anchor || math.Abs(e.Estimate-0.075) > 0.005 {
		t.Errorf("%+v", e)
	}
	if e := detect.Anchored([]float64{100}, creeping, detect.Options{MinEffect: 0.1}); e.Verdict == detect.Regressed {
		t.Errorf("less than the anchor's own limit: %+v", e)
	}
}
