package detect

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSignTestIsExact: p is the share of all swaps, counted one by one.
func TestSignTestIsExact(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 8))
	for range 100 {
		n := 1 + rng.IntN(11)
		base, head := make([]float64, n), make([]float64, n)
		for i := range n {
			base[i], head[i] = rng.NormFloat64(), 0.5+rng.NormFloat64()
			if rng.IntN(3) == 0 { // ties
				base[i], head[i] = math.Round(base[i]), math.Round(head[i])
			}
		}
		swapped := func(mask uint) (b, h []float64) {
			b, h = slices.Clone(base), slices.Clone(head)
			for i := range n {
				if mask>>i&1 == 1 {
					b[i], h[i] = h[i], b[i]
				}
			}
			return b, h
		}
		statistic := func(mask uint) (sum float64) {
			b, h := swapped(mask)
			limit := clipLevel(b, h)
			for i := range n {
				sum += min(h[i], limit) - min(b[i], limit)
			}
			return sum
		}
		count, all := 0, uint(1)<<n
		for mask := range all {
			if statistic(mask) >= statistic(0)-1e-9 {
				count++
			}
		}
		if p := signTest(base, head); math.Abs(p-float64(count)/float64(all)) > 1e-12 {
			t.Fatalf("p %v, want %d of %d", p, count, all)
		}
	}
}

// TestSignTestHoldsItsLevel: over all swaps of any pairs, p is at most alpha in at
// most alpha of them, which is all that a promise on false alarms needs.
func TestSignTestHoldsItsLevel(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(9, 10))
	for range 20 {
		n := 6 + rng.IntN(5)
		base, head := make([]float64, n), make([]float64, n)
		for i := range n {
			base[i], head[i] = math.Exp(2*rng.NormFloat64()), math.Exp(2*rng.NormFloat64())
		}
		var ps []float64
		for mask := range uint(1) << n {
			b, h := slices.Clone(base), slices.Clone(head)
			for m := mask; m > 0; m &= m - 1 {
				i := bits.TrailingZeros(m)
				b[i], h[i] = h[i], b[i]
			}
			ps = append(ps, signTest(b, h))
		}
		slices.Sort(ps)
		for i, p := range ps {
			if share := float64(i+1) / float64(len(ps)); (i == len(ps)-1 || ps[i+1] > p) && share > p+1e-9 {
				t.Fatalf("p is at most %v in %v of all swaps", p, share)
			}
		}
	}
}

// TestSignTestMonotone: a head that is slower by a factor has no larger p.
func TestSignTestMonotone(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(11, 12))
	for range 200 {
		base, head := make([]float64, 20), make([]float64, 20)
		for i := range head {
			base[i], head[i] = 0.1*rng.NormFloat64(), 0.1*rng.NormFloat64()
		}
		same := make([]float64, 20)
		if p := signTest(same, same); p != 1 {
			t.Fatalf("p %v where nothing differs", p)
		}
		all := slices.Clone(head)
		for i := range all {
			all[i] += 1
		}
		if p := signTest(base, all); p != math.Pow(2, -20) {
			t.Fatalf("p %v where all pairs are slower", p)
		}
	}
}
