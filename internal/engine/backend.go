package engine

const (
	backendScalar   = "cpu"
	backendParallel = "cpu_parallel"
)

// backends lists the backends, the default first. Backend cpu is plain loops
// on one thread: the reference to read and to compare with. Backend
// cpu_parallel blocks matrix products for the registers and spreads the work
// over goroutines. Their results are the same, bit for bit.
func backends() []string { return []string{backendScalar, backendParallel} }

// matrix is a linear map with the weights laid out as its backend likes them.
type matrix interface {
	// mul sets each row of y to the image of the same row of x. The rows
	// follow each other without gaps; their number is that of x.
	mul(y, x []float32)
}

// scalar keeps the weights of each output together.
type scalar struct {
	weights []float32
	in, out int
}

func newScalar(weights []float32, in, out int) scalar {
	return scalar{weights: weights, in: in, out: out}
}

func (m scalar) mul(y, x []float32) {
	for len(x) > 0 {
		for j := range m.out {
			y[j] = dot(x[:m.in], m.weights[j*m.in:])
		}
		x, y = x[m.in:], y[m.out:]
	}
}

// dot returns the dot product of x and the first len(x) elements of w, summed
// in order.
func dot(x, w []float32) float32 {
	w = w[:len(x)]
	var sum float32
	for i, v := range x {
		sum += float32(v * w[i])
	}
	return sum
}
