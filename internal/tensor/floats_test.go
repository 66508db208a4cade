package tensor_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strconv"
	"testing"

	"github.com/accelgate/accelgate/internal/tensor"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// narrowFormat describes what a format is, by other means than the code: sizes of
// its parts, and what comes after the largest number.
type narrowFormat struct {
	d                  tensor.DType
	exponent, fraction int
	bias               int
	finite             int // codes from 0 that are numbers
	beyond             float64
}

var narrowFormats = []narrowFormat{
	{d: tensor.F16, exponent: 5, fraction: 10, bias: 15, finite: 0x7c00, beyond: math.Inf(1)},
	{d: tensor.BF16, exponent: 8, fraction: 7, bias: 127, finite: 0x7f80, beyond: math.Inf(1)},
	{d: tensor.Float8E4M3FN, exponent: 4, fraction: 3, bias: 7, finite: 0x7f, beyond: math.NaN()},
	{d: tensor.Float8E5M2, exponent: 5, fraction: 2, bias: 15, finite: 0x7c, beyond: math.Inf(1)},
	{d: tensor.Float4E2M1, exponent: 2, fraction: 1, bias: 1, finite: 8, beyond: 6},
}

// value of a code without a sign.
func (f narrowFormat) value(code int) float64 {
	exponent, fraction := code>>f.fraction, float64(code%(1<<f.fraction))/float64(int(1)<<f.fraction)
	switch {
	case code >= f.finite && (math.IsNaN(f.beyond) || fraction != 0):
		return math.NaN()
	case code >= f.finite:
		return f.beyond
	case exponent == 0:
		return math.Ldexp(fraction, 1-f.bias)
	}
	return math.Ldexp(1+fraction, exponent-f.bias)
}

// nearest rounds by looking at every number of the format.
func (f narrowFormat) nearest(v float64) float64 {
	if v != v {
		if f.beyond == 6 {
			return math.Copysign(6, v)
		}
		return v
	}
	magnitude := math.Abs(v)
	high := sort.Search(f.finite, func(code int) bool { return f.value(code) >= magnitude })
	above := 0.0
	if high == f.finite { // rounding works as if the numbers went on
		above = 2*f.value(f.finite-1) - f.value(f.finite-2)
		if f.fraction == 1 {
			above = 8
		}
	} else {
		above = f.value(high)
	}
	result := above
	if high > 0 {
		below := f.value(high - 1)
		if down, up := magnitude-below, above-magnitude; down < up || down == up && high%2 == 1 {
			result = below
		}
	}
	if result > f.value(f.finite-1) {
		result = f.beyond
	}
	return math.Copysign(result, v)
}

func one(d tensor.DType) tensor.Tensor {
	return tensor.Tensor{DType: d, Shape: []int{}, Data: make([]byte, d.Size(1))}
}

func same(a, b float64) bool {
	return a == b && math.Signbit(a) == math.Signbit(b) || a != a && b != b
}

// TestEveryCodeKeepsItsValue decodes all codes, and encodes them again.
func TestEveryCodeKeepsItsValue(t *testing.T) {
	t.Parallel()
	for _, f := range narrowFormats {
		bits := f.d.Bits()
		all := tensor.Tensor{DType: f.d, Shape: []int{1 << bits}}
		for code := range 1 << bits {
			switch {
			case bits == 16:
				all.Data = append(all.Data, byte(code), byte(code>>8))
			case bits == 8:
				all.Data = append(all.Data, byte(code))
			case code%2 == 1:
				all.Data = append(all.Data, byte(code-1|code<<4))
			}
		}
		narrow, wide := make([]float32, 1<<bits), make([]float64, 1<<bits)
		if n, m := all.Floats(narrow, 0), all.Floats64(wide, 0); n != len(narrow) || m != n {
			t.Fatalf("%s: %d and %d decoded, want %d", f.d, n, m, len(narrow))
		}
		back := tensor.Tensor{DType: f.d, Shape: all.Shape, Data: make([]byte, len(all.Data))}
		back.SetFloats(narrow, 0)
		again := make([]float64, 1<<bits)
		back.Floats64(again, 0)
		for code := range 1 << bits {
			want := f.value(code % (1 << (bits - 1)))
			if code >= 1<<(bits-1) {
				want = -want
			}
			if !same(wide[code], want) || !same(float64(narrow[code]), want) || !same(again[code], want) {
				t.Errorf("%s %#x is %v, %v, and back %v; want %v", f.d, code, narrow[code], wide[code], again[code], want)
			}
		}
	}
}

