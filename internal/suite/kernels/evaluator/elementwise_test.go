package evaluator_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/suite/kernels/evaluator"
	"github.com/accelgate/accelgate/internal/tensor"
)

var formats = []tensor.DType{
	tensor.Float64, tensor.Float32, tensor.F16, tensor.BF16, tensor.Float8E4M3FN, tensor.Float8E5M2, tensor.Float4E2M1,
	tensor.Int64, tensor.Int32, tensor.Int16, tensor.Int8, tensor.Uint8, tensor.Bool,
}

// slow is the rule of Strict, one element after the other: its own tolerance and
// upstream's must hold. Integers up to 2^53 are exact in float64.
func slow(y, x tensor.Tensor, tol, upstream evaluator.Tolerance) (s stats) {
	bad, n := 0, y.Elements()
	var abs, rel float64
	for i := range n {
		var a, b [1]float64
		y.Floats64(a[:], i)
		x.Floats64(b[:], i)
		d := math.Abs(b[0] - a[0])
		switch {
		case a[0] == b[0] || math.IsNaN(a[0]) && math.IsNaN(b[0]):
			continue
		case math.IsNaN(d) || math.IsInf(a[0], 0) || math.IsInf(b[0], 0):
			d = math.Inf(1)
		}
		if d > tol.Atol+tol.Rtol*math.Abs(a[0]) || math.IsInf(d, 1) || failsUpstream(a[0], b[0], upstream) {
			bad++
		}
		abs = max(abs, d)
		if rel = max(rel, d/(math.Abs(a[0])+1e-8)); math.IsInf(d, 1) {
			rel = d
		}
	}
	s.MaxAbsoluteError, s.MaxRelativeError = evaluator.Number(abs), evaluator.Number(rel)
	s.MatchedRatio = 1
	if n > 0 {
		s.MatchedRatio = 1 - float64(bad)/float64(n)
	}
	return s
}

func failsUpstream(y, x float64, tol evaluator.Tolerance) bool {
	d := float32(math.Abs(float64(float32(x) - float32(y))))
	return d > float32(tol.Atol) && d/(float32(math.Abs(float64(float32(y))))+1e-8) > float32(tol.Rtol)
}

// slowFib is the rule of Fib, one element after the other, in float32.
func slowFib(y, x tensor.Tensor, tol evaluator.Tolerance) (s stats) {
	bad, n := 0, y.Elements()
	var abs, rel float64
	for i := range n {
		var a, b [1]float32
		y.Floats(a[:], i)
		x.Floats(b[:], i)
		d := float32(math.Abs(float64(b[0] - a[0])))
		r := d / (float32(math.Abs(float64(a[0]))) + 1e-8)
		if d > float32(tol.Atol) && r > float32(tol.Rtol) {
			bad++
		}
		abs, rel = max(abs, float64(d)), max(rel, float64(r)) // max keeps a NaN, as torch does
	}
	s.MaxAbsoluteError, s.MaxRelativeError, s.MatchedRatio = evaluator.Number(abs), evaluator.Number(rel), 1
	if n > 0 {
		s.MatchedRatio = 1 - float64(bad)/float64(n)
	}
	return s
}

// pair makes outputs of random bits, of which most are close to each other.
func pair(r *rand.Rand, d tensor.DType, n int) (y, x tensor.Tensor) {
	y = tensor.Tensor{DType: d, Shape: []int{n}, Data: make([]byte, d.Size(n))}
	for i := range y.Data {
		y.Data[i] = byte(r.Uint32())
	}
	if d == tensor.Int64 {
		for i := range n {
			y.SetInts([]int64{r.Int64N(1 << 40)}, i)
		}
	}
	x = y
	x.Data = slices.Clone(y.Data)
	for range n {
		if width := max(d.Bits()/8, 1); len(x.Data) > 0 {
			x.Data[r.IntN(len(x.Data))/width*width] ^= byte(1 << r.IntN(3)) // low bits
		}
	}
	if d == tensor.Bool {
		for i := range x.Data {
			y.Data[i], x.Data[i] = y.Data[i]&1, x.Data[i]&1
		}
	}
	return y, x
}

