package evaluator

import (
	"cmp"
	"math"

	"github.com/accelgate/accelgate/internal/tensor"
)

// format is what a number format means for comparing.
type format struct {
	integer  bool
	fraction int // bits after the binary point
	lowest   int // exponent of the smallest normal number
	// Strict accepts |x-y| <= rtol |y| + scale m, m being the mean magnitude
	// of the reference. Both together stay below 1, so that zeros never pass
	// for anything else.
	rtol, scale float64
	// rounds means that the roundings to this format outweigh everything else
	// which two right kernels differ by.
	rounds bool
}

// formats has the tolerances, u being the unit roundoff. Formats of 16 bits get
// 4 u of an element, for two roundings on either side, and 4 u of the mean
// magnitude, for rounded terms of a sum: of a million outputs of attention over
// 1024 tokens, the worst is off by 2.1 u m. Those of 8 and 4 bits get one unit in the
// last place. float32 and float64 get room for another library's exp and rsqrt.
var formats = map[tensor.DType]format{
	tensor.Float64:      {fraction: 52, lowest: -970, rtol: 0x1p-40, scale: 0x1p-40}, // below -970, 1/ulp overflows
	tensor.Float32:      {fraction: 23, lowest: -126, rtol: 0x1p-19, scale: 0x1p-19},
	tensor.F16:          {fraction: 10, lowest: -14, rtol: 0x1p-9, scale: 0x1p-9, rounds: true},
	tensor.BF16:         {fraction: 7, lowest: -126, rtol: 0x1p-6, scale: 0x1p-6, rounds: true},
	tensor.Float8E4M3FN: {fraction: 3, lowest: -6, rtol: 0x1p-3, scale: 0x1p-4},
	tensor.Float8E5M2:   {fraction: 2, lowest: -14, rtol: 0x1p-2, scale: 0x1p-3},
	tensor.Float4E2M1:   {fraction: 1, lowest: 0, rtol: 0x1p-1, scale: 0x1p-2},
	tensor.Int64:        whole,
	tensor.Int32:        whole,
	tensor.Int16:        whole,
	tensor.Int8:         whole,
	tensor.Uint8:        whole,
	tensor.Bool:         whole,
}

// whole numbers have units of 1 wherever they are.
var whole = format{integer: true, fraction: 1000, lowest: 1000}

// A sum of k terms rounds k times; independent roundings add up to about
// sqrt(k) units, and four times that is never seen.
const summation = 4

// defaults fills in what Strict's tolerance leaves open, for a reference of the
// given mean magnitude. Sums are expected to be kept in float32 at least, also
// where the output is narrower.
func (f format) defaults(t Tolerance, reduction int, magnitude float64) Tolerance {
	if f.integer {
		return t // zero is exact
	}
	unit := 0x1p-24
	if f.fraction == 52 {
		unit = 0x1p-53
	}
	t.Rtol = cmp.Or(t.Rtol, f.rtol)
	if t.Atol == 0 {
		share := f.scale + summation*math.Sqrt(float64(reduction))*unit
		t.Atol = min(share, (1-f.rtol)/2) * magnitude
	}
	return t
}

// ulps returns the error d of a value y in units in the last place of y, of a
// format with this fraction and this lowest exponent. It takes numbers because
// a whole format would be copied for each element.
func ulps(fraction, lowest int, d, y float64) float64 {
	exponent := max(int(math.Float64bits(y)>>52&0x7ff)-1023, lowest)
	return d * math.Float64frombits(uint64(1023+fraction-exponent)<<52)
}

// exponents counts errors in ulps by the exponent of the float64, which takes
// no time; 0 has an exponent of its own.
type exponents [1 << 11]int

func (e *exponents) add(ulps float64) { e[math.Float64bits(ulps)>>52&(1<<11-1)]++ }

func (e *exponents) histogram() (h Histogram) {
	h[0] = int64(e[0])
	for i, count := range e[1:] {
		h[min(max(i+1-1023+1, 1), len(h)-1)] += int64(count)
	}
	return h
}