// TestRoundsToNearest tries the middle between neighbours, what is just off
// it, the ends, and random numbers; from float32 and from float64, which may
// not go through a float32 that rounds first.
func TestRoundsToNearest(t *testing.T) {
	if testtier.Race {
		t.Skip("numbers of one goroutine")
	}
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	for _, f := range narrowFormats {
		values := []float64{0, math.Inf(1), math.NaN(), math.MaxFloat64, math.MaxFloat32, math.SmallestNonzeroFloat64, 464, 465, 61440, 61439, 5, 7, 1e9}
		for range 3000 {
			low := random.IntN(f.finite)
			middle := (f.value(low) + f.nearest(f.value(low)*1.0000001+math.Ldexp(1, -f.bias))) / 2
			if low+1 < f.finite {
				middle = (f.value(low) + f.value(low+1)) / 2
			}
			values = append(values, middle, math.Nextafter(middle, 0), math.Nextafter(middle, math.Inf(1)), middle*(1-0x1p-40), middle*(1+0x1p-40),
				random.NormFloat64(), f.value(low)*random.Float64())
		}
		x := one(f.d)
		var got [1]float64
		for _, v := range values {
			for _, v := range []float64{v, -v} {
				x.SetFloats64([]float64{v}, 0)
				x.Floats64(got[:], 0)
				if want := f.nearest(v); !same(got[0], want) {
					t.Fatalf("%s: %v is stored as %v, want %v", f.d, v, got[0], want)
				}
				x.SetFloats([]float32{float32(v)}, 0)
				x.Floats64(got[:], 0)
				if want := f.nearest(float64(float32(v))); !same(got[0], want) {
					t.Fatalf("%s: float32 %v is stored as %v, want %v", f.d, float32(v), got[0], want)
				}
			}
		}
	}
}

// TestRunsAnywhere stores and loads runs at every place of a small tensor,
// also where a number of four bits shares its byte.
func TestRunsAnywhere(t *testing.T) {
	t.Parallel()
	const n = 9
	for _, d := range dtypes {
		for from := range n {
			for length := range n - from + 1 {
				whole := tensor.Tensor{DType: d, Shape: []int{3, 3}, Data: make([]byte, d.Size(n))}
				want := make([]float64, n)
				floats, ints := make([]float32, length), make([]int64, length)
				for i := range length {
					floats[i], ints[i] = float32(i%2), int64(i%2)
					want[from+i] = float64(i % 2)
				}
				stored := whole.SetFloats(floats, from) + whole.SetInts(ints, from)
				got := make([]float64, n+3)
				if loaded := whole.Floats64(got, 0); stored != length || loaded != n || !slices.Equal(got[:n], want) {
					t.Fatalf("%s [%d, %d): stored %d, loaded %d: %v, want %v", d, from, from+length, stored, loaded, got, want)
				}
				back := make([]float32, length)
				if whole.Floats(back, from) != length || !slices.Equal(back, floats) {
					t.Fatalf("%s [%d, %d): got %v, want %v", d, from, from+length, back, floats)
				}
			}
		}
	}
}

func TestIntegersAreExact(t *testing.T) {
	t.Parallel()
	for d, numbers := range map[tensor.DType][]int64{
		tensor.Int64: {math.MinInt64, math.MaxInt64, 1<<53 + 1, -1},
		tensor.Int32: {math.MinInt32, math.MaxInt32, 1<<24 + 1, -1},
		tensor.Int16: {math.MinInt16, math.MaxInt16, -1},
		tensor.Int8:  {math.MinInt8, math.MaxInt8, -1},
		tensor.Uint8: {0, 255, 128},
		tensor.Bool:  {0, 1},
	} {
		x := tensor.Tensor{DType: d, Shape: []int{len(numbers)}, Data: make([]byte, d.Size(len(numbers)))}
		got := make([]int64, len(numbers))
		if x.SetInts(numbers, 0) != len(numbers) || x.Ints(got, 0) != len(numbers) || !slices.Equal(got, numbers) {
			t.Errorf("%s: got %v, want %v", d, got, numbers)
		}
		rounded := make([]float32, len(numbers))
		x.Floats(rounded, 0)
		for i, v := range numbers {
			if rounded[i] != float32(v) {
				t.Errorf("%s %d: as float32 %v, want %v", d, v, rounded[i], float32(v))
			}
		}
		if x.SetFloats(rounded, 0) != 0 {
			t.Errorf("%s stores floating point numbers", d)
		}
	}
	x := tensor.Tensor{DType: tensor.Bool, Shape: []int{3}, Data: []byte{0, 2, 255}}
	got := make([]int64, 3)
	if x.Ints(got, 0); !slices.Equal(got, []int64{0, 1, 1}) {
		t.Errorf("truth values are %v, want 0, 1, 1", got)
	}
	if half := one(tensor.F16); half.Ints(got, 0) != 0 || half.SetInts(got, 0) != 0 {
		t.Error("a float16 is read or written as an integer")
	}
}

