package lowrank

import (
	"math"

	"github.com/accelgate/accelgate/internal/suite/analysis/svd"
	"github.com/accelgate/accelgate/internal/tensor"
)

// Orthogonality is how far singular vectors, the columns of U or the rows of V,
// are from being orthonormal.
type Orthogonality struct {
	// Deviation is the largest |G - I|, G being the vectors' products with
	// each other, high and low ones alike.
	Deviation float64 `json:"deviation"`
	// Degrees is the worst deviation from 90 degrees between a frozen and a
	// trained vector.
	Degrees float64 `json:"degrees"`
	// Zeros counts vectors of length 0, which have no angles.
	Zeros int `json:"zeros,omitempty"`
}

// orthogonalityU is of the columns of U_high and U_low.
func (f Factors) orthogonalityU() Orthogonality {
	n, h, l := f.UHigh.Shape[0], f.UHigh.Shape[1], f.ULow.Shape[1]
	k := h + l
	u := make([]float64, n*k)
	for i := range n {
		f.UHigh.Floats64(u[i*k:i*k+h], i*h)
		f.ULow.Floats64(u[i*k+h:(i+1)*k], i*l)
	}
	return judge(svd.ColumnGram(u, n, k), k, h)
}

// orthogonalityV is of the rows of V_high and V_low.
func (f Factors) orthogonalityV() Orthogonality {
	h, l, m := f.VHigh.Shape[0], f.VLow.Shape[0], f.VHigh.Shape[1]
	k := h + l
	v := make([]float64, k*m)
	f.VHigh.Floats64(v[:h*m], 0)
	f.VLow.Floats64(v[h*m:], 0)
	return judge(svd.RowGram(v, k, m), k, h)
}

// judge looks at the products of k vectors with each other, of which the first
// h are frozen. The angles come from the arc sine: the arc cosine, which
// upstream's script takes, cannot tell angles of less than 1e-6 degrees apart
// from none.
func judge(gram []float64, k, h int) Orthogonality {
	var o Orthogonality
	lengths := make([]float64, k)
	for i := range k {
		if lengths[i] = math.Sqrt(gram[i*k+i]); lengths[i] == 0 {
			o.Zeros++
		}
	}
	for i := range k {
		for j := i; j < k; j++ {
			product := math.Abs(gram[i*k+j])
			if i == j {
				o.Deviation = max(o.Deviation, math.Abs(gram[i*k+i]-1))
				continue
			}
			o.Deviation = max(o.Deviation, product)
			if i < h && j >= h && lengths[i] > 0 && lengths[j] > 0 {
				sine := min(1, product/lengths[i]/lengths[j])
				o.Degrees = max(o.Degrees, math.Asin(sine)*180/math.Pi)
			}
		}
	}
	return o
}

// ordered returns what is wrong with the singular values.
func (f Factors) ordered() []Fault {
	s := append(floats64(f.SHigh), floats64(f.SLow)...)
	for i, v := range s {
		if v < 0 {
			return []Fault{fault(Negative, "singular value %d is %v: give U's column the sign", i, v)}
		}
		if i > 0 && v > s[i-1] {
			return []Fault{
				fault(Order, "singular value %d is %v, above the one before, %v: sort the triplets, so that the largest are frozen", i, v,
					s[i-1]),
			}
		}
	}
	return nil
}

// coarsest returns the format of the factors that rounds most.
func (f Factors) coarsest() tensor.DType {
	worst := tensor.Float64
	for _, t := range f.all() {
		if epsilons[t.DType] > epsilons[worst] {
			worst = t.DType
		}
	}
	return worst
}
