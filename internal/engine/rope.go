package engine

import "math"

// lnRopeBase is the natural logarithm of 10000, the base of the angles in J. Su
// et al., "RoFormer", 2021.
const lnRopeBase = 4 * math.Ln10

// rope holds the rotations of rotary position embedding: for each position and
// each pair of a head's elements a cosine and a sine.
type rope struct {
	headDim int
	turns   []float32
}

// newRope computes the rotations of positions 0 to n-1.
func newRope(headDim, n int) rope {
	r := rope{headDim: headDim, turns: make([]float32, n*headDim)}
	for pair := 0; pair < headDim; pair += 2 {
		angle := exp(float64(-lnRopeBase * float64(pair) / float64(headDim)))
		stepSin, stepCos := sincos(angle)
		sin, cos := 0., 1.
		for p := range n {
			at := p*headDim + pair
			r.turns[at], r.turns[at+1] = float32(cos), float32(sin)
			cos, sin = float64(cos*stepCos)-float64(sin*stepSin), float64(sin*stepCos)+float64(cos*stepSin)
		}
	}
	return r
}

// rotate turns every pair of every head in x by the angle of the position.
func (r rope) rotate(x []float32, position int) {
	turns := r.turns[position*r.headDim:][:r.headDim]
	for ; len(x) > 0; x = x[r.headDim:] {
		for i := 0; i < r.headDim; i += 2 {
			a, b, cos, sin := x[i], x[i+1], turns[i], turns[i+1]
			x[i] = float32(a*cos) - float32(b*sin)
			x[i+1] = float32(a*sin) + float32(b*cos)
		}
	}
}
