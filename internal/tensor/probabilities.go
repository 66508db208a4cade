package tensor

import (
	"errors"
	"fmt"
	"math"
	"sync"
)

// Probabilities fills dst with whole rows of a random tensor of float32 whose
// last axis, of the given size, sums to one, beginning with row from of all
// that the tensor's other axes make. It uses all cores. With s as above, and i
// counted over all axes,
//
//	e = round(exp(float64(x)) * 2^24), as an integer, ties to even
//	p = float32(float64(e) / float64(sum of e over the row))
//
// which is the softmax, but for the rounding to an integer: it makes the sum
// exact, so that its order does not matter, and hides the last bits of exp,
// which differ between libraries. No s has an exp that is closer than 194 units
// in its last place to where the rounding changes; 2^24 was chosen for that.
func Probabilities(dst []float32, seed uint64, from, columns int) error {
	if from < 0 || columns <= 0 || columns > maxColumns || len(dst)%columns != 0 {
		return fmt.Errorf("%d probabilities from row %d are no whole rows of %d: ask for whole rows of at most %d", len(dst), from, columns,
			maxColumns)
	}
	rows, table := len(dst)/columns, exponentials()
	if from > maxElements/columns-rows {
		return errors.New("the rows are beyond the end of any tensor: correct its shape")
	}
	parallelBy(rows, columns, func(begin, end int) {
		for row := begin; row < end; row++ {
			softmax(dst[row*columns:(row+1)*columns], table, seed, uint64((from+row)*columns))
		}
	})
	return nil
}

// maxColumns keeps the sum of a row, each less than 2^29, among the integers
// that float64 holds.
const maxColumns = 1 << 24

// exponentials has e for every s.
var exponentials = sync.OnceValue(func() []uint32 {
	table := make([]uint32, 4*0xffff+1)
	for s := range table {
		table[s] = uint32(math.RoundToEven(math.Exp(float64(normal(uint32(s)))) * (1 << 24)))
	}
	return table
})

func softmax(dst []float32, table []uint32, seed, index uint64) {
	var sum uint64
	z := index*step + seed
	for i := range dst {
		z += step
		s := lanes(mix(z))
		sum += uint64(table[s])
		dst[i] = float32(s) // exact
	}
	for i, s := range dst {
		dst[i] = float32(float64(table[int(s)]) / float64(sum))
	}
}