// TestAgreesWithSlowReference compares every format, at lengths around those of
// blocks and segments, with naive loops.
func TestAgreesWithSlowReference(t *testing.T) {
	t.Parallel()
	for _, d := range formats {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(3, uint64(len(d))))
			for _, n := range []int{0, 1, 2, 3, 1023, 1024, 1025, 1<<15 + 1} {
				y, x := pair(r, d, n)
				for _, p := range []evaluator.Params{
					{}, {Reduction: 4096}, {Rtol: 1e-3, Atol: 1e-3}, {RequiredMatchedRatio: 0.5},
					{Outputs: map[string]evaluator.Tolerance{"y": {Atol: 2, Rtol: 1e-6}}},
				} {
					strict := judge(t, named("y", y), named("y", x), p).Outputs[0]
					p.Mode = evaluator.Fib
					fib := judge(t, named("y", y), named("y", x), p).Outputs[0]
					slow(y, x, strict.Tolerance, fib.Tolerance).check(t, strict)
					checkWorst(t, y, x, strict)
					checkCounts(t, strict)
					slowFib(y, x, fib.Tolerance).check(t, fib)
					checkCounts(t, fib)
				}
			}
		})
	}
}

// checkWorst computes the error in terms of the tolerance for all elements:
// none may be larger than at the place that is said to be worst.
func checkWorst(t *testing.T, y, x tensor.Tensor, o evaluator.OutputResult) {
	t.Helper()
	excess := func(i int) float64 {
		var a, b [1]float64
		y.Floats64(a[:], i)
		x.Floats64(b[:], i)
		switch d := math.Abs(a[0] - b[0]); {
		case a[0] == b[0] || a[0] != a[0] && b[0] != b[0]:
			return 0
		case math.IsNaN(d):
			return math.Inf(1)
		case y.DType.IsFloat():
			return d / (o.Tolerance.Atol + o.Tolerance.Rtol*math.Abs(a[0]))
		default:
			return d / max(o.Tolerance.Atol+o.Tolerance.Rtol*math.Abs(a[0]), 1)
		}
	}
	first, largest := -1, 0.0
	for i := range y.Elements() {
		if e := excess(i); e > largest {
			first, largest = i, e
		}
	}
	if o.WorstFlat != first || first >= 0 && !slices.Equal(o.WorstIndex, []int{first}) {
		t.Errorf("%s: worst at %d %v, want %d", y.DType, o.WorstFlat, o.WorstIndex, first)
	}
}

// checkCounts demands that every element is in the histogram or not finite.
func checkCounts(t *testing.T, o evaluator.OutputResult) {
	t.Helper()
	total := 0
	for _, count := range o.Histogram {
		total += int(count)
	}
	n := o.NonFinite
	maximum := n.ReferenceNaN + n.ReferenceInf + n.CandidateNaN + n.CandidateInf
	if rest := o.Elements - total; rest < maximum/2 || rest > maximum {
		t.Errorf("%d of %d elements are in the histogram, and the others are %+v", total, o.Elements, n)
	}
}

func TestHistogramCountsUnitsInTheLastPlace(t *testing.T) {
	t.Parallel()
	for _, d := range formats {
		if !d.IsFloat() || d == tensor.Float4E2M1 {
			continue
		}
		// 1 and the 5 numbers after it, which differ in the lowest bits.
		one := tensor.Tensor{DType: d, Shape: []int{1}, Data: make([]byte, d.Size(1))}
		one.SetFloats([]float32{1}, 0)
		y := tensor.Tensor{DType: d, Shape: []int{4}, Data: slices.Repeat(one.Data, 4)}
		x := tensor.Tensor{DType: d, Shape: []int{4}, Data: slices.Clone(y.Data)}
		for i := range 4 {
			x.Data[i*len(one.Data)] += byte(i)
		}
		if got, want := judge(t, named("y", y), named("y", x), evaluator.Params{}).Outputs[0].Histogram, (evaluator.Histogram{1, 1, 2}); got != want {
			t.Errorf("%s: %v, want %v", d, got, want)
		}
	}
}

