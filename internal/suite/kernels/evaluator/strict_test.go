package evaluator_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/kernels/evaluator"
	"github.com/accelgate/accelgate/internal/tensor"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// TestStrictIsNeverMoreLenientThanFib compares the modes on outputs of random
// bits, of which most are close to each other, with and without tolerances of
// the user. Infinities and NaN that match are what Strict alone accepts.
func TestStrictIsNeverMoreLenientThanFib(t *testing.T) {
	if testtier.Race {
		t.Skip("numbers of one goroutine")
	}
	t.Parallel()
	for _, d := range formats {
		r := rand.New(rand.NewPCG(11, uint64(d.Bits())))
		passed := 0
		for n := range 600 {
			y, x := pair(r, d, 1+n%40)
			p := []evaluator.Params{
				{}, {Reduction: 1 << 30}, {Rtol: 0.5}, {Atol: 0.5}, {Rtol: 0.1, Atol: 1e-4}, {RequiredMatchedRatio: 0.3},
				{Outputs: map[string]evaluator.Tolerance{"y": {Atol: 2, Rtol: 0.2}}},
			}[n%7]
			strict := judge(t, named("y", y), named("y", x), p)
			p.Mode = evaluator.Fib
			fib := judge(t, named("y", y), named("y", x), p)
			if o := fib.Outputs[0]; strict.Status != evaluator.Passed || o.NonFinite.CandidateInf+o.NonFinite.CandidateNaN > 0 {
				continue
			}
			if passed++; fib.Status != evaluator.Passed {
				t.Fatalf("%s, %+v: strict passes what fib fails: %s", d, p, fib.Log)
			}
		}
		if passed < 10 {
			t.Errorf("%s: %d outputs passed", d, passed)
		}
	}
}

// TestSparseErrors adds 0.01 to every thousandth value, which is within a
// tolerance that rounding a format of 16 bits needs, and beyond upstream's.
func TestSparseErrors(t *testing.T) {
	t.Parallel()
	y, x := normal(tensor.BF16, 1<<16)
	for i := 0; i < 1<<16; i += 1000 {
		var v [1]float32
		x.Floats(v[:], i)
		x.SetFloats([]float32{v[0] + 0.01}, i)
	}
	for _, mode := range []evaluator.Mode{evaluator.Strict, evaluator.Fib} {
		if r := judge(t, named("y", y), named("y", x), evaluator.Params{Mode: mode}); r.Status != evaluator.IncorrectNumerical {
			t.Errorf("%s: %s", mode, r.Status)
		}
	}
}

// normal makes normal numbers, twice.
func normal(d tensor.DType, n int) (y, x tensor.Tensor) {
	r := rand.New(rand.NewPCG(1, 2))
	y = tensor.Tensor{DType: d, Shape: []int{n}, Data: make([]byte, d.Size(n))}
	x = tensor.Tensor{DType: d, Shape: []int{n}, Data: make([]byte, d.Size(n))}
	for i := range n {
		v := []float32{float32(r.NormFloat64())}
		y.SetFloats(v, i)
		x.SetFloats(v, i)
	}
	return y, x
}

// kernel computes a row of a normalisation or products.
type kernel func(x, w []float64) []float64

// rounded stores values as a format does.
func rounded(d tensor.DType, values ...float64) []float64 {
	t := tensor.Tensor{DType: d, Shape: []int{len(values)}, Data: make([]byte, d.Size(len(values)))}
	t.SetFloats64(values, 0)
	out := make([]float64, len(values))
	t.Floats64(out, 0)
	return out
}

// normalise is rmsnorm with its steps rounded to formats; scale is 1 by the root
// of the mean square, or what takes its place.
func normalise(scale func(x []float64) float64, step tensor.DType) kernel {
	return func(x, w []float64) []float64 {
		s, y := scale(x), make([]float64, len(x))
		for i := range x {
			y[i] = rounded(step, x[i]*s)[0] * w[i]
		}
		return y
	}
}