func TestFloat64GoesBothWays(t *testing.T) {
	t.Parallel()
	x := one(tensor.Float64)
	for _, v := range []float64{math.Pi, -math.MaxFloat64, math.SmallestNonzeroFloat64, math.Inf(-1)} {
		var got [1]float64
		var narrow [1]float32
		if x.SetFloats64([]float64{v}, 0); x.Floats64(got[:], 0) != 1 || got[0] != v {
			t.Errorf("%v comes back as %v", v, got)
		}
		if x.Floats(narrow[:], 0) != 1 || narrow[0] != float32(v) {
			t.Errorf("%v as float32 is %v", v, narrow)
		}
	}
	single := one(tensor.Float32)
	var got [1]float32
	for _, v := range []float64{1 + 0x1p-24, 1 + 0x1p-24 + 0x1p-50, math.Pi, 1e300} {
		if single.SetFloats64([]float64{v}, 0); single.Floats(got[:], 0) != 1 || got[0] != float32(v) {
			t.Errorf("%v is stored as %v, want %v", v, got, float32(v))
		}
	}
}

// number is a JSON number, or one of the names that JSON has none for.
type number float64

func (n *number) UnmarshalJSON(data []byte) error {
	text, err := strconv.Unquote(string(data))
	if err != nil {
		text = string(data)
	}
	v, err := strconv.ParseFloat(text, 64)
	*n = number(v)
	return err
}

// TestDecodesAsRecorded compares with tables that were recorded elsewhere.
func TestDecodesAsRecorded(t *testing.T) {
	t.Parallel()
	var extra struct {
		Tables map[string][]number `json:"fp8_tables"`
	}
	dataFile(t, "golden_extra.json", &extra)
	var expected struct {
		Decode map[string][][2]number `json:"_dtype_decode"`
	}
	dataFile(t, "expected.json", &expected)
	check := func(d tensor.DType, code uint16, want number) {
		t.Helper()
		x := one(d)
		for i := range x.Data {
			x.Data[i] = byte(code >> (8 * i))
		}
		var got [1]float64
		zeros := want == 0 && d == tensor.Float4E2M1 // the table has no sign there
		if n := x.Floats64(got[:], 0); n != 1 || !same(got[0], float64(want)) && !(zeros && got[0] == 0) {
			t.Errorf("%s %#x is %v, want %v", d, code, got[0], want)
		}
	}
	for name, d := range map[string]tensor.DType{"F8_E4M3": tensor.Float8E4M3FN, "F8_E5M2": tensor.Float8E5M2, "F4_E2M1_nibble": tensor.Float4E2M1} {
		if len(extra.Tables[name]) != 1<<d.Bits() {
			t.Fatalf("%s: %d entries", name, len(extra.Tables[name]))
		}
		for code, want := range extra.Tables[name] {
			check(d, uint16(code), want)
		}
	}
	for name, d := range map[string]tensor.DType{"F16": tensor.F16, "BF16": tensor.BF16} {
		if len(expected.Decode[name]) == 0 {
			t.Fatalf("%s: no cases", name)
		}
		for _, c := range expected.Decode[name] {
			check(d, uint16(c[0]), c[1])
		}
	}
}

// BenchmarkFloats converts a megabyte at a time; "copy" copies as many bytes.
func BenchmarkFloats(b *testing.B) {
	const n = 1 << 18
	narrow, wide := make([]float32, n), make([]float64, n)
	for _, d := range dtypes {
		x := random(b, d, 1, 0, n)
		twin := make([]byte, len(x.Data))
		for name, convert := range map[string]func(){
			"1 copy":         func() { copy(twin, x.Data) },
			"2 to float32":   func() { x.Floats(narrow, 0) },
			"3 to float64":   func() { x.Floats64(wide, 0) },
			"4 from float32": func() { x.SetFloats(narrow, 0) },
			"5 from float64": func() { x.SetFloats64(wide, 0) },
		} {
			b.Run(fmt.Sprintf("%s/%s", d, name), func(b *testing.B) {
				b.SetBytes(int64(len(x.Data)))
				b.ReportAllocs()
				for b.Loop() {
					convert()
				}
			})
		}
	}
}
