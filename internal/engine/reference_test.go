package engine

import (
	"fmt"
	"math"
	"testing"
)

// reference is the model written down once more: float64 throughout, package
// math for every function, no cache, no blocks, nothing shared with the code
// under test except the weights.
type reference struct {
	p preset
	w func(tensor string, n, fanIn int) []float64
}

func newReference(m *model) reference {
	return reference{m.preset, func(tensor string, n, fanIn int) []float64 {
		return doubles(m.draw(tensor, n, fanIn))
	}}
}

// logits returns the logits after every token.
func (r reference) logits(tokens []int) [][]float64 {
	stream := make([][]float64, len(tokens))
	embedding := r.w("embedding", 256*r.p.dim, 1)
	for i, token := range tokens {
		stream[i] = append([]float64{}, embedding[token*r.p.dim:][:r.p.dim]...)
	}
	for layer := range r.p.layers {
		r.attend(fmt.Sprintf("layer.%d.", layer), stream)
		for _, x := range stream {
			r.feedForward(fmt.Sprintf("layer.%d.", layer), x)
		}
	}
	logits := make([][]float64, len(tokens))
	for i, x := range stream {
		logits[i] = refMul(r.norm("norm", x), r.w("unembed", r.p.dim*256, r.p.dim), 256)
	}
	return logits
}

func (r reference) attend(prefix string, stream [][]float64) {
	p, width := r.p, r.p.headDim
	weights := r.w(prefix+"qkv", p.dim*(p.heads+2*p.kvHeads)*width, p.dim)
	out := r.w(prefix+"out", p.heads*width*p.dim, p.heads*width)
	var queries, keys, values [][]float64
	for i, x := range stream {
		qkv := refMul(r.norm(prefix+"attention_norm", x), weights, (p.heads+2*p.kvHeads)*width)
		k := p.heads * width
		v := k + p.kvHeads*width
		queries = append(queries, refRotate(qkv[:k], width, i))
		keys = append(keys, refRotate(qkv[k:v], width, i))
		values = append(values, qkv[v:])
		gathered := make([]float64, p.heads*width)
		for head := range p.heads {
			at := head * p.kvHeads / p.heads * width
			copy(gathered[head*width:], refAttend(queries[i][head*width:][:width], keys, values, at))
		}
		for j, v := range refMul(gathered, out, p.dim) {
			x[j] += v
		}
	}
}

func (r reference) feedForward(prefix string, x []float64) {
	p := r.p
	normed := r.norm(prefix+"feed_forward_norm", x)
	gateUp := refMul(normed, r.w(prefix+"gate_up", p.dim*2*p.ffn, p.dim), 2*p.ffn)
	for j, v := range refMul(refSwiGLU(gateUp), r.w(prefix+"down", p.ffn*p.dim, p.ffn), p.dim) {
		x[j] += v
	}
}

func (r reference) norm(tensor string, x []float64) []float64 {
	gain := r.w(tensor, r.p.dim, 100)
	for i := range gain {
		gain[i]++
	}
	return refNorm(x, gain)
}

func refMul(x, w []float64, out int) []float64 {
	y := make([]float64, out)
	for j := range y {
		for i, v := range x {
			y[j] += v * w[j*len(x)+i]
		}
	}
	return y
}

func refNorm(x, gain []float64) []float64 {
	var squares float64
	for _, v := range x {
		squares += v * v
	}
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = v / math.Sqrt(squares/float64(len(x))+1e-5) * gain[i]
	}
	return y
}

func refSwiGLU(x []float64) []float64 {
	y := make([]float64, len(x)/2)
	for i := range y {
		y[i] = x[i] / (1 + math.Exp(-x[i])) * x[len(y)+i]
	}
	return y
}

func refRotate(x []float64, width, position int) []float64 {
	y := make([]float64, len(x))
	for i := 0; i < len(x); i += 2 {
		angle := float64(position) * math.Pow(10000, -float64(i%width)/float64(width))
		sin, cos := math.Sincos(angle)
		y[i], y[i+1] = x[i]*cos-x[i+1]*sin, x[i]*sin+x[i+1]*cos
	}
	return y
}

func refAttend(query []float64, keys, values [][]float64, at int) []float64 {
	y, total := make([]float64, len(query)), 0.
	for j := range keys {
		var score float64
		for i, q := range query {
			score += q * keys[j][at+i] / math.Sqrt(float64(len(query)))
		}
		weight := math.Exp(score)
		total += weight
		for i := range y {
			y[i] += weight * values[j][at+i]
		}
	}
	for i := range y {
		y[i] /= total
	}
	return y
}

// close fails the test unless every element of got is within tolerance of
// want, relative to the largest magnitude in want.
func closeTo(t *testing.T, what string, got []float32, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	var largest float64
	for _, v := range want {
		largest = max(largest, math.Abs(v))
	}
	for i := range want {
		if off := math.Abs(float64(got[i]) - want[i]); !(off <= tolerance*largest) {
			t.Fatalf("%s: value %d is %v, want %v (off by %.1e of the largest, tolerance %.0e)",
				what, i, got[i], want[i], off/largest, tolerance)
		}
	}
}
