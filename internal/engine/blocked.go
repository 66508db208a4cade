package engine

import "sync"

// block is 16 neighbouring elements of a row, one cache line. Indexing an array
// with constants needs no bounds checks, which is why kernels see rows as
// blocks.
type block [16]float32

// blocked multiplies several rows and outputs at a time, so that an element
// once loaded serves several products and independent sums hide the latency of
// each other's additions. Each sum still runs over its inputs in order.
//
// Note: a tile of 4x2 sums and the elements it needs just fit the 15 registers
// that Go uses on amd64; 4x4 ran at half the speed. Packing tiles side by side,
// as larger libraries do, gained nothing over rows of blocks. The kernels are
// unrolled by hand because Go unrolls no loop, and their steps are not calls
// because inlined calls were scheduled at half the speed, too.
type blocked struct {
	weights []block // out rows of in/16 blocks
	in, out int
	team    team
	inputs  sync.Pool // of *[]block
}

func newBlocked(weights []float32, in, out int, t team) *blocked {
	m := &blocked{weights: make([]block, in*out/16), in: in, out: out, team: t}
	toBlocks(m.weights, weights)
	m.inputs.New = func() any { return new([]block) }
	return m
}

func toBlocks(b []block, x []float32) {
	for i := range b {
		copy(b[i][:], x[16*i:])
	}
}

func (m *blocked) mul(y, x []float32) {
	scratch := m.inputs.Get().(*[]block)
	defer m.inputs.Put(scratch)
	if n := len(x) / 16; cap(*scratch) < n {
		*scratch = make([]block, n)
	}
	blocks := (*scratch)[:len(x)/16]
	toBlocks(blocks, x)
	if m.team.alone(m.out/8, len(x)*m.out) {
		m.strips(y, blocks, 0, m.out/8)
		return
	}
	m.team.split(m.out/8, len(x)*m.out, func(_, lo, hi int) { m.strips(y, blocks, lo, hi) })
}

// strips computes outputs lo to hi-1, counted in eights, of every row.
func (m *blocked) strips(y []float32, x []block, lo, hi int) {
	for ; lo < hi; lo += strip {
		m.outputs(y, x, 8*lo, 8*min(lo+strip, hi))
	}
}

// strip is the number of outputs, in eights, whose weights stay in the nearest
// caches while all rows pass by.
const strip = 4

// outputs computes outputs lo to hi-1 of every row.
func (m *blocked) outputs(y []float32, x []block, lo, hi int) {
	n := m.in / 16
	for ; len(x) >= 4*n; x, y = x[4*n:], y[4*m.out:] {
		for j := lo; j < hi; j += 2 {
			mul4x2(y[j:], m.out, x[:4*n], m.weights[j*n:][:2*n])
		}
	}
	for ; len(x) > 0; x, y = x[n:], y[m.out:] {
		for j := lo; j < hi; j += 8 {
			mul1x8(y[j:j+8], x[:n], m.weights[j*n:][:8*n])
		}
	}
}

