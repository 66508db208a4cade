package gokernel

import "math"

// rmsnorm computes y = x / sqrt(mean(x^2) + eps) * weight over the last axis,
// where x is the input hidden_states or, given three inputs, its sum with
// residual.
func rmsnorm(c call) error {
	x, weight, out, err := c.norm()
	if err != nil {
		return err
	}
	row := make([]float32, len(weight))
	for r := range x.Elements() / max(1, len(row)) {
		c.load(row, r)
		var sum float64
		for _, v := range row {
			sum += float64(float64(v) * float64(v))
		}
		inverse := c.inverse(sum, len(row))
		for i, v := range row {
			row[i] = float32(v*inverse) * weight[i]
		}
		out.SetFloats(row, r*len(row))
	}
	return nil
}

// rmsnormBlocked is rmsnorm with the rows on all cores and four sums a row. It
// may differ from rmsnorm in the last bit.
func rmsnormBlocked(c call) error {
	x, weight, out, err := c.norm()
	if err != nil {
		return err
	}
	n := len(weight)
	return parallel(x.Elements()/max(1, n), func(begin, end int) error {
		row := make([]float32, n)
		for r := begin; r < end; r++ {
			c.load(row, r)
			inverse := c.inverse(sumOfSquares(row), n)
			for i, w := range weight[:len(row)] {
				row[i] = float32(row[i]*inverse) * w
			}
			out.SetFloats(row, r*n)
		}
		return nil
	})
}

func sumOfSquares(x []float32) float64 {
	var a, b, c, d float64
	for ; len(x) >= 4; x = x[4:] {
		v0, v1, v2, v3 := float64(x[0]), float64(x[1]), float64(x[2]), float64(x[3])
		a, b, c, d = a+float64(v0*v0), b+float64(v1*v1), c+float64(v2*v2), d+float64(v3*v3)
	}
	for _, v := range x {
		a += float64(float64(v) * float64(v))
	}
	return a + b + (c + d)
}

func (c call) inverse(sum float64, n int) float32 {
	return float32(1 / math.Sqrt(sum/float64(n)+float64(c.eps)))
}

// load fetches row r of x, residual included.
func (c call) load(row []float32, r int) {
	c.in[0].Floats(row, r*len(row))
	if len(c.in) == 2 {
		return
	}
	var block [256]float32
	for i := 0; i < len(row); i += len(block) {
		part := row[i:min(i+len(block), len(row))]
		c.in[1].Floats(block[:len(part)], r*len(row)+i)
		for j, v := range block[:len(part)] {
			part[j] += v
		}
	}
}
