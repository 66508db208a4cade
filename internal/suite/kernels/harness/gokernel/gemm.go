package gokernel

import "github.com/accelgate/accelgate/internal/tensor"

// gemm computes C = A B^T for A of shape [M, K] and B of [N, K], each element as
// a sum in float32 in the order of k.
func gemm(c call) error {
	p, err := c.product()
	if err != nil {
		return err
	}
	row, column := make([]float32, p.k), make([]float32, p.m)
	sums := make([]float32, p.m*p.n)
	for n := range p.n {
		p.b.Floats(row, n*p.k)
		p.column(column, row)
		for m, v := range column {
			sums[m*p.n+n] = v
		}
	}
	p.c.SetFloats(sums, 0)
	return nil
}

// product is a multiplication; a is all of A.
type product struct {
	m, n, k int
	a       []float32
	b, c    tensor.Tensor
}

// column multiplies all rows of A with one of B.
func (p product) column(out, b []float32) {
	for m := range out {
		out[m] = dot(p.a[m*p.k:][:p.k], b)
	}
}

func dot(a, b []float32) (sum float32) {
	b = b[:len(a)]
	for i, v := range a {
		sum += float32(v * b[i])
	}
	return sum
}

// columns is how many rows of B are decoded at a time: with them the rows of C
// are written in runs of a cache line.
const columns = 32

// gemmBlocked is gemm with the columns of C on all cores and 4 x 2 elements at a
// time, so that what was loaded serves several sums, and sums do not wait for
// each other. Each sum still runs in the order of k: the result is that of gemm
// to the bit.
func gemmBlocked(c call) error {
	p, err := c.product()
	if err != nil {
		return err
	}
	blocks := (p.n + columns - 1) / columns
	return parallel(blocks, func(begin, end int) error {
		b, sums := make([]float32, columns*p.k), make([]float32, p.m*columns)
		for block := begin; block < end; block++ {
			first := block * columns
			width := min(columns, p.n-first)
			p.b.Floats(b[:width*p.k], first*p.k)
			p.block(sums, b, width)
			for m := range p.m {
				p.c.SetFloats(sums[m*columns:][:width], m*p.n+first)
			}
		}
		return nil
	})
}

// block multiplies all rows of A with width rows of B.
func (p product) block(sums, b []float32, width int) {
	m := 0
	for ; m+4 <= p.m; m += 4 {
		n := 0
		for ; n+2 <= width; n += 2 {
			tile(sums[m*columns+n:], p.a[m*p.k:][:4*p.k], b[n*p.k:][:2*p.k])
		}
		for ; n < width; n++ {
			for i := range 4 {
				sums[(m+i)*columns+n] = dot(p.a[(m+i)*p.k:][:p.k], b[n*p.k:][:p.k])
			}
		}
	}
	for ; m < p.m; m++ {
		n := 0
		for ; n+4 <= width; n += 4 {
			dots(sums[m*columns+n:][:4], p.a[m*p.k:][:p.k], b[n*p.k:][:4*p.k])
		}
		for ; n < width; n++ {
			sums[m*columns+n] = dot(p.a[m*p.k:][:p.k], b[n*p.k:][:p.k])
		}
	}
}

// tile multiplies 4 rows of A with 2 of B.
func tile(out, a, b []float32) {
	k := len(b) / 2
	a0, a1, a2, a3 := a[:k], a[k:][:k], a[2*k:][:k], a[3*k:][:k]
	b0, b1 := b[:k], b[k:][:k]
	var s00, s01, s10, s11, s20, s21, s30, s31 float32
	for i, p := range b0 {
		q, v0, v1, v2, v3 := b1[i], a0[i], a1[i], a2[i], a3[i]
		s00, s01, s10, s11 = s00+float32(v0*p), s01+float32(v0*q), s10+float32(v1*p), s11+float32(v1*q)
		s20, s21, s30, s31 = s20+float32(v2*p), s21+float32(v2*q), s30+float32(v3*p), s31+float32(v3*q)
	}
	out[0], out[1] = s00, s01
	out[columns], out[columns+1] = s10, s11
	out[2*columns], out[2*columns+1] = s20, s21
	out[3*columns], out[3*columns+1] = s30, s31
}

// dots multiplies a row of A with 4 of B.
func dots(out, a, b []float32) {
	k := len(a)
	b0, b1, b2, b3 := b[:k], b[k:][:k], b[2*k:][:k], b[3*k:][:k]
	var s0, s1, s2, s3 float32
	for i, v := range a {
		s0, s1, s2, s3 = s0+float32(v*b0[i]), s1+float32(v*b1[i]), s2+float32(v*b2[i]), s3+float32(v*b3[i])
	}
	out[0], out[1], out[2], out[3] = s0, s1, s2, s3
}
