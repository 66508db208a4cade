package lowrank_test

import (
	"math"
	"slices"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/analysis/lowrank"
	"github.com/accelgate/accelgate/internal/tensor"
)

func compare(t *testing.T, original tensor.Tensor, got []float64, tolerance float64) lowrank.Difference {
	t.Helper()
	d, err := lowrank.Compare(original, got, tolerance)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestMatch(t *testing.T) {
	t.Parallel()
	w := store(tensor.Float64, []float64{1, -2, 0, 4}, 2, 2)
	for _, c := range []struct {
		got       []float64
		tolerance float64
		want      lowrank.Status
		outside   int
	}{
		{[]float64{1, -2, 0, 4}, 0, lowrank.Identical, 0},
		{[]float64{1, -2, math.Copysign(0, -1), 4}, 0, lowrank.Identical, 0},
		{[]float64{1 + 1e-15, -2, 0, 4}, 0, lowrank.Different, 1},
		{[]float64{1, -2, 0, 4.5}, .1, lowrank.Close, 0}, // .1 + .1*4
		{[]float64{1, -2, 0, 4.51}, .1, lowrank.Different, 1},
		{[]float64{1, -2, .1, 4}, .1, lowrank.Close, 0}, // .1 + 0
		{[]float64{1.3, -2, .11, 4}, .1, lowrank.Different, 2},
	} {
		if d := compare(t, w, c.got, c.tolerance); d.Match != c.want || d.Outside != c.outside {
			t.Errorf("%v within %v is %s with %d outside, want %s, %d", c.got, c.tolerance, d.Match, d.Outside, c.want, c.outside)
		}
	}
}

// TestNumbers compares with sums that are written out.
func TestNumbers(t *testing.T) {
	t.Parallel()
	r := source(21)
	for _, n := range []int{1, 7, 1023, 1024, 1025, 5000} {
		w := normal(r, tensor.BF16, 1, n, 1)
		got, want := make([]float64, n), values(w)
		var largest, sum, squares, norm float64
		for i, v := range want {
			got[i] = v + .01*r.NormFloat64()
			d := math.Abs(got[i] - v)
			largest, sum, squares, norm = max(largest, d), sum+d, squares+d*d, norm+v*v
		}
		d := compare(t, w, got, .05)
		for name, pair := range map[string][2]float64{
			"max": {d.Max, largest}, "mean": {d.Mean, sum / float64(n)}, "RMS": {d.RMS, math.Sqrt(squares / float64(n))},
			"norm": {d.Norm, math.Sqrt(norm)}, "relative": {d.Relative, math.Sqrt(squares / norm)},
		} {
			if math.Abs(pair[0]-pair[1]) > 1e-12*pair[1] {
				t.Errorf("%s of %d elements is %v, want %v", name, n, pair[0], pair[1])
			}
		}
		if d.Elements != n {
			t.Errorf("%d elements, want %d", d.Elements, n)
		}
	}
}

// TestScaleFree: the relative difference of weights times a power of two is the
// same, also where their squares are beyond float64.
func TestScaleFree(t *testing.T) {
	t.Parallel()
	r := source(22)
	want := values(normal(r, tensor.Float64, 1, 100, 1))
	got := slices.Clone(want)
	for i := range got {
		got[i] += 1e-3 * r.NormFloat64()
	}
	relative := compare(t, store(tensor.Float64, want, 100), got, 0).Relative
	for _, exponent := range []int{-900, -600, -1, 1, 400} {
		scale := math.Ldexp(1, exponent)
		a, b := slices.Clone(want), slices.Clone(got)
		for i := range a {
			a[i], b[i] = a[i]*scale, b[i]*scale
		}
		if d := compare(t, store(tensor.Float64, a, 100), b, 0); d.Relative != relative {
			t.Errorf("times 2^%d: %v became %v", exponent, relative, d.Relative)
		}
	}
}

func TestULPs(t *testing.T) {
	t.Parallel()
	bf16 := func(bits uint16) float64 { return float64(tensor.BFloat16(bits).Float32()) }
	for _, c := range []struct {
		d         tensor.DType
		want, got float64
		bin       int
	}{
		{tensor.Float64, 1, 1, 0},
		{tensor.Float64, 1, math.Nextafter(1, 2), 1},
		{tensor.Float64, 1, math.Nextafter(1, 0), 1},
		{tensor.Float64, math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64, 2},
		{tensor.Float64, -math.MaxFloat64 / 1e200, math.MaxFloat64 / 1e200, 64},
		{tensor.Float32, 1, float64(math.Nextafter32(1, 2)), 1},
		{tensor.Float32, 1, 1 + 0x1p-25, 0}, // rounds to 1
		{tensor.Float32, 0, math.Copysign(0, -1), 0},
		{tensor.Float32, -1, -1 - 5*0x1p-23, 3},
		{tensor.F16, 1, 1 + 3*0x1p-10, 2},
		{tensor.F16, -1, -1 - 4*0x1p-10, 3},
		{tensor.BF16, bf16(0x3f80), bf16(0x3f81), 1},
		{tensor.BF16, bf16(0xbf80), bf16(0xbf7f), 1},
		{tensor.BF16, bf16(0x3f80), bf16(0x3f90), 5},
		{tensor.BF16, bf16(1), bf16(0x8001), 2},
	} {
		d := compare(t, store(c.d, []float64{c.want}, 1), []float64{c.got}, 0)
		if len(d.ULPs) != c.bin+1 || d.ULPs[c.bin] != 1 {
			t.Errorf("%s %v and %v: %v, want a distance of %d bits", c.d, c.want, c.got, d.ULPs, c.bin)
		}
	}
}

func TestCompareRefuses(t *testing.T) {
	t.Parallel()
	w := store(tensor.Float64, []float64{1, 1e200}, 2)
	for _, got := range [][]float64{nil, {1}, {1, math.NaN()}, {1, math.Inf(1)}, {1, 1e200}, {1, 2, 3}} {
		if d, err := lowrank.Compare(w, got, 1); err == nil {
			t.Errorf("%v compares as %+v", got, d)
		}
	}
	for _, w := range []tensor.Tensor{{}, store(tensor.Float64, nil, 0), store(tensor.Float8E4M3FN, []float64{1}, 1)} {
		if d, err := lowrank.Compare(w, make([]float64, max(0, w.Elements())), 1); err == nil {
			t.Errorf("%v compares as %+v", w, d)
		}
	}
}

// TestZeroWeight: where there is nothing to divide by, the difference is not
// divided.
func TestZeroWeight(t *testing.T) {
	t.Parallel()
	zero := store(tensor.BF16, make([]float64, 4), 4)
	if d := compare(t, zero, []float64{0, 0, 3, 4}, 0); d.Relative != 5 || d.Norm != 0 {
		t.Errorf("%+v", d)
	}
	if d := compare(t, zero, make([]float64, 4), 0); d.Match != lowrank.Identical || d.Relative != 0 {
		t.Errorf("%+v", d)
	}
}

func TestBound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		compute, storage tensor.DType
		want             float64
	}{
		{tensor.Float64, tensor.Float64, 161.5 * 0x1p-52},
		{tensor.Float32, tensor.Float32, 161.5 * 0x1p-23},
		{tensor.Float64, tensor.F16, 160*0x1p-52 + 1.5*0x1p-10},
		{tensor.Float32, tensor.BF16, 160*0x1p-23 + 1.5*0x1p-7},
	} {
		if got := lowrank.Bound(16, c.compute, c.storage, 100); got != c.want {
			t.Errorf("%s/%s: %g, want %g", c.compute, c.storage, got, c.want)
		}
	}
}
