package gate_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
)

// BenchmarkCompare compares 5,000 cells by each kind of evidence.
func BenchmarkCompare(b *testing.B) {
	for _, c := range []struct {
		name           string
		earlier, pairs int
	}{{"threshold", 0, 0}, {"history", 8, 0}, {"pairs", 0, 10}} {
		ref, got := manyCells(rand.New(rand.NewPCG(20, 5)), 5000, c.earlier, c.pairs)
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if c := gate.Compare("b", ref, got, gate.DefaultPolicy()); len(c.Verdicts) < 5000 {
					b.Fatalf("%d verdicts", len(c.Verdicts))
				}
			}
		})
	}
}

// manyCells makes both sides of unchanged cells, with earlier runs or with pairs.
func manyCells(r *rand.Rand, cells, earlier, pairs int) (ref, got *bench.Run) {
	ref, got = run(), run()
	for i := range cells {
		id := fmt.Sprint("cell-", i)
		old := recordedOnce(id, noisy(r, 100, 0.02, 5))
		for range earlier {
			old.Samples[0].History = append(old.Samples[0].History, noisy(r, 100, 0.02, 3))
		}
		var base []float64
		if pairs > 0 {
			base = noisy(r, 100, 0.02, pairs)
		}
		ref.Results = append(ref.Results, old)
		got.Results = append(got.Results, inTurns(id, noisy(r, 100, 0.02, max(3, pairs)), base))
	}
	return ref, got
}
