package svd

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// ColumnGram returns UᵀU, the products of the columns of the rows x columns matrix
// u with each other, row-major. It panics if u has another size.
func ColumnGram(u []float64, rows, columns int) []float64 { return gram(u, rows, columns, blas.Trans) }

// RowGram returns VVᵀ, those of the rows of v.
func RowGram(v []float64, rows, columns int) []float64 { return gram(v, rows, columns, blas.NoTrans) }

// gram returns UᵀU for blas.Trans, otherwise UUᵀ.
func gram(u []float64, rows, columns int, trans blas.Transpose) []float64 {
	if len(u) != rows*columns {
		panic("svd: the slice has not rows times columns numbers")
	}
	size, other := rows, blas.Trans
	if trans == blas.Trans {
		size, other = columns, blas.NoTrans
	}
	g := make([]float64, size*size)
	if len(u) > 0 {
		blas64.Gemm(trans, other, 1, general(u, rows, columns), general(u, rows, columns), 0, general(g, size, size))
	}
	return g
}

func general(data []float64, rows, columns int) blas64.General {
	return blas64.General{Rows: rows, Cols: columns, Stride: columns, Data: data}
}