// mul4x2 sets 2 elements of each of 4 rows of y, stride apart, from 4 rows of x
// and 2 rows of w.
func mul4x2(y []float32, stride int, x, w []block) {
	n := len(w) / 2
	x0, x1, x2, x3 := x[:n], x[n:][:n], x[2*n:][:n], x[3*n:][:n]
	w0, w1 := w[:n], w[n:][:n]
	var s00, s01, s10, s11, s20, s21, s30, s31 float32
	for i := range x0 {
		a, b, c, d, p, q := &x0[i], &x1[i], &x2[i], &x3[i], &w0[i], &w1[i]
		s00, s01, s10, s11 = s00+float32(a[0]*p[0]), s01+float32(a[0]*q[0]), s10+float32(b[0]*p[0]), s11+float32(b[0]*q[0])
		s20, s21, s30, s31 = s20+float32(c[0]*p[0]), s21+float32(c[0]*q[0]), s30+float32(d[0]*p[0]), s31+float32(d[0]*q[0])
		s00, s01, s10, s11 = s00+float32(a[1]*p[1]), s01+float32(a[1]*q[1]), s10+float32(b[1]*p[1]), s11+float32(b[1]*q[1])
		s20, s21, s30, s31 = s20+float32(c[1]*p[1]), s21+float32(c[1]*q[1]), s30+float32(d[1]*p[1]), s31+float32(d[1]*q[1])
		s00, s01, s10, s11 = s00+float32(a[2]*p[2]), s01+float32(a[2]*q[2]), s10+float32(b[2]*p[2]), s11+float32(b[2]*q[2])
		s20, s21, s30, s31 = s20+float32(c[2]*p[2]), s21+float32(c[2]*q[2]), s30+float32(d[2]*p[2]), s31+float32(d[2]*q[2])
		s00, s01, s10, s11 = s00+float32(a[3]*p[3]), s01+float32(a[3]*q[3]), s10+float32(b[3]*p[3]), s11+float32(b[3]*q[3])
		s20, s21, s30, s31 = s20+float32(c[3]*p[3]), s21+float32(c[3]*q[3]), s30+float32(d[3]*p[3]), s31+float32(d[3]*q[3])
		s00, s01, s10, s11 = s00+float32(a[4]*p[4]), s01+float32(a[4]*q[4]), s10+float32(b[4]*p[4]), s11+float32(b[4]*q[4])
		s20, s21, s30, s31 = s20+float32(c[4]*p[4]), s21+float32(c[4]*q[4]), s30+float32(d[4]*p[4]), s31+float32(d[4]*q[4])
		s00, s01, s10, s11 = s00+float32(a[5]*p[5]), s01+float32(a[5]*q[5]), s10+float32(b[5]*p[5]), s11+float32(b[5]*q[5])
		s20, s21, s30, s31 = s20+float32(c[5]*p[5]), s21+float32(c[5]*q[5]), s30+float32(d[5]*p[5]), s31+float32(d[5]*q[5])
		s00, s01, s10, s11 = s00+float32(a[6]*p[6]), s01+float32(a[6]*q[6]), s10+float32(b[6]*p[6]), s11+float32(b[6]*q[6])
		s20, s21, s30, s31 = s20+float32(c[6]*p[6]), s21+float32(c[6]*q[6]), s30+float32(d[6]*p[6]), s31+float32(d[6]*q[6])
		s00, s01, s10, s11 = s00+float32(a[7]*p[7]), s01+float32(a[7]*q[7]), s10+float32(b[7]*p[7]), s11+float32(b[7]*q[7])
		s20, s21, s30, s31 = s20+float32(c[7]*p[7]), s21+float32(c[7]*q[7]), s30+float32(d[7]*p[7]), s31+float32(d[7]*q[7])
		s00, s01, s10, s11 = s00+float32(a[8]*p[8]), s01+float32(a[8]*q[8]), s10+float32(b[8]*p[8]), s11+float32(b[8]*q[8])
		s20, s21, s30, s31 = s20+float32(c[8]*p[8]), s21+float32(c[8]*q[8]), s30+float32(d[8]*p[8]), s31+float32(d[8]*q[8])
		s00, s01, s10, s11 = s00+float32(a[9]*p[9]), s01+float32(a[9]*q[9]), s10+float32(b[9]*p[9]), s11+float32(b[9]*q[9])
		s20, s21, s30, s31 = s20+float32(c[9]*p[9]), s21+float32(c[9]*q[9]), s30+float32(d[9]*p[9]), s31+float32(d[9]*q[9])
		s00, s01, s10, s11 = s00+float32(a[10]*p[10]), s01+float32(a[10]*q[10]), s10+float32(b[10]*p[10]), s11+float32(b[10]*q[10])
		s20, s21, s30, s31 = s20+float32(c[10]*p[10]), s21+float32(c[10]*q[10]), s30+float32(d[10]*p[10]), s31+float32(d[10]*q[10])
		s00, s01, s10, s11 = s00+float32(a[11]*p[11]), s01+float32(a[11]*q[11]), s10+float32(b[11]*p[11]), s11+float32(b[11]*q[11])
		s20, s21, s30, s31 = s20+float32(c[11]*p[11]), s21+float32(c[11]*q[11]), s30+float32(d[11]*p[11]), s31+float32(d[11]*q[11])
		s00, s01, s10, s11 = s00+float32(a[12]*p[12]), s01+float32(a[12]*q[12]), s10+float32(b[12]*p[12]), s11+float32(b[12]*q[12])
		s20, s21, s30, s31 = s20+float32(c[12]*p[12]), s21+float32(c[12]*q[12]), s30+float32(d[12]*p[12]), s31+float32(d[12]*q[12])
		s00, s01, s10, s11 = s00+float32(a[13]*p[13]), s01+float32(a[13]*q[13]), s10+float32(b[13]*p[13]), s11+float32(b[13]*q[13])
		s20, s21, s30, s31 = s20+float32(c[13]*p[13]), s21+float32(c[13]*q[13]), s30+float32(d[13]*p[13]), s31+float32(d[13]*q[13])
		s00, s01, s10, s11 = s00+float32(a[14]*p[14]), s01+float32(a[14]*q[14]), s10+float32(b[14]*p[14]), s11+float32(b[14]*q[14])
		s20, s21, s30, s31 = s20+float32(c[14]*p[14]), s21+float32(c[14]*q[14]), s30+float32(d[14]*p[14]), s31+float32(d[14]*q[14])
		s00, s01, s10, s11 = s00+float32(a[15]*p[15]), s01+float32(a[15]*q[15]), s10+float32(b[15]*p[15]), s11+float32(b[15]*q[15])
		s20, s21, s30, s31 = s20+float32(c[15]*p[15]), s21+float32(c[15]*q[15]), s30+float32(d[15]*p[15]), s31+float32(d[15]*q[15])
	}
	y[0], y[1] = s00, s01
	y[stride], y[stride+1] = s10, s11
	y[2*stride], y[2*stride+1] = s20, s21
	y[3*stride], y[3*stride+1] = s30, s31
}

