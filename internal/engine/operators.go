package engine

import "math"

const normEpsilon = 1e-5

// rmsNorm sets y to x divided by its root mean square, times the gain.
func rmsNorm(y, x, gain []float32) {
	var sum float32
	for _, v := range x {
		sum += float32(v * v)
	}
	mean := float64(sum)/float64(len(x)) + normEpsilon
	scale := float32(1 / math.Sqrt(mean))
	for i, v := range x {
		y[i] = float32(v * scale * gain[i])
	}
}

// swiGLU sets y to silu(gate) times up, where x holds gate and then up.
func swiGLU(y, x []float32) {
	gate, up := x[:len(y)], x[len(y):]
	for i, g := range gate {
		silu := float64(g) / (1 + exp(-float64(g)))
		y[i] = float32(float32(silu) * up[i])
	}
}

// add adds x to y.
func add(y, x []float32) {
	for i, v := range x {
		y[i] += v
	}
}

// softmax turns scores into weights that sum to 1.
func softmax(scores []float32) {
	largest := scores[0]
	for _, s := range scores {
		largest = max(largest, s)
	}
	var sum float32
	for i, s := range scores {
		scores[i] = float32(exp(float64(s - largest)))
		sum += scores[i]
	}
	for i := range scores {
		scores[i] /= sum
	}
}

// attend sets y to the average of the values, weighted by how the keys match
// the query. There are len(scores) keys and values of len(query) elements, and
// their rows are stride apart.
func attend(y, query, keys, values []float32, stride int, scores []float32) {
	scale := float32(1 / math.Sqrt(float64(len(query))))
	for i := range scores {
		scores[i] = float32(dot(query, keys[i*stride:]) * scale)
	}
	softmax(scores)
	clear(y)
	for i, weight := range scores {
		value := values[i*stride:][:len(y)]
		for j, v := range value {
			y[j] += float32(weight * v)
		}
	}
}
