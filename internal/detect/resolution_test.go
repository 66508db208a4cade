package detect_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// TestResolve: what is said to be found in 4 of 5 cases is, in the design that
// it is said of, on noise with and without tails.
func TestResolve(t *testing.T) {
	if testtier.Race {
		t.Skip("numbers in one goroutine")
	}
	t.Parallel()
	for _, sigma := range []float64{0.003, 0.03} {
		for _, tails := range []bool{false, true} {
			r := rand.New(rand.NewPCG(3, 5))
			draw := func(times float64) float64 {
				z := r.NormFloat64()
				if tails && r.IntN(10) == 0 {
					z = 4 * math.Abs(z)
				}
				return 100 * times * math.Exp(sigma*z)
			}
			draws := func(n int, times float64) []float64 {
				values := make([]float64, n)
				for i := range values {
					values[i] = draw(times)
				}
				return values
			}
			const trials = 400
			var paired, single, noise float64
			for range trials {
				found, ok := detect.Resolve(draws(10, 1), 0, detect.Options{})
				if !ok || found.Pairs != 5 {
					t.Fatalf("Resolve = %+v, %v", found, ok)
				}
				noise += found.Noise / trials
				o := detect.Options{Mode: detect.Interleaved}
				if detect.Judge(draws(5, 1), draws(5, 1+found.Paired), o).Verdict == detect.Regressed {
					paired += 1.0 / trials
				}
				o.Mode, o.Own = detect.History, found.Noise
				if detect.Judge(draws(10, 1), draws(1, 1+found.Single), o).Verdict == detect.Regressed {
					single += 1.0 / trials
				}
			}
			if paired < 0.7 || paired > 0.95 || single < 0.68 || single > 0.95 {
				t.Errorf("noise %v, tails %v: pairs find %.2f of the changes that they should find in 0.8, single runs %.2f", sigma, tails, paired, single)
			}
			if noise < 0.95*sigma || noise > 1.5*sigma {
				t.Errorf("noise %v, tails %v: estimated at %v", sigma, tails, noise)
			}
		}
	}
}

func TestResolveProperties(t *testing.T) {
	t.Parallel()
	values := []float64{100, 103, 99, 101, 97, 102, 100, 98, 104, 101}
	times, rates, scaled := make([]float64, 10), make([]float64, 10), make([]float64, 10)
	for i, v := range values {
		times[i], rates[i], scaled[i] = v, 1e4/v, 1e-3*v
	}
	want, ok := detect.Resolve(times, 0, detect.Options{})
	if !ok || want.Single <= want.Paired || want.Noise < 0.01 || want.Noise > 0.05 {
		t.Fatalf("Resolve = %+v, %v", want, ok)
	}
	near := func(a, b detect.Resolution) bool {
		close := func(x, y float64) bool { return math.Abs(x-y) <= 1e-9*math.Abs(y) }
		return close(a.Noise, b.Noise) && close(a.Single, b.Single) && close(a.Paired, b.Paired) && a.Pairs == b.Pairs
	}
	if got, _ := detect.Resolve(rates, 0, detect.Options{HigherIsBetter: true}); !near(got, want) {
		t.Errorf("rates %+v, times %+v", got, want)
	}
	if got, _ := detect.Resolve(scaled, 0, detect.Options{}); !near(got, want) {
		t.Errorf("in another unit %+v, want %+v", got, want)
	}
	still := []float64{10, 10, 10, 10, 10, 10}
	if got, _ := detect.Resolve(still, 0, detect.Options{}); got.Noise != 0.002 || got.Pairs != 3 {
		t.Errorf("numbers that do not move: %+v", got)
	}
	if got, _ := detect.Resolve(still, 1, detect.Options{}); got.Noise < 0.028 || got.Noise > 0.03 { // 1/10/sqrt(12)
		t.Errorf("numbers that are printed in steps of 10 %%: %+v", got)
	}
	for _, bad := range [][]float64{nil, still[:5], {1, 2, 3, 0, 5, 6}, {1, 2, 3, math.NaN(), 5, 6}} {
		if got, ok := detect.Resolve(bad, 0, detect.Options{}); ok {
			t.Errorf("Resolve(%v) = %+v", bad, got)
		}
	}
}
