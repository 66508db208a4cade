package health

import (
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
)

// maxReadings is what a document may hold of one result, and more than a machine
// with 64 devices has.
const maxReadings = 1000

// readings sum up quantities by their names.
type readings []bench.Reading

// add counts one value in; texts are left out.
func (r *readings) add(name, unit string, v float64) {
	if !bench.Finite(v) {
		return
	}
	i := slices.IndexFunc(*r, func(known bench.Reading) bool { return known.Name == name })
	if i < 0 {
		*r = append(*r, bench.Reading{Name: name, Unit: unit, N: 1, Min: v, Mean: v, Max: v})
		return
	}
	known := &(*r)[i]
	known.N++
	known.Min, known.Max = min(known.Min, v), max(known.Max, v)
	known.Mean += (v - known.Mean) / float64(known.N)
}
