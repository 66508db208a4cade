package gokernel

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/accelgate/accelgate/internal/tensor"
)

// The sampling kernels draw one index per row of probs [batch, vocabulary], after
// they have left out all but the most probable. Top-k keeps k, of equal ones
// those of lower index; a k outside of 1 to vocabulary-1 leaves out nothing.
// Top-p keeps the most probable until their sum is above p, the one that makes
// it so included; p of 1 and more leaves out nothing, p of 0 and less all but
// the first. Top-k-top-p does one after the other, the sum being relative to
// what top-k kept.

func topK(c call) error            { return c.sample(true, false, serial, sorted) }
func topKBlocked(c call) error     { return c.sample(true, false, parallel, candidates) }
func topP(c call) error            { return c.sample(false, true, serial, sorted) }
func topPBlocked(c call) error     { return c.sample(false, true, parallel, candidates) }
func topKTopP(c call) error        { return c.sample(true, true, serial, sorted) }
func topKTopPBlocked(c call) error { return c.sample(true, true, parallel, candidates) }

// candidate is an index and its probability.
type candidate struct {
	index int
	p     float32
}

// compare orders the most probable first, and equal ones by index.
func (a candidate) compare(b candidate) int {
	return cmp.Or(cmp.Compare(b.p, a.p), cmp.Compare(a.index, b.index))
}

// sample draws all rows. Order returns, sorted, at least the k most probable and
// at least so many that their sum is above p.
func (c call) sample(hasK, hasP bool, each func(n int, work func(begin, end int) error) error,
	order func(row []float32, k int, p float64) []candidate) error {
	probs, out := c.in[0], c.out[0]
	if len(probs.Shape) != 2 || probs.Shape[1] < 1 || probs.DType != tensor.Float32 || !isVector(out, probs.Shape[0]) ||
		out.DType.IsFloat() {
		return misfit("sampling", probs, out)
	}
	ks, ps, err := c.limits(hasK, hasP)
	if err != nil {
		return err
	}
	return each(probs.Shape[0], func(begin, end int) error {
		row := make([]float32, probs.Shape[1])
		for r := begin; r < end; r++ {
			probs.Floats(row, r*len(row))
			if err := checkRow(row, r); err != nil {
				return err
			}
			u := rand.New(rand.NewPCG(c.draw, uint64(r))).Float64()
			out.SetInts([]int64{int64(pick(row, int(ks[r]), float64(ps[r]), u, order))}, r)
		}
		return nil
	})
}

// limits returns k and p of each row, where an input is missing ones that leave
// out nothing.
func (c call) limits(hasK, hasP bool) (ks []int64, ps []float32, err error) {
	batch := c.in[0].Shape[0]
	ks, ps = make([]int64, batch), make([]float32, batch)
	for i := range ps {
		ps[i] = 1
	}
	next := c.in[1:]
	if hasK {
		if !isVector(next[0], batch) || next[0].DType.IsFloat() {
			return nil, nil, misfit("sampling with top_k", c.in...)
		}
		ks, next = whole(next[0]), next[1:]
	}
	if hasP {
		if !isVector(next[0], batch) || !floats(next[0]) {
			return nil, nil, misfit("sampling with top_p", c.in...)
		}
		ps = all(next[0])
	}
	return ks, ps, nil
}

func checkRow(row []float32, r int) error {
	var sum float64
	for i, p := range row {
		if !(p >= 0) {
			return fmt.Errorf("row %d of the probabilities has %v at %d", r, p, i)
		}
		sum += float64(p)
	}
	if sum == 0 || math.IsInf(sum, 1) {
		return errors.New("a row of the probabilities is zero or infinite")
	}
	return nil
}

// pick draws from a row by u, which is uniform from 0 to 1.
func pick(row []float32, k int, p, u float64, order func([]float32, int, float64) []candidate) int {
	if k <= 0 || k >= len(row) {
		k = len(row)
	}
	if k == len(row) && p >= 1 {
		return draw(slices.Collect(everything(row)), u)
	}
	kept := order(row, k, p)
	kept = nucleus(kept[:min(k, len(kept))], total(row, kept, k), p)
	slices.SortFunc(kept, func(a, b candidate) int { return cmp.Compare(a.index, b.index) })
	return draw(kept, u)
}

// total is the sum that p is relative to: of those that top-k keeps or, where that is
// all, one.
func total(row []float32, kept []candidate, k int) (sum float64) {
	if k == len(row) {
		return 1
	}
	for _, c := range kept[:min(k, len(kept))] {
		sum += float64(c.p)
	}
	return sum
}

// nucleus returns the first of sorted candidates whose sum is above p of total.
func nucleus(sorted []candidate, total, p float64) []candidate {
	if p >= 1 {
		return sorted
	}
	var sum float64
	for i, c := range sorted {
		if sum += float64(c.p) / total; sum > p {
			return sorted[:i+1]
		}
	}
	return sorted
}

func everything(row []float32) func(yield func(candidate) bool) {
	return func(yield func(candidate) bool) {
		for i, p := range row {
			if !yield(candidate{i, p}) {
				return
			}
		}
	}
}

// draw returns the index of the first candidate with which the sum is above u of
// the whole sum. One without probability is never drawn.
func draw(kept []candidate, u float64) (index int) {
	var whole, sum float64
	for _, c := range kept {
		whole += float64(c.p)
	}
	for _, c := range kept {
		if c.p == 0 {
			continue
		}
		index = c.index
		if sum += float64(c.p); sum > u*whole {
			break
		}
	}
	return index
}

// sorted sorts the whole row.
func sorted(row []float32, _ int, _ float64) []candidate {
	all := slices.Collect(everything(row))
	slices.SortFunc(all, candidate.compare)
	return all
}

const (
	buckets     = 1 << 12
	bucketShift = 31 - 12 // the order of positive floats is that of their bits
	slack       = 1e-6    // sums of a bucket are rounded otherwise than the sum in order
)

// candidates sorts only what may be kept: it sums the row by the leading bits of
// its numbers and leaves out the buckets below the one in which both k and p
// are reached.
func candidates(row []float32, k int, p float64) []candidate {
	var count [buckets]int
	var mass [buckets]float64
	for _, v := range row {
		b := bucket(v)
		count[b]++
		mass[b] += float64(v)
	}
	lowest, n, sum := buckets, 0, 0.
	enough := func() bool {
		if k < len(row) { // p is relative to the sum of all k
			return n >= k
		}
		return n > 0 && sum > p+slack
	}
	for lowest > 0 && !enough() {
		lowest--
		n += count[lowest]
		sum += mass[lowest]
	}
	kept := make([]candidate, 0, n)
	for i, v := range row {
		if bucket(v) >= lowest {
			kept = append(kept, candidate{i, v})
		}
	}
	slices.SortFunc(kept, candidate.compare)
	return kept
}

// bucket is below buckets because no probability has a sign; minus zero counts
// as zero.
func bucket(v float32) int { return int(math.Float32bits(v) & 0x7fffffff >> bucketShift) }
