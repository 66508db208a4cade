package evaluator_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/kernels/evaluator"
	"github.com/accelgate/accelgate/internal/tensor"
)

// random returns a tensor of 8.4 M normal numbers and one whose elements are
// off by about a unit in the last place.
func random(d tensor.DType) (y, x tensor.Tensor) {
	const n = 1 << 23
	r := rand.New(rand.NewPCG(1, 2))
	y = tensor.Tensor{DType: d, Shape: []int{n}, Data: make([]byte, d.Size(n))}
	x = tensor.Tensor{DType: d, Shape: []int{n}, Data: make([]byte, d.Size(n))}
	var a, b [1024]float32
	for i := 0; i < n; i += len(a) {
		for j := range a {
			a[j] = float32(r.NormFloat64())
			b[j] = a[j] * (1 + float32(r.NormFloat64())/256)
		}
		y.SetFloats(a[:], i)
		x.SetFloats(b[:], i)
	}
	return y, x
}

var sink uint64

// BenchmarkElementwise compares 8.4 M elements. "floor" only reads both.
func BenchmarkElementwise(b *testing.B) {
	for _, d := range []tensor.DType{tensor.BF16, tensor.Float32} {
		y, x := random(d)
		b.Run(fmt.Sprint(d, "/floor"), func(b *testing.B) {
			for b.Loop() {
				for i := 0; i < len(y.Data); i += 8 {
					sink ^= binary.LittleEndian.Uint64(y.Data[i:]) ^ binary.LittleEndian.Uint64(x.Data[i:])
				}
			}
		})
		for _, c := range []struct {
			name      string
			mode      evaluator.Mode
			candidate tensor.Tensor
		}{{"strict", evaluator.Strict, x}, {"fib", evaluator.Fib, x}, {"equal", evaluator.Strict, y}} {
			b.Run(fmt.Sprint(d, "/", c.name), func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(len(y.Data) + len(x.Data)))
				for b.Loop() {
					reference := []evaluator.Output{{Name: "y", Tensor: y}}
					candidate := []evaluator.Output{{Name: "y", Tensor: c.candidate}}
					p := evaluator.Params{Mode: c.mode, Rtol: 0.1, Reduction: 4096}
					if r, err := evaluator.Elementwise(reference, candidate, p); err != nil || r.Outputs[0].MatchedRatio < 0.5 {
						b.Fatalf("%+v %v", r, err)
					}
				}
			})
		}
	}
}
