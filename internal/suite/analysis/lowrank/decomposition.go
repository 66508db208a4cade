package lowrank

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/accelgate/accelgate/internal/suite/analysis/svd"
	"github.com/accelgate/accelgate/internal/tensor"
)

// TopK returns how many singular triplets of an n x m weight are frozen:
// floor(min(n, m) * ratio), and one less than all of them if that is all. A
// weight with 0 is not decomposed.
func TopK(n, m int, ratio float64) int {
	full := min(n, m)
	k := int(math.Floor(float64(full) * ratio))
	return max(0, min(k, full-1))
}

// Decompose returns the factors of a weight with two axes, high of whose
// triplets are frozen (0 < high < min(N, M), see [TopK]), rounded to storage.
//
// If compute is float32, the weight is rounded to float32 and decomposed in it.
//
// The solver may be called concurrently by other calls. The weight is not
// changed.
func Decompose(solver svd.Solver, weight tensor.Tensor, high int, compute, storage tensor.DType) (Factors, error) {
	if err := checkWeight(weight); err != nil {
		return Factors{}, err
	}
	n, m := weight.Shape[0], weight.Shape[1]
	k := min(n, m)
	if high <= 0 || high >= k {
		return Factors{}, fmt.Errorf("%d of %d singular triplets would be frozen: freeze at least one, and not all", high, k)
	}
	thin := solver.Thin
	if compute == tensor.Float32 {
		thin = solver.ThinSingle
	}
	f, err := thin(floats64(weight), n, m)
	if err != nil {
		return Factors{}, fmt.Errorf("decompose by %s: %w", solver.Name(), err)
	}
	if len(f.U) != n*k || len(f.S) != k || len(f.VT) != k*m {
		return Factors{}, fmt.Errorf("solver %s gave %d, %d and %d numbers for %d x %d: use another one", solver.Name(), len(f.U), len(f.S),
			len(f.VT), n, m)
	}
	return split(f, n, m, high, storage), nil
}

// split cuts the factors after the first high triplets.
func split(f svd.Factors, n, m, high int, storage tensor.DType) Factors {
	k := min(n, m)
	return Factors{
		UHigh: store(storage, columns(f.U, n, k, 0, high), n, high),
		SHigh: store(storage, f.S[:high], high),
		VHigh: store(storage, f.VT[:high*m], high, m),
		ULow:  store(storage, columns(f.U, n, k, high, k), n, k-high),
		SLow:  store(storage, f.S[high:], k-high),
		VLow:  store(storage, f.VT[high*m:], k-high, m),
	}
}

// columns copies the columns [from, to) of an n x k matrix.
func columns(a []float64, n, k, from, to int) []float64 {
	part := make([]float64, 0, n*(to-from))
	for i := range n {
		part = append(part, a[i*k+from:i*k+to]...)
	}
	return part
}

// store rounds values to a format.
func store(format tensor.DType, values []float64, shape ...int) tensor.Tensor {
	t := tensor.Tensor{DType: format, Shape: shape, Data: make([]byte, format.Size(len(values)))}
	t.SetFloats64(values, 0)
	return t
}

func floats64(t tensor.Tensor) []float64 {
	values := make([]float64, t.Elements())
	t.Floats64(values, 0)
	return values
}

// checkWeight returns why a tensor cannot be decomposed or compared.
func checkWeight(t tensor.Tensor) error {
	if err := t.Validate(); err != nil {
		return err
	}
	switch {
	case len(t.Shape) != 2:
		return fmt.Errorf("shape %v: give a tensor with two axes", t.Shape)
	case epsilons[t.DType] == 0:
		return fmt.Errorf("weights of %s: convert them to %s", t.DType, formats)
	case !finite(t):
		return errNotFinite
	}
	return nil
}

var errNotFinite = errors.New("the weight has NaN or infinite numbers: fix the checkpoint")

// finite reports whether a tensor of floating point numbers has no NaN and no
// infinity.
func finite(t tensor.Tensor) bool {
	var block [1024]float64
	for from := 0; ; {
		n := t.Floats64(block[:], from)
		if n == 0 {
			return true
		}
		if slices.ContainsFunc(block[:n], notFinite) {
			return false
		}
		from += n
	}
}

func notFinite(v float64) bool { return v-v != 0 }
