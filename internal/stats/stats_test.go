package stats_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/quick"

	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

func TestMedianAndMAD(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	check := func(median, mad float64, values ...float64) {
		t.Helper()
		if got := stats.Median(values); !same(got, median) {
			t.Errorf("Median(%v) = %v, want %v", values, got, median)
		}
		if got := stats.MAD(values); !same(got, mad) {
			t.Errorf("MAD(%v) = %v, want %v", values, got, mad)
		}
	}

	check(nan, nan)
	check(7, 0, 7)
	check(1.5, 0.5, 1, 2)
	check(2, 1, 3, 1, 2)
	check(2.5, 1, 4, 1, 3, 2)
	check(5, 0, 5, 5, 5, 1000) // one slow run moves neither
	check(math.MaxFloat64, 0, math.MaxFloat64, math.MaxFloat64)
	check(math.MaxFloat64*0.75, math.MaxFloat64*0.25, math.MaxFloat64, math.MaxFloat64/2)
	check(math.SmallestNonzeroFloat64, 0, math.SmallestNonzeroFloat64, math.SmallestNonzeroFloat64)

	check(nan, nan, nan)
	check(nan, nan, 1, nan, 3)
	check(2, 1, 1, 2, inf) // an infinity is merely far away,
	check(2, inf, -inf, 2, inf)
	check(inf, nan, 1, inf, inf) // unless it is the median
	check(nan, nan, -inf, inf)
}

func same(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }

// moderate maps any float64 to about ±1e6, where sums do not round visibly.
func moderate(values []float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = math.Round(math.Mod(v, 1e6))
	}
	return out
}

func TestMedianProperties(t *testing.T) {
	property := func(raw []float64, shift int16, seed uint64) bool {
		values := moderate(raw)
		if len(values) == 0 {
			return math.IsNaN(stats.Median(values)) && math.IsNaN(stats.MAD(values))
		}
		before := slices.Clone(values)
		median, mad := stats.Median(values), stats.MAD(values)
		if !slices.Equal(values, before) {
			t.Logf("input was modified: %v, was %v", values, before)
			return false
		}

		// At most half of the values lie on either side of the median, and
		// at least half of them within one MAD of it.
		var below, above, near int
		for _, v := range values {
			switch {
			case v < median:
				below++
			case v > median:
				above++
			}
			if math.Abs(v-median) <= mad {
				near++
			}
		}
		n := len(values)
		ok := 2*below <= n && 2*above <= n && 2*near >= n
		ok = ok && mad >= 0 && median >= slices.Min(values) && median <= slices.Max(values)

		// The order does not matter; a shift moves only the median; a mirror
		// image has the same spread.
		moved, mirrored := make([]float64, n), make([]float64, n)
		for i, v := range values {
			moved[i], mirrored[i] = v+float64(shift), -v
		}
		rand.New(rand.NewPCG(seed, 0)).Shuffle(n, func(i, j int) { moved[i], moved[j] = moved[j], moved[i] })
		ok = ok && stats.Median(moved) == median+float64(shift) && stats.MAD(moved) == mad
		ok = ok && stats.Median(mirrored) == -median && stats.MAD(mirrored) == mad
		if !ok {
			t.Logf("%v: median %v, MAD %v", values, median, mad)
		}
		return ok
	}
	if err := quick.Check(property, testtier.Quick(t, 500)); err != nil {
		t.Error(err)
	}
}
