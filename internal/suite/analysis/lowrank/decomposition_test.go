package lowrank_test

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/analysis/lowrank"
	"github.com/accelgate/accelgate/internal/suite/analysis/svd"
	"github.com/accelgate/accelgate/internal/tensor"
	"github.com/accelgate/accelgate/internal/tensor/safetensors"
)

func TestTopK(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n, m  int
		ratio float64
		want  int
	}{
		{896, 4864, .5, 448}, {4864, 896, .5, 448}, {5, 9, .5, 2}, {8, 8, 1, 7}, {8, 8, .99, 7}, {8, 8, .1, 0},
		{1, 8, .5, 0}, {1, 8, 1, 0}, {0, 8, .5, 0}, {10, 10, .3, 3}, {2, 2, .5, 1},
	} {
		if got := lowrank.TopK(c.n, c.m, c.ratio); got != c.want {
			t.Errorf("of %d x %d the ratio %v freezes %d, want %d", c.n, c.m, c.ratio, got, c.want)
		}
	}
}

// TestNothingIsTruncated: for any sizes, split, formats and magnitude of the
// weight, the factors have the shapes that belong to them, give the weight back
// within the bound, and are orthonormal.
func TestNothingIsTruncated(t *testing.T) {
	t.Parallel()
	r := source(11)
	for range 150 {
		n, m := 2+r.IntN(40), 2+r.IntN(40)
		high := 1 + r.IntN(min(n, m)-1)
		formats := []tensor.DType{tensor.Float64, tensor.Float32, tensor.F16, tensor.BF16}
		d, storage := formats[r.IntN(4)], formats[r.IntN(4)]
		compute := formats[r.IntN(2)]
		w := normal(r, d, n, m, math.Ldexp(1, r.IntN(10)-8))
		f, err := lowrank.Decompose(svd.Go(), w, high, compute, storage)
		if err != nil {
			t.Fatal(err)
		}
		s := with(compute, storage)
		s.RankRatio = float64(high) / float64(min(n, m)) * (1 + 1e-9)
		got := lowrank.Measure(w, f, s)
		if got.Faults != nil || f.High() != high {
			t.Errorf("%d x %d, %d frozen, %s in %s as %s: %+v", n, m, high, d, compute, storage, got.Faults)
		}
	}
}

// TestSplitChangesNothing: where the triplets are cut does not matter beyond
// rounding, and a naive sum of all of them gives the same.
func TestSplitChangesNothing(t *testing.T) {
	t.Parallel()
	w := normal(source(12), tensor.Float64, 14, 19, 1)
	all, err := svd.Go().Thin(values(w), 14, 19)
	if err != nil {
		t.Fatal(err)
	}
	want := make([]float64, 14*19)
	for i := range want {
		for k := range 14 {
			want[i] += all.U[i/19*14+k] * all.S[k] * all.VT[k*19+i%19]
		}
	}
	for high := 1; high < 14; high++ {
		for compute, limit := range map[tensor.DType]float64{tensor.Float64: 1e-13, tensor.Float32: 1e-4} {
			f, err := lowrank.Decompose(svd.Go(), w, high, compute, tensor.Float64)
			if err != nil {
				t.Fatal(err)
			}
			largest := 0.0
			for i, v := range f.Reconstruct(compute) {
				largest = max(largest, math.Abs(v-want[i]))
				if compute == tensor.Float32 && float64(float32(v)) != v {
					t.Fatalf("%v is not a float32", v)
				}
			}
			if largest > limit || compute == tensor.Float32 && largest < 1e-9 {
				t.Errorf("%d frozen, in %s: off by %g", high, compute, largest)
			}
		}
	}
}

// TestFloat32IsEmulated: what float32 does not hold of a weight changes nothing,
// and all factors are float32 before they are stored.
func TestFloat32IsEmulated(t *testing.T) {
	t.Parallel()
	exact := normal(source(15), tensor.Float64, 9, 14, 1)
	rounded := store(tensor.Float32, values(exact), 9, 14)
	decompose := func(w tensor.Tensor) []safetensors.Named {
		f, err := lowrank.Decompose(svd.Go(), w, 4, tensor.Float32, tensor.Float64)
		if err != nil {
			t.Fatal(err)
		}
		return f.Tensors("x.weight")
	}
	want := decompose(rounded)
	if got := decompose(exact); !reflect.DeepEqual(got, want) {
		t.Error("more than float32 of the weight is used")
	}
	for _, factor := range want {
		for _, v := range values(factor.Tensor) {
			if float64(float32(v)) != v {
				t.Fatalf("%s has %v, which is not a float32", factor.Name, v)
			}
		}
	}
}

// faulty is a solver that gives up, or answers with what does not fit.
type faulty struct{ err error }

func (faulty) Name() string { return "faulty" }

func (s faulty) Thin([]float64, int, int) (svd.Factors, error) { return svd.Factors{}, s.err }

func (s faulty) ThinSingle([]float64, int, int) (svd.Factors, error) { return svd.Factors{}, s.err }

func TestDecomposeRefuses(t *testing.T) {
	t.Parallel()
	r := source(13)
	good := normal(r, tensor.F16, 4, 6, 1)
	nan := normal(r, tensor.F16, 4, 6, 1)
	nan.SetFloats64([]float64{math.NaN()}, 17)
	for _, c := range []struct {
		weight tensor.Tensor
		high   int
		solver svd.Solver
		want   string
	}{
		{good, 0, svd.Go(), "freeze at least one"},
		{good, 4, svd.Go(), "not all"},
		{nan, 2, svd.Go(), "NaN"},
		{store(tensor.F16, make([]float64, 4), 4), 1, svd.Go(), "two axes"},
		{store(tensor.Float8E5M2, make([]float64, 16), 4, 4), 1, svd.Go(), "float8_e5m2"},
		{tensor.Tensor{DType: tensor.F16, Shape: []int{4, 6}, Data: make([]byte, 3)}, 2, svd.Go(), "3 bytes"},
		{good, 2, faulty{errors.New("no convergence")}, "no convergence"},
		{good, 2, faulty{}, "gave 0, 0 and 0 numbers"},
	} {
		if _, err := lowrank.Decompose(c.solver, c.weight, c.high, tensor.Float64, tensor.F16); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// TestStorageOverflows: singular values that float16 has not are infinite
// there, which is found and not multiplied.
func TestStorageOverflows(t *testing.T) {
	t.Parallel()
	m := memory{wide: normal(source(14), tensor.Float32, 20, 20, 1e5)}
	r := run(t, lowrank.Job{Original: m, Settings: with(tensor.Float32, tensor.F16)})
	if p := r.Parameters[0]; p.Status != lowrank.Failed || p.Faults[0].Kind != lowrank.NotFinite || p.Difference != nil {
		t.Errorf("%+v", p)
	}
}
