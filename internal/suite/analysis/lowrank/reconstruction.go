package lowrank

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/accelgate/accelgate/internal/tensor"
)

// Reconstruct returns (U_high*S_high)V_high + (U_low*S_low)V_low, row by row.
// Of float32 every product and sum is rounded to float32, and the low part is
// added term by term. The factors must fit together, as readFactors checks. All
// cores are used; how many there are changes nothing in the result.
func (f Factors) Reconstruct(compute tensor.DType) []float64 {
	if compute == tensor.Float32 {
		return widen(reconstruct(f, floats32, gemm32))
	}
	return reconstruct(f, floats64, gemm64)
}

func reconstruct[F float32 | float64](f Factors, decode func(tensor.Tensor) []F, gemm func(n, m, k int, a, b, c []F)) []F {
	n, m := f.UHigh.Shape[0], f.VHigh.Shape[1]
	c := make([]F, n*m)
	for _, part := range [][3]tensor.Tensor{{f.UHigh, f.SHigh, f.VHigh}, {f.ULow, f.SLow, f.VLow}} {
		u, s := decode(part[0]), decode(part[1])
		for i := range n {
			row := u[i*len(s) : (i+1)*len(s)]
			for j := range row {
				row[j] *= s[j]
			}
		}
		gemm(n, m, len(s), u, decode(part[2]), c)
	}
	return c
}

// gemm64 adds the product of a, n x k, and b, k x m, to c.
func gemm64(n, m, k int, a, b, c []float64) {
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, matrix(n, k, a), matrix(k, m, b), 1, matrix(n, m, c))
}

func gemm32(n, m, k int, a, b, c []float32) {
	general := func(rows, columns int, data []float32) blas32.General {
		return blas32.General{Rows: rows, Cols: columns, Stride: columns, Data: data}
	}
	blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, general(n, k, a), general(k, m, b), 1, general(n, m, c))
}

func matrix(rows, columns int, data []float64) blas64.General {
	return blas64.General{Rows: rows, Cols: columns, Stride: columns, Data: data}
}

func floats32(t tensor.Tensor) []float32 {
	values := make([]float32, t.Elements())
	t.Floats(values, 0)
	return values
}

func widen(values []float32) []float64 {
	wide := make([]float64, len(values))
	for i, v := range values {
		wide[i] = float64(v)
	}
	return wide
}
