package packing_test

import (
	"fmt"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/analysis/packing"
)

// BenchmarkPack packs realistic lengths for all of 8 ranks, validation
// included. The plain version of LPT, which computes everything once per rank,
// is beside it.
func BenchmarkPack(b *testing.B) {
	for _, n := range []int{1000, 1_000_000} {
		p := packing.Problem{Lengths: packing.Realistic(n, 42), Max: 130_000, Ranks: 8}
		for _, a := range packing.Algorithms() {
			b.Run(fmt.Sprintf("%s/%d", a.Name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := a.Pack(p); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		b.Run(fmt.Sprintf("lpt-per-rank/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for rank := range p.Ranks {
					oracleLPT(p.Lengths, p.Max, p.Ranks, rank)
				}
			}
		})
	}
}

func BenchmarkMeasure(b *testing.B) {
	p := packing.Problem{Lengths: packing.Realistic(1_000_000, 42), Max: 130_000, Ranks: 8}
	k := pack(b, "lpt", p)
	for b.Loop() {
		packing.Measure(p, k)
	}
}

func BenchmarkSpread(b *testing.B) {
	costs := packing.Realistic(100_000, 42)
	for b.Loop() {
		packing.Spread(costs, 1000)
	}
}
