package detect

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestCompareHost(t *testing.T) {
	for _, test := range []struct {
		before, after []float64
		change        float64
		moved         bool
	}{
		{[]float64{30, 30.1, 29.9, 30, 30.2}, []float64{30.1, 30, 30.2, 29.9, 30.1}, 0.1 / 30, false},
		{[]float64{30, 30.1, 29.9, 30, 30.2}, []float64{32, 32.1, 31.9, 32, 32.2}, 2. / 30, true},
		{[]float64{30, 30.1, 29.9, 30, 30.2}, []float64{28, 28.1, 27.9, 28, 28.2}, -2. / 30, true}, // a slow machine before is no better
		{[]float64{30, 30, 30, 30, 30}, []float64{31, 31, 31, 31, 31}, 1. / 30, false},             // 3.3 %
		{[]float64{30, 33, 29, 36, 31}, []float64{33, 30, 36, 31, 34}, 2. / 31, false},             // noise
		{[]float64{30, 30.1, 29.9, 30, 30.2}, []float64{30, 90, 30.1, 30, 29.9}, 0, false},         // one disturbance
		{[]float64{30}, nil, 0, false},
		{nil, []float64{30}, 0, false},
		{[]float64{math.NaN(), -1, 0}, []float64{30}, 0, false},
	} {
		got := CompareHost(test.before, test.after)
		if math.Abs(got.Change-test.change) > 1e-9 || got.Moved() != test.moved {
			t.Errorf("%v and %v: %+v, moved %v", test.before, test.after, got, got.Moved())
		}
	}
}

// TestCompareHostRates: of machines that did not change at most one in twenty is
// said to have, whatever their noise, and of those that changed by 10 % hardly any
// is missed.
func TestCompareHostRates(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 5))
	for _, noise := range []float64{0.002, 0.01, 0.02, 0.05} {
		const trials = 4000
		false_, found := 0, 0
		for range trials {
			draw := func(level float64) []float64 {
				x := make([]float64, 5)
				for i := range x {
					x[i] = 30 * math.Exp(level+noise*r.NormFloat64())
				}
				return x
			}
			before := draw(0)
			if CompareHost(before, draw(0)).Moved() {
				false_++
			}
			if CompareHost(before, draw(math.Log(1.1))).Moved() {
				found++
			}
		}
		t.Logf("noise %.1f %%: %.2f %% false, %.1f %% of 10 %% found", 100*noise, 100*float64(false_)/trials, 100*float64(found)/trials)
		if float64(false_) > 0.05*trials || noise <= 0.01 && float64(found) < 0.99*trials {
			t.Errorf("noise %v: %d false, %d found of %d", noise, false_, found, trials)
		}
	}
}

// TestCompareHostProperties: the unit of time and the order of the values within
// a side do not count, and a machine that went there and back went as far.
func TestCompareHostProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		a, b := make([]float64, 1+r.IntN(9)), make([]float64, 1+r.IntN(9))
		for i := range a {
			a[i] = math.Exp(r.NormFloat64())
		}
		for i := range b {
			b[i] = math.Exp(r.NormFloat64())
		}
		there, back := CompareHost(a, b), CompareHost(b, a)
		if math.Abs((1+there.Change)*(1+back.Change)-1) > 1e-9 || math.Abs(there.Limit-back.Limit) > 1e-9 {
			t.Fatalf("%+v and back %+v", there, back)
		}
		scaled := slices.Clone(a)
		other := slices.Clone(b)
		for i := range scaled {
			scaled[i] *= 1000
		}
		for i := range other {
			other[i] *= 1000
		}
		if us := CompareHost(scaled, other); math.Abs(us.Change-there.Change) > 1e-9*(1+math.Abs(there.Change)) {
			t.Fatalf("in another unit: %+v, %+v", us, there)
		}
	}
}