func TestWorstIndexHasAllAxes(t *testing.T) {
	t.Parallel()
	y, x := floats(make([]float64, 24)...), floats(make([]float64, 24)...)
	y.Shape, x.Shape = []int{2, 3, 4}, []int{2, 3, 4}
	x.SetFloats([]float32{5}, 1*12+2*4+3)
	if o := judge(t, named("y", y), named("y", x), evaluator.Params{}).Outputs[0]; o.WorstFlat != 23 || !slices.Equal(o.WorstIndex, []int{1, 2, 3}) {
		t.Errorf("worst at %d %v, want 23 [1 2 3]", o.WorstFlat, o.WorstIndex)
	}
}

// TestZerosNeverPass is the hole in upstream's rule: an answer of zeros for an
// output of small numbers.
func TestZerosNeverPass(t *testing.T) {
	t.Parallel()
	for _, d := range formats {
		for _, size := range []float64{1, 1e-3, 1e-30} {
			y := tensor.Tensor{DType: d, Shape: []int{64}, Data: make([]byte, d.Size(64))}
			values := make([]float64, 64)
			for i := range values {
				values[i] = size * []float64{1, -1, 1, 2}[i%4]
			}
			y.SetFloats64(values, 0)
			if !d.IsFloat() {
				y.SetInts([]int64{1}, 17)
			}
			zeros := tensor.Tensor{DType: d, Shape: []int{64}, Data: make([]byte, d.Size(64))}
			if slices.Equal(y.Data, zeros.Data) || isZero(y) {
				continue // the format does not hold numbers that small
			}
			for _, reduction := range []int{0, 1 << 40} {
				if r := judge(t, named("y", y), named("y", zeros), evaluator.Params{Reduction: reduction}); r.Status != evaluator.IncorrectNumerical {
					t.Errorf("%s of size %v, sums of %d: zeros are %s", d, size, reduction, r.Status)
				}
			}
		}
	}
}

func isZero(y tensor.Tensor) bool {
	values := make([]float64, y.Elements())
	y.Floats64(values, 0)
	return !slices.ContainsFunc(values, func(v float64) bool { return v != 0 })
}

// TestHugeNumbers has a mean magnitude whose sum overflows.
func TestHugeNumbers(t *testing.T) {
	t.Parallel()
	values := slices.Repeat([]float64{math.MaxFloat64, -math.MaxFloat64}, 3000)
	y := tensor.Tensor{DType: tensor.Float64, Shape: []int{6000}, Data: make([]byte, 48000)}
	y.SetFloats64(values, 0)
	x := tensor.Tensor{DType: tensor.Float64, Shape: []int{6000}, Data: slices.Clone(y.Data)}
	x.SetFloats64([]float64{-math.MaxFloat64}, 4)
	o := judge(t, named("y", y), named("y", x), evaluator.Params{}).Outputs[0]
	if o.Status != evaluator.IncorrectNumerical || o.WorstFlat != 4 || math.IsInf(o.Tolerance.Atol, 1) {
		t.Errorf("%+v", o)
	}
}

