package detect_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accelgate/accelgate/internal/detect"
)

// many returns cells with 30 runs of history and n of the head.
func many(count, n int) []detect.Cell {
	rng := rand.New(rand.NewPCG(7, 7))
	cells := make([]detect.Cell, count)
	for i := range cells {
		noise := 0.001 * math.Exp(3*rng.Float64())
		draw := func(n int) []float64 {
			v := make([]float64, n)
			for i := range v {
				v[i] = 1000 * math.Exp(noise*rng.NormFloat64())
			}
			return v
		}
		cells[i] = detect.Cell{Base: draw(30), Head: draw(n)}
	}
	return cells
}

func BenchmarkJudge(b *testing.B) {
	cells := many(1000, 5)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		c := cells[i%len(cells)]
		detect.Judge(c.Base, c.Head, c.Options)
	}
}

// BenchmarkReport judges 100,000 cells with 30 runs of history each, which is
// worth 10 s and 1 GB on two cores.
func BenchmarkReport(b *testing.B) {
	for _, n := range []int{1, 5} {
		b.Run(map[int]string{1: "n=1", 5: "n=5"}[n], func(b *testing.B) {
			cells := many(100_000, n)
			b.ReportAllocs()
			for b.Loop() {
				detect.JudgeReport(cells, 0)
			}
		})
	}
}
