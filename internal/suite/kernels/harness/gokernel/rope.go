package gokernel

import (
	"fmt"
	"slices"

	"github.com/accelgate/accelgate/internal/tensor"
)

// rope rotates the first dimensions of each head of q and k, [tokens, heads,
// dim], by the angles of the token's position, whose cosines and sines are a row
// of cos_sin_cache [positions, rotated dimensions]. As in GPT-NeoX, dimension i
// goes with i + half of the rotated part. The rest is copied.
func rope(c call) error { return c.rotate(serial) }

// ropeBlocked is rope with the tokens on all cores. The result is that of rope
// to the bit.
func ropeBlocked(c call) error { return c.rotate(parallel) }

func (c call) rotate(each func(n int, work func(begin, end int) error) error) error {
	cache, positions := c.in[2], c.in[3]
	if len(cache.Shape) != 2 || len(positions.Shape) != 1 || positions.DType.IsFloat() || cache.Shape[1]%2 != 0 || !floats(cache) {
		return misfit("rope", c.in...)
	}
	at := whole(positions)
	for i, p := range at {
		if p < 0 || p >= int64(cache.Shape[0]) {
			return fmt.Errorf("token %d has the position %d of %d", i, p, cache.Shape[0])
		}
	}
	for i, x := range c.in[:2] {
		if len(x.Shape) != 3 || x.Shape[0] != len(at) || x.Shape[2] < cache.Shape[1] || !slices.Equal(x.Shape, c.out[i].Shape) ||
			!floats(x, c.out[i]) {
			return misfit("rope", x, c.out[i], cache)
		}
	}
	return each(len(at), func(begin, end int) error {
		angles := make([]float32, cache.Shape[1])
		for token := begin; token < end; token++ {
			cache.Floats(angles, int(at[token])*len(angles))
			rotateToken(c.in[0], c.out[0], angles, token)
			rotateToken(c.in[1], c.out[1], angles, token)
		}
		return nil
	})
}

// rotateToken rotates all heads of a token.
func rotateToken(x, out tensor.Tensor, angles []float32, token int) {
	heads, dim, half := x.Shape[1], x.Shape[2], len(angles)/2
	cos, sin := angles[:half], angles[half:]
	row := make([]float32, dim)
	for h := range heads {
		at := (token*heads + h) * dim
		x.Floats(row, at)
		for i := range half {
			a, b := row[i], row[half+i]
			row[i] = float32(a*cos[i]) - float32(b*sin[i])
			row[half+i] = float32(b*cos[i]) + float32(a*sin[i])
		}
		out.SetFloats(row, at)
	}
}