// TestIntegersAreExact has numbers that are equal in float32.
func TestIntegersAreExact(t *testing.T) {
	t.Parallel()
	integers := func(v ...int64) tensor.Tensor {
		t := tensor.Tensor{DType: tensor.Int64, Shape: []int{len(v)}, Data: make([]byte, 8*len(v))}
		t.SetInts(v, 0)
		return t
	}
	y, x := named("y", integers(63_000_001, math.MinInt64)), named("y", integers(63_000_000, math.MaxInt64))
	if r := judge(t, y, x, evaluator.Params{Atol: 1e30}); r.Status != evaluator.IncorrectNumerical || r.MaxAbsoluteError != math.MaxUint64 || r.Outputs[0].WorstFlat != 1 {
		t.Errorf("%+v", r)
	}
	allowed := evaluator.Params{Outputs: map[string]evaluator.Tolerance{"y": {Atol: 1e30}}}
	if r := judge(t, y, x, allowed); r.Status != evaluator.Passed {
		t.Errorf("%+v", r)
	}
	same := evaluator.Params{Mode: evaluator.Fib}
	if r := judge(t, named("y", integers(63_000_001)), named("y", integers(63_000_000)), same); r.Status != evaluator.Passed || r.MaxAbsoluteError != 0 {
		t.Errorf("upstream compares in float32: %+v", r)
	}
}

// TestFindings has outputs that do not fit the reference at all.
func TestFindings(t *testing.T) {
	t.Parallel()
	a, b := floats(1, 2, 3, 4), floats(5, 6)
	half := tensor.Tensor{DType: tensor.F16, Shape: []int{4}, Data: make([]byte, 8)}
	off, cut := floats(9, 2, 3, 4), a
	cut.Data = cut.Data[:15]
	infinite := floats(math.Inf(1), 2, 3, 4)
	square := a
	square.Shape = []int{2, 2}
	reference := []evaluator.Output{{Name: "a", Tensor: a}, {Name: "b", Tensor: b}}
	with := func(a, b tensor.Tensor, more ...evaluator.Output) []evaluator.Output {
		return append([]evaluator.Output{{Name: "b", Tensor: b}, {Name: "a", Tensor: a}}, more...)
	}
	for _, c := range []struct {
		name        string
		candidate   []evaluator.Output
		strict, fib evaluator.Status
		log         string
	}{
		{"right, in another order", with(a, b), evaluator.Passed, evaluator.Passed, ""},
		{"one missing", with(a, b)[:1], evaluator.IncorrectShape, evaluator.RuntimeError, `output "a": it is missing: return float32 [4]`},
		{"none", nil, evaluator.IncorrectShape, evaluator.RuntimeError, `it is missing`},
		{"one more", with(a, b, evaluator.Output{Name: "c"}), evaluator.IncorrectShape, evaluator.RuntimeError, `3 outputs ["b" "a" "c"], want 2 ["a" "b"]`},
		{"one twice", with(a, b, evaluator.Output{Name: "a"}), evaluator.IncorrectShape, evaluator.RuntimeError, `3 outputs`},
		{"shape", with(square, b), evaluator.IncorrectShape, evaluator.IncorrectShape, `output "a": shape is [2 2], want [4]`},
		{"format", with(half, b), evaluator.IncorrectDType, evaluator.IncorrectDType, `output "a": format is "float16", want float32`},
		{"data cut off", with(cut, b), evaluator.IncorrectShape, evaluator.IncorrectShape, `output "a": float32 [4] has 15 bytes`},
		{"value", with(off, b), evaluator.IncorrectNumerical, evaluator.IncorrectNumerical, `1 of 4 elements are off by more than`},
		{"infinity", with(infinite, b), evaluator.IncorrectNumerical, evaluator.IncorrectNumerical, `output "a"`},
		{"value, then shape", with(off, a), evaluator.IncorrectShape, evaluator.IncorrectShape, `output "b": shape is [4], want [2]`},
		{"format, then shape", with(half, a), evaluator.IncorrectShape, evaluator.IncorrectDType, `output "a": format is`},
		{"infinity, then shape", with(infinite, a), evaluator.IncorrectShape, evaluator.IncorrectNumerical, `output "a"`},
	} {
		for mode, want := range map[evaluator.Mode]evaluator.Status{evaluator.Strict: c.strict, evaluator.Fib: c.fib} {
			r := judge(t, reference, c.candidate, evaluator.Params{Mode: mode})
			if r.Status != want || mode == evaluator.Strict && !strings.Contains(r.Log, c.log) {
				t.Errorf("%s, %s: %s %q, want %s %q", c.name, mode, r.Status, r.Log, want, c.log)
			}
		}
	}
}

