package compat_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/gate/compat"
)

func TestComparePair(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name              string
		baseline, compare []float64
		tolerance         float64
		diff              float64
		passed            bool
	}{
		{"equal", []float64{2}, []float64{2}, 0, 0, true},
		{"exactly the tolerance", []float64{4}, []float64{5}, 0.25, 0.25, true},
		{"slower", []float64{4}, []float64{5}, 0.24, 0.25, false},
		{"faster fails too", []float64{4}, []float64{3}, 0.24, -0.25, false},
		{"medians", []float64{4, 4, 400}, []float64{4, 0.1, 5}, 0.05, 0, true},
		{"no baseline", []float64{0}, []float64{1}, 0.05, math.Inf(1), false},
		{"nothing at all", []float64{0}, []float64{0}, 0.05, math.NaN(), false},
	} {
		p := compat.ComparePair(tt.baseline, tt.compare, tt.tolerance)
		if p.Passed != tt.passed || p.Diff != tt.diff && !(math.IsNaN(p.Diff) && math.IsNaN(tt.diff)) {
			t.Errorf("%s: diff %v, passed %v, want %v and %v", tt.name, p.Diff, p.Passed, tt.diff, tt.passed)
		}
	}
	want := compat.Spread{N: 4, Median: 10, MAD: 1.5, Floor: 0.6}
	if diff := cmp.Diff(want, compat.SpreadOf([]float64{9, 8, 14, 11})); diff != "" {
		t.Errorf("SpreadOf (-want +got):\n%s", diff)
	}
}