func inverseRoot(sum float64, n int) float64 { return 1 / math.Sqrt(sum/float64(n)+1e-5) }

func exact(x []float64) float64 {
	var sum float64
	for _, v := range x {
		sum += v * v
	}
	return inverseRoot(sum, len(x))
}

// single adds up in float32, one after the other.
func single(x []float64) float64 {
	var sum float32
	for _, v := range x {
		sum += float32(v) * float32(v)
	}
	return float64(float32(inverseRoot(float64(sum), len(x))))
}

// blocks adds up in float32, in 64 sums.
func blocks(x []float64) float64 {
	var sums [64]float32
	for i, v := range x {
		sums[i%64] += float32(v) * float32(v)
	}
	var sum float32
	for _, s := range sums {
		sum += s
	}
	return float64(float32(inverseRoot(float64(sum), len(x))))
}

// TestThresholdsFollowFromRounding holds kernels of rmsnorm with 4096 columns
// against the same kernel in float64. Those that round as real ones do are well
// within the thresholds; those that leave the reduction out are not, also where
// no element alone shows it.
func TestThresholdsFollowFromRounding(t *testing.T) {
	t.Parallel()
	const rows, columns = 7, 4096
	for _, d := range []tensor.DType{tensor.BF16, tensor.F16} {
		truth := computed(d, rows, columns, normalise(exact, tensor.Float64))
		for _, c := range []struct {
			name string
			run  kernel
			want evaluator.Status
		}{
			{"float32", normalise(single, tensor.Float32), evaluator.Passed},
			{"float32 in blocks", normalise(blocks, tensor.Float32), evaluator.Passed},
			{"a rounded step", normalise(single, d), evaluator.Passed},
			{"without its reduction", normalise(func([]float64) float64 { return 1 }, tensor.Float32), evaluator.IncorrectNumerical},
			{"of half of the columns", normalise(func(x []float64) float64 { return single(x[:columns/2]) }, tensor.Float32), evaluator.IncorrectNumerical},
		} {
			r := judge(t, named("y", truth), named("y", computed(d, rows, columns, c.run)), evaluator.Params{Reduction: columns})
			o := r.Outputs[0]
			t.Logf("%s, %s: rms error %.3g of %.3g, %s", d, c.name, o.RMSError, o.RMSLimit, o.Status)
			if r.Status != c.want || c.want == evaluator.Passed && o.RMSError > 0.6*o.RMSLimit {
				t.Errorf("%s, %s: %s: %s", d, c.name, r.Status, r.Log)
			}
		}
	}
}

// computed has a kernel compute rows of normal numbers that the format holds.
func computed(d tensor.DType, rows, columns int, run kernel) tensor.Tensor {
	r := rand.New(rand.NewPCG(3, 4))
	y := tensor.Tensor{DType: d, Shape: []int{rows, columns}, Data: make([]byte, d.Size(rows*columns))}
	w := make([]float64, columns)
	for i := range w {
		w[i] = rounded(d, r.NormFloat64())[0]
	}
	x := make([]float64, columns)
	for row := range rows {
		for i := range x {
			x[i] = rounded(d, r.NormFloat64())[0]
		}
		y.SetFloats64(run(x, w), row*columns)
	}
	return y
}

// TestErrorsTogetherSpareFewLargeValues: the rounding of one value that outweighs
// all others is no sign of anything.
func TestErrorsTogetherSpareFewLargeValues(t *testing.T) {
	t.Parallel()
	y, x := normal(tensor.BF16, 4096)
	one := float32(1 << 20)
	y.SetFloats([]float32{one}, 0)
	x.SetFloats([]float32{one * (1 + 2.0/128)}, 0) // 2 units in the last place
	if r := judge(t, named("y", y), named("y", x), evaluator.Params{Mode: evaluator.Strict}); r.Outputs[0].RMSError > r.Outputs[0].RMSLimit {
		t.Errorf("%+v", r.Outputs[0])
	}
}