func TestRefusesWhatItCannotJudge(t *testing.T) {
	t.Parallel()
	y := floats(1)
	broken := y
	broken.Data = nil
	for _, c := range []struct {
		reference []evaluator.Output
		p         evaluator.Params
		want      string
	}{
		{nil, evaluator.Params{}, "the reference has no outputs: run it again"},
		{named("y", broken), evaluator.Params{}, `reference output "y"`},
		{append(named("y", y), named("y", y)...), evaluator.Params{}, `reference output "y" occurs twice`},
		{named("y", y), evaluator.Params{Mode: "exact"}, `mode is "exact": write "strict" or "fib"`},
		{named("y", y), evaluator.Params{Rtol: -1}, `rtol is -1`},
		{named("y", y), evaluator.Params{Atol: math.NaN()}, `atol is NaN`},
		{named("y", y), evaluator.Params{RequiredMatchedRatio: 1.5}, `required_matched_ratio is 1.5`},
		{named("y", y), evaluator.Params{Reduction: -1}, `reduction is -1`},
		{named("y", y), evaluator.Params{TVDThreshold: 2}, `TVD threshold is 2`},
		{named("y", y), evaluator.Params{Outputs: map[string]evaluator.Tolerance{"z": {}}}, `output "z", which does not exist`},
		{named("y", y), evaluator.Params{Outputs: map[string]evaluator.Tolerance{"y": {Atol: math.Inf(1)}}}, `output "y": atol is +Inf`},
	} {
		if _, err := evaluator.Elementwise(c.reference, named("y", y), c.p); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

// TestSameOnAnyNumberOfCores changes the number of cores, which parallel tests
// would see.
func TestSameOnAnyNumberOfCores(t *testing.T) {
	y, x := pair(rand.New(rand.NewPCG(5, 6)), tensor.F16, 200_003)
	for _, mode := range []evaluator.Mode{evaluator.Strict, evaluator.Fib} {
		var first string
		for _, cores := range []int{1, 2, 7} {
			before := runtime.GOMAXPROCS(cores)
			got := fmt.Sprintf("%+v", judge(t, named("y", y), named("y", x), evaluator.Params{Mode: mode}))
			runtime.GOMAXPROCS(before)
			if first == "" {
				first = got
			}
			if got != first {
				t.Errorf("%s on %d cores:\n%s\nwant\n%s", mode, cores, got, first)
			}
		}
	}
}

// TestAllocatesNothingPerElement compares outputs whose sizes differ by a factor of 16.
func TestAllocatesNothingPerElement(t *testing.T) {
	allocations := func(n int) float64 {
		y, x := pair(rand.New(rand.NewPCG(5, 6)), tensor.BF16, n)
		reference, candidate := named("y", y), named("y", x)
		return testing.AllocsPerRun(3, func() {
			if _, err := evaluator.Elementwise(reference, candidate, evaluator.Params{}); err != nil {
				t.Error(err)
			}
		})
	}
	if few, many := allocations(1<<16), allocations(1<<20); many > few+8 {
		t.Errorf("%v allocations for 16 times the elements, %v for once", many, few)
	}
}

func TestLowBitReportsTheLowestRatio(t *testing.T) {
	t.Parallel()
	values := make([]float64, 100)
	for i := range values {
		values[i] = 100
	}
	y := floats(values...)
	for i := range 4 {
		values[i] = 300
	}
	x := floats(values...)
	reference := append(named("a", y), named("b", y)...)
	candidate := append(named("a", x), named("b", y)...)
	for _, mode := range []evaluator.Mode{evaluator.Strict, evaluator.Fib} {
		r, err := evaluator.LowBit(reference, candidate, evaluator.Params{Mode: mode})
		if err != nil || r.Status != evaluator.Passed || r.Extra == nil || *r.Extra.MatchedRatio != 0.96 {
			t.Errorf("%s: %+v %v", mode, r, err)
		}
		r, err = evaluator.LowBit(reference, candidate, evaluator.Params{Mode: mode, RequiredMatchedRatio: 0.97})
		if err != nil || r.Status != evaluator.IncorrectNumerical {
			t.Errorf("%s: %+v %v", mode, r, err)
		}
	}
}

func TestSparseAttentionMayLeaveOutLse(t *testing.T) {
	t.Parallel()
	out, lse := floats(1, 2), floats(math.Inf(-1), 3)
	reference := append(named("output", out), named("lse", lse)...)
	for _, c := range []struct {
		candidate   []evaluator.Output
		strict, fib evaluator.Status
	}{
		{reference[:1], evaluator.Passed, evaluator.Passed},
		{reference, evaluator.Passed, evaluator.IncorrectNumerical}, // the right -Inf
		{reference[1:], evaluator.IncorrectShape, evaluator.IncorrectShape},
		{nil, evaluator.IncorrectShape, evaluator.IncorrectShape},
		{append(reference, named("more", out)...), evaluator.IncorrectShape, evaluator.IncorrectShape},
	} {
		for mode, want := range map[evaluator.Mode]evaluator.Status{evaluator.Strict: c.strict, evaluator.Fib: c.fib} {
			if r, err := evaluator.SparseAttention(reference, c.candidate, evaluator.Params{Mode: mode}); err != nil || r.Status != want {
				t.Errorf("%d outputs, %s: %+v %v, want %s", len(c.candidate), mode, r, err, want)
			}
		}
	}
	if _, err := evaluator.SparseAttention(reference[:1], reference, evaluator.Params{}); err == nil {
		t.Error("a reference of one output was accepted")
	}
}

func TestCombineKeepsTheWorstTrial(t *testing.T) {
	t.Parallel()
	y := floats(1, 2)
	trial := func(mode evaluator.Mode, values ...float64) evaluator.Result {
		return judge(t, named("y", y), named("y", floats(values...)), evaluator.Params{Mode: mode})
	}
	good, bad := trial(evaluator.Strict, 1, 2), trial(evaluator.Strict, 1, 5)
	got := evaluator.Combine(evaluator.Strict, good, bad, good)
	if diff := cmp.Diff(bad, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	nan, shape := trial(evaluator.Fib, 1, math.NaN()), trial(evaluator.Fib, 1)
	if got := evaluator.Combine(evaluator.Fib, trial(evaluator.Fib, 1, 5), nan, shape); got.Status != evaluator.IncorrectNumerical || got.MaxAbsoluteError == got.MaxAbsoluteError {
		t.Errorf("upstream stops at the first NaN: %+v", got)
	}
}

// FuzzElementwise feeds outputs of any shape, format and length.
func FuzzElementwise(f *testing.F) {
	f.Add("float32", []byte{4}, []byte("0123456789abcdef"))
	f.Add("float4_e2m1", []byte{3}, []byte("ab"))
	f.Add("bool", []byte{2, 2}, []byte{0, 1, 2, 255})
	f.Add("float8_e4m3fn", []byte{0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255}, []byte{})
	f.Fuzz(func(t *testing.T, format string, shape, data []byte) {
		x := tensor.Tensor{DType: tensor.DType(format), Data: data}
		for _, size := range shape {
			x.Shape = append(x.Shape, int(int8(size))*1<<(size&31))
		}
		if len(shape) == 1 {
			x.Shape[0] = int(shape[0])
		}
		for _, mode := range []evaluator.Mode{evaluator.Strict, evaluator.Fib} {
			if r := judge(t, named("y", floats(1, 2, 3, 4)), named("y", x), evaluator.Params{Mode: mode}); r.Status == "" {
				t.Error("no status")
			}
			if x.Validate() == nil {
				judge(t, named("y", x), named("y", x), evaluator.Params{Mode: mode})
			}
		}
	})
}