// mul1x8 sets the 8 elements of y from one row of x and 8 rows of w.
func mul1x8(y []float32, x, w []block) {
	n := len(x)
	w0, w1, w2, w3 := w[:n], w[n:][:n], w[2*n:][:n], w[3*n:][:n]
	w4, w5, w6, w7 := w[4*n:][:n], w[5*n:][:n], w[6*n:][:n], w[7*n:][:n]
	var s0, s1, s2, s3, s4, s5, s6, s7 float32
	for i := range x {
		v, a, b, c, d := &x[i], &w0[i], &w1[i], &w2[i], &w3[i]
		e, f, g, h := &w4[i], &w5[i], &w6[i], &w7[i]
		s0, s1, s2, s3 = s0+float32(v[0]*a[0]), s1+float32(v[0]*b[0]), s2+float32(v[0]*c[0]), s3+float32(v[0]*d[0])
		s4, s5, s6, s7 = s4+float32(v[0]*e[0]), s5+float32(v[0]*f[0]), s6+float32(v[0]*g[0]), s7+float32(v[0]*h[0])
		s0, s1, s2, s3 = s0+float32(v[1]*a[1]), s1+float32(v[1]*b[1]), s2+float32(v[1]*c[1]), s3+float32(v[1]*d[1])
		s4, s5, s6, s7 = s4+float32(v[1]*e[1]), s5+float32(v[1]*f[1]), s6+float32(v[1]*g[1]), s7+float32(v[1]*h[1])
		s0, s1, s2, s3 = s0+float32(v[2]*a[2]), s1+float32(v[2]*b[2]), s2+float32(v[2]*c[2]), s3+float32(v[2]*d[2])
		s4, s5, s6, s7 = s4+float32(v[2]*e[2]), s5+float32(v[2]*f[2]), s6+float32(v[2]*g[2]), s7+float32(v[2]*h[2])
		s0, s1, s2, s3 = s0+float32(v[3]*a[3]), s1+float32(v[3]*b[3]), s2+float32(v[3]*c[3]), s3+float32(v[3]*d[3])
		s4, s5, s6, s7 = s4+float32(v[3]*e[3]), s5+float32(v[3]*f[3]), s6+float32(v[3]*g[3]), s7+float32(v[3]*h[3])
		s0, s1, s2, s3 = s0+float32(v[4]*a[4]), s1+float32(v[4]*b[4]), s2+float32(v[4]*c[4]), s3+float32(v[4]*d[4])
		s4, s5, s6, s7 = s4+float32(v[4]*e[4]), s5+float32(v[4]*f[4]), s6+float32(v[4]*g[4]), s7+float32(v[4]*h[4])
		s0, s1, s2, s3 = s0+float32(v[5]*a[5]), s1+float32(v[5]*b[5]), s2+float32(v[5]*c[5]), s3+float32(v[5]*d[5])
		s4, s5, s6, s7 = s4+float32(v[5]*e[5]), s5+float32(v[5]*f[5]), s6+float32(v[5]*g[5]), s7+float32(v[5]*h[5])
		s0, s1, s2, s3 = s0+float32(v[6]*a[6]), s1+float32(v[6]*b[6]), s2+float32(v[6]*c[6]), s3+float32(v[6]*d[6])
		s4, s5, s6, s7 = s4+float32(v[6]*e[6]), s5+float32(v[6]*f[6]), s6+float32(v[6]*g[6]), s7+float32(v[6]*h[6])
		s0, s1, s2, s3 = s0+float32(v[7]*a[7]), s1+float32(v[7]*b[7]), s2+float32(v[7]*c[7]), s3+float32(v[7]*d[7])
		s4, s5, s6, s7 = s4+float32(v[7]*e[7]), s5+float32(v[7]*f[7]), s6+float32(v[7]*g[7]), s7+float32(v[7]*h[7])
		s0, s1, s2, s3 = s0+float32(v[8]*a[8]), s1+float32(v[8]*b[8]), s2+float32(v[8]*c[8]), s3+float32(v[8]*d[8])
		s4, s5, s6, s7 = s4+float32(v[8]*e[8]), s5+float32(v[8]*f[8]), s6+float32(v[8]*g[8]), s7+float32(v[8]*h[8])
		s0, s1, s2, s3 = s0+float32(v[9]*a[9]), s1+float32(v[9]*b[9]), s2+float32(v[9]*c[9]), s3+float32(v[9]*d[9])
		s4, s5, s6, s7 = s4+float32(v[9]*e[9]), s5+float32(v[9]*f[9]), s6+float32(v[9]*g[9]), s7+float32(v[9]*h[9])
		s0, s1, s2, s3 = s0+float32(v[10]*a[10]), s1+float32(v[10]*b[10]), s2+float32(v[10]*c[10]), s3+float32(v[10]*d[10])
		s4, s5, s6, s7 = s4+float32(v[10]*e[10]), s5+float32(v[10]*f[10]), s6+float32(v[10]*g[10]), s7+float32(v[10]*h[10])
		s0, s1, s2, s3 = s0+float32(v[11]*a[11]), s1+float32(v[11]*b[11]), s2+float32(v[11]*c[11]), s3+float32(v[11]*d[11])
		s4, s5, s6, s7 = s4+float32(v[11]*e[11]), s5+float32(v[11]*f[11]), s6+float32(v[11]*g[11]), s7+float32(v[11]*h[11])
		s0, s1, s2, s3 = s0+float32(v[12]*a[12]), s1+float32(v[12]*b[12]), s2+float32(v[12]*c[12]), s3+float32(v[12]*d[12])
		s4, s5, s6, s7 = s4+float32(v[12]*e[12]), s5+float32(v[12]*f[12]), s6+float32(v[12]*g[12]), s7+float32(v[12]*h[12])
		s0, s1, s2, s3 = s0+float32(v[13]*a[13]), s1+float32(v[13]*b[13]), s2+float32(v[13]*c[13]), s3+float32(v[13]*d[13])
		s4, s5, s6, s7 = s4+float32(v[13]*e[13]), s5+float32(v[13]*f[13]), s6+float32(v[13]*g[13]), s7+float32(v[13]*h[13])
		s0, s1, s2, s3 = s0+float32(v[14]*a[14]), s1+float32(v[14]*b[14]), s2+float32(v[14]*c[14]), s3+float32(v[14]*d[14])
		s4, s5, s6, s7 = s4+float32(v[14]*e[14]), s5+float32(v[14]*f[14]), s6+float32(v[14]*g[14]), s7+float32(v[14]*h[14])
		s0, s1, s2, s3 = s0+float32(v[15]*a[15]), s1+float32(v[15]*b[15]), s2+float32(v[15]*c[15]), s3+float32(v[15]*d[15])
		s4, s5, s6, s7 = s4+float32(v[15]*e[15]), s5+float32(v[15]*f[15]), s6+float32(v[15]*g[15]), s7+float32(v[15]*h[15])
	}
	y[0], y[1], y[2], y[3], y[4], y[5], y[6], y[7] = s0, s1, s2, s3, s4, s5, s6, s7
}
