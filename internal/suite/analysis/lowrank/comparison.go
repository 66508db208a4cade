package lowrank

import (
	"errors"
	"fmt"
	"math"

	"github.com/accelgate/accelgate/internal/tensor"
)

// Status describes what became of a parameter.
type Status string

// The first three are upstream's and compare numbers; Failed is what upstream
// leaves out of its counts.
const (
	Identical Status = "identical" // all numbers are equal
	Close     Status = "close"     // all differ by at most tolerance + tolerance*|original|
	Different Status = "different" // some differ by more
	Failed    Status = "failed"    // there are faults, whatever the numbers say
)

// Difference is how a reconstruction differs from the original weight.
type Difference struct {
	Match    Status `json:"match"` // without regard to faults
	Elements int    `json:"elements"`
	Outside  int    `json:"outside"` // the tolerance
	// Max, Mean and RMS are of the absolute differences.
	Max  float64 `json:"max"`
	Mean float64 `json:"mean"`
	RMS  float64 `json:"rms"`
	// Norm is the original's Frobenius norm, and Relative that of the
	// difference divided by it; not divided if all of the original is 0.
	Norm     float64 `json:"norm"`
	Relative float64 `json:"relative_frobenius"`
	// ULPs counts the distances in units in the last place of the original's
	// format, after the reconstruction was rounded to it: equal ones come
	// first, then those of 1, of 2 and 3, of 4 to 7 and so on, without the
	// zeros that would end the list. A 0 that came back as something tiny is
	// thousands away.
	ULPs []int `json:"ulps"`
}

// Compare compares a reconstruction with the weight that it should be, which
// has as many elements, all of them finite. The differences are of the exact
// values of both.
//
// Upstream rounds the original to the format of the reconstruction first. That
// is the same unless the original is a float64 that was reconstructed in
// float32; then it would hide what float32 has lost.
func Compare(original tensor.Tensor, reconstruction []float64, tolerance float64) (Difference, error) {
	if n := original.Elements(); n != len(reconstruction) || n == 0 || epsilons[original.DType] == 0 {
		return Difference{}, fmt.Errorf("%d numbers and a weight of %s with the shape %v: compare what has the same size, in %s",
			len(reconstruction), original.DType, original.Shape, formats)
	}
	c := comparison{tolerance: tolerance, exponent: exponent(original), ulps: newRuler(original)}
	var block [blockLen]float64
	for from := 0; from < len(reconstruction); {
		n := original.Floats64(block[:], from)
		c.add(block[:n], reconstruction[from:from+n])
		c.ulps.add(reconstruction[from:from+n], from)
		from += n
	}
	d := c.difference(len(reconstruction))
	for _, v := range []float64{d.Max, d.Mean, d.RMS, d.Norm, d.Relative} {
		if !(v <= maxMeasure) {
			return Difference{}, errors.New(
				"the weight or its differences are beyond 1e140, whose squares float64 cannot add: scale the weight down",
			)
		}
	}
	return d, nil
}

const (
	blockLen   = 1024 // what is added up first, which keeps sums of millions exact enough
	maxMeasure = 1e140
)

// exponent returns that of the largest magnitude. Squares are of numbers that
// were divided by 2 to it, so that tiny weights are not all 0.
func exponent(t tensor.Tensor) int {
	var block [blockLen]float64
	largest := 0.0
	for from := 0; ; {
		n := t.Floats64(block[:], from)
		if n == 0 {
			break
		}
		for _, v := range block[:n] {
			largest = max(largest, math.Abs(v))
		}
		from += n
	}
	_, e := math.Frexp(largest)
	return min(max(e, -1000), 1000) // 2 to it has an inverse
}

type comparison struct {
	tolerance           float64
	exponent            int
	outside, unequal    int
	max, sum            float64
	squares, normSquare float64
	ulps                ruler
}

func (c *comparison) add(want, got []float64) {
	var sum, squares, norm float64
	scale := math.Ldexp(1, -c.exponent)
	for i, w := range want {
		d := math.Abs(got[i] - w)
		if got[i] != w {
			c.unequal++
		}
		if !(d <= c.tolerance+c.tolerance*math.Abs(w)) {
			c.outside++
		}
		if d > c.max || d != d {
			c.max = d
		}
		sum += d
		squares += (d * scale) * (d * scale)
		norm += (w * scale) * (w * scale)
	}
	c.sum += sum
	c.squares += squares
	c.normSquare += norm
}

func (c *comparison) difference(n int) Difference {
	unit := math.Ldexp(1, c.exponent)
	d := Difference{Match: matching(c.unequal == 0, c.outside), Elements: n, Outside: c.outside, Max: c.max, Mean: c.sum / float64(n),
		RMS: unit * math.Sqrt(
			c.squares/float64(n),
		), Norm: unit * math.Sqrt(c.normSquare), Relative: math.Sqrt(c.squares), ULPs: c.ulps.histogram()}
	if c.normSquare > 0 {
		d.Relative /= math.Sqrt(c.normSquare)
	}
	return d
}

func matching(equal bool, outside int) Status {
	switch {
	case equal:
		return Identical
	case outside == 0:
		return Close
	}
	return Different
}

// Bound is how large the relative Frobenius norm of a difference may be, and
// the deviation from orthogonality:
//
//	factor * eps(compute) * sqrt(k) + 1.5 * eps(storage)
//
// where k is the smaller size of the weight and eps the distance from 1 to the
// next number. Unlike an absolute tolerance it does not depend on how large
// weights are, and it tells formats apart: what was silently computed in float32
// is far beyond the bound of float64.
//
// The errors of a decomposition grow with k. Those of rounding its three factors
// afterwards do not, each being half an eps at most. A root for both would allow
// an error of 15 % in bfloat16 where 0.3 % is usual.
func Bound(factor float64, compute, storage tensor.DType, k int) float64 {
	return factor*epsilons[compute]*math.Sqrt(float64(k)) + 1.5*epsilons[storage]
}
