package evaluator

import "math"

// moments are sums over the finite pairs of a segment. The segments are joined in
// their order, so that the number of cores does not show.
type moments struct {
	count        int
	error2       float64 // of squared errors
	size2, size4 float64 // of powers of the reference
}

func (m *moments) add(n moments) {
	m.count += n.count
	m.error2 += n.error2
	m.size2 += n.size2
	m.size4 += n.size4
}

const (
	// roundings is how often both sides together may round a value to the
	// output's format on its way: twice at the end, and four times before.
	roundings = 6
	// fluctuation is how many standard deviations the mean square of independent
	// roundings may be above its expectation.
	fluctuation = 9
)

// together returns the root of the mean squared error and its bound, as shares
// of the root of the mean square of the reference. Without moments both are 0.
//
// A rounding to a format with the unit roundoff u is off by at most u of the
// value, evenly distributed: its mean square is at most u^2/3 of the value's.
// Independent ones add up. Below the normal numbers half a unit takes the place of
// u of the value. Few large values fluctuate more: they count as size2^2 / size4
// values.
func (f format) together(parts []moments, reduction int) (rms, limit float64) {
	var m moments
	for _, p := range parts {
		m.add(p)
	}
	if m.size2 == 0 {
		return 0, 0
	}
	u, half := math.Ldexp(1, -f.fraction-1), math.Ldexp(0.5, f.lowest-f.fraction)
	expected := roundings / 3.0 * (u*u + half*half*float64(m.count)/m.size2)
	effective := m.size2 / math.Sqrt(m.size4) // the root of the number of values
	limit = math.Sqrt(expected*(1+fluctuation/effective)) + summation*math.Sqrt(float64(reduction))*0x1p-24
	return math.Sqrt(m.error2 / m.size2), limit
}
