package engine

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// BenchmarkGEMM compares the blocked kernels on one thread with gonum's on the
// matrices of the models: a prefill of 128 rows and a decode of one. It reports
// GFLOP/s of each, and our rate as a multiple of gonum's for float32 and
// float64. gonum may have the weights either way round and is judged by the
// faster. The three take turns, and the fastest round of each counts, so that
// the ratio holds on a busy machine.
func BenchmarkGEMM(b *testing.B) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // gonum spreads large products over goroutines
	for _, p := range presets {
		for _, shape := range []struct {
			name    string
			in, out int
		}{
			{"qkv", p.dim, p.queryWidth() + 2*p.kvWidth()},
			{"o", p.queryWidth(), p.dim},
			{"gate_up", p.dim, 2 * p.ffn},
			{"down", p.ffn, p.dim},
			{"logits", p.dim, vocabulary},
		} {
			for _, rows := range []int{chunk, 1} {
				b.Run(fmt.Sprintf("%s/%s/%dx%dx%d", p.name, shape.name, rows, shape.in, shape.out),
					func(b *testing.B) { compareGEMM(b, rows, shape.in, shape.out) })
			}
		}
	}
}

func compareGEMM(b *testing.B, m, k, n int) {
	x, w, y := normal(m*k), normal(k*n), make([]float32, m*n)
	x64, w64, y64 := doubles(x), doubles(w), make([]float64, m*n)
	ours := newBlocked(w, k, n, 1)
	var blas64 gonum.Implementation
	runs := []func(){
		func() { ours.mul(y, x) },
		func() { blas64.Sgemm(blas.NoTrans, blas.Trans, m, n, k, 1, x, k, w, k, 0, y, n) },
		func() { blas64.Sgemm(blas.NoTrans, blas.NoTrans, m, n, k, 1, x, k, w, n, 0, y, n) },
		func() { blas64.Dgemm(blas.NoTrans, blas.Trans, m, n, k, 1, x64, k, w64, k, 0, y64, n) },
		func() { blas64.Dgemm(blas.NoTrans, blas.NoTrans, m, n, k, 1, x64, k, w64, n, 0, y64, n) },
	}
	fastest := make([]time.Duration, len(runs))
	for i := range fastest {
		fastest[i] = math.MaxInt64
	}
	for b.Loop() {
		for i, run := range runs {
			start := time.Now()
			run()
			fastest[i] = min(fastest[i], time.Since(start))
		}
	}
	rate := func(d time.Duration) float64 { return 2 * float64(m) * float64(k) * float64(n) / float64(d) }
	own, single, double := rate(fastest[0]), rate(min(fastest[1], fastest[2])), rate(min(fastest[3], fastest[4]))
	b.ReportMetric(0, "ns/op") // of all five together; says nothing
	b.ReportMetric(own, "GFLOP/s")
	b.ReportMetric(single, "gonum-f32-GFLOP/s")
	b.ReportMetric(double, "gonum-f64-GFLOP/s")
	b.ReportMetric(own/single, "x-gonum-f32")
	b.ReportMetric(own/double, "x-gonum-f64")
}

// normal returns n numbers from a fixed normal distribution.
func normal(n int) []float32 {
	random := rand.New(rand.NewPCG(1, uint64(n)))
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(random.NormFloat64())
	}
	return x
}

func doubles(x []float32) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}
