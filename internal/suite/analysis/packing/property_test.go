package packing_test

import (
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/analysis/packing"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// random returns a problem of up to n lengths, some of which are equal, half,
// whole, over the maximum, or 0.
func random(r *rand.Rand, n int) packing.Problem {
	p := packing.Problem{Max: 1 + r.Int64N(100), Ranks: 1 + r.IntN(9)}
	p.Policy = append(packing.Policies(), packing.Legacy, "")[r.IntN(5)]
	if r.IntN(3) == 0 {
		p.Cost = packing.Cost{A: r.Float64(), B: r.Float64()}
	}
	for range r.IntN(n + 1) {
		length := 1 + r.Int64N(p.Max)
		switch r.IntN(8) {
		case 0:
			length = max(p.Max/2, 1)
		case 1:
			length = p.Max/2 + 1
		case 2:
			length = 1 + length/10
		case 3:
			if p.Policy != packing.Error {
				length = []int64{0, p.Max, p.Max + 1, 3 * p.Max}[r.IntN(4)]
			}
		}
		p.Lengths = append(p.Lengths, min(length, 3*p.Max))
	}
	if p.Policy == packing.Error {
		for i := range p.Lengths {
			p.Lengths[i] = min(p.Lengths[i], p.Max)
		}
	}
	return p
}

// TestPackersKeepTheRules checks, without Validate's help, what a packing is.
func TestPackersKeepTheRules(t *testing.T) {
	if testtier.Race {
		t.Skip("one goroutine; 20 times slower with the race detector")
	}
	t.Parallel()
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 1))
		p := random(r, 120)
		before := slices.Clone(p.Lengths)
		var bestRows int
		var bestSum float64
		for _, a := range slices.Backward(packing.Algorithms()) {
			k := pack(t, a.Name, p)
			checkRules(t, seed, a.Name, p, k)
			m := packing.Measure(p, k)
			if m.RowsOverBound < 0 {
				t.Errorf("seed %d: %s has %d rows, fewer than the bound %d", seed, a.Name, m.TotalMinibatches, m.LowerBoundRows)
			}
			if a.Name == "best" {
				bestRows, bestSum = m.TotalMinibatches, m.SumRowMaxCost
			}
			if p.Policy == packing.Legacy && a.Name == "greedy" {
				continue // others keep to rows of their own
			}
			if m.TotalMinibatches < bestRows || m.TotalMinibatches == bestRows && m.SumRowMaxCost < bestSum*(1-1e-12) {
				t.Errorf("seed %d: %s has %d rows and maxima of %v, best %d and %v", seed, a.Name, m.TotalMinibatches, m.SumRowMaxCost, bestRows, bestSum)
			}
		}
		if !slices.Equal(before, p.Lengths) {
			t.Fatalf("seed %d: lengths were changed", seed)
		}
	}
}

func checkRules(t *testing.T, seed uint64, name string, p packing.Problem, k packing.Packing) {
	t.Helper()
	at := map[int]int{} // how often each index occurs
	for i, row := range k.Rows {
		if len(row) != p.Ranks {
			t.Fatalf("seed %d: %s: row %d has %d cells", seed, name, i, len(row))
		}
		for _, cell := range row {
			var load int64
			for j, index := range cell {
				at[index]++
				load += p.Lengths[index]
				if j > 0 && p.Lengths[cell[j-1]] < p.Lengths[index] {
					t.Errorf("seed %d: %s: cell %v is not in order", seed, name, cell)
				}
			}
			if load > p.Max && (p.Lengths[cell[0]] != load || p.Policy != packing.OwnRow && p.Policy != packing.Legacy) {
				t.Errorf("seed %d: %s: a cell of %d tokens", seed, name, load)
			}
		}
	}
	for _, index := range k.LeftOut {
		at[index]++
		if length := p.Lengths[index]; length > 0 && length <= p.Max || p.Policy == packing.OwnRow || p.Policy == packing.Error {
			t.Errorf("seed %d: %s: length %d is left out", seed, name, length)
		}
	}
	for index := range p.Lengths {
		if at[index] != 1 {
			t.Errorf("seed %d: %s: index %d occurs %d times", seed, name, index, at[index])
		}
	}
}

// TestLegacy compares loads with plain versions of the original algorithms.
func TestLegacy(t *testing.T) {
	t.Parallel()
	for seed := range uint64(500) {
		p := random(rand.New(rand.NewPCG(seed, 2)), 150)
		p.Policy, p.Cost = packing.Legacy, packing.Cost{}
		got := pack(t, "greedy", p).Loads(p.Lengths)
		if want := oracleGreedy(p.Lengths, p.Max, p.Ranks); len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: greedy %v, want %v", seed, got, want)
		}
		k := pack(t, "lpt", p)
		loads := k.Loads(p.Lengths)
		for rank := range p.Ranks {
			want := oracleLPT(p.Lengths, p.Max, p.Ranks, rank)
			if len(want) != len(k.Rows) {
				t.Fatalf("seed %d: lpt has %d rows, want %d", seed, len(k.Rows), len(want))
			}
			for row := range want {
				var load int64
				var items []int
				for _, index := range want[row] {
					if load += p.Lengths[index]; p.Lengths[index] > 0 {
						items = append(items, index)
					}
				}
				got := slices.DeleteFunc(slices.Clone(k.Rows[row][rank]), func(i int) bool { return p.Lengths[i] == 0 })
				if loads[row][rank] != load || !slices.Equal(got, items) && len(items) > 0 {
					t.Fatalf("seed %d: lpt row %d rank %d: %v of %d tokens, want %v of %d", seed, row, rank, got, loads[row][rank], items, load)
				}
			}
		}
	}
}

// TestBoundIsABound compares with optimal packings of up to nine lengths, and
// demands that the bound is not idle.
func TestBoundIsABound(t *testing.T) {
	t.Parallel()
	tight, over := 0, 0
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 3))
		p := random(r, 9)
		p.Lengths = slices.DeleteFunc(p.Lengths, func(l int64) bool { return l == 0 || l > p.Max })
		p.Policy = packing.Error
		best := (fewestBins(p.Lengths, p.Max) + p.Ranks - 1) / p.Ranks
		bound := packing.LowerBound(p.Lengths, p.Max, p.Ranks)
		var sum int64
		for _, length := range p.Lengths {
			sum += length
		}
		plain := int((sum + p.Max*int64(p.Ranks) - 1) / (p.Max * int64(p.Ranks)))
		switch {
		case bound > best || bound < plain || bound != p.LowerBound():
			t.Fatalf("seed %d: bound %d, optimum %d, plain bound %d: %+v", seed, bound, best, plain, p)
		case bound == best:
			tight++
		}
		if bound > plain {
			over++
		}
		if k := pack(t, "best", p); len(k.Rows) < best {
			t.Fatalf("seed %d: %d rows, optimum %d", seed, len(k.Rows), best)
		}
	}
	if tight < 2700 || over < 100 {
		t.Errorf("the bound is the optimum %d times and better than the plain one %d times", tight, over)
	}
}

func TestLowerBound(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		lengths []int64
		limit   int64
		ranks   int
		want    int
	}{
		{nil, 10, 2, 0},
		{[]int64{0, 0}, 10, 2, 1},
		{[]int64{0, 11}, 10, 2, 1},
		{[]int64{11, 12, 3}, 10, 2, 3},
		{[]int64{6, 6, 6}, 10, 1, 3},          // no two fit together
		{[]int64{7, 7, 4, 4}, 10, 1, 3},       // sums to 22, and 4 fits beside no 7
		{[]int64{5, 5, 5, 5}, 10, 1, 2},       // halves are not big
		{[]int64{6, 6, 6, 6, 4, 4}, 10, 2, 2}, // four bins
		{[]int64{1 << 62, 1<<62 - 1}, 1 << 62, 1, 2},
	} {
		if got := packing.LowerBound(test.lengths, test.limit, test.ranks); got != test.want {
			t.Errorf("%+v: got %d", test, got)
		}
	}
}

// TestFarFromTheBound: lengths of which two fit have a bound that no packing
// comes near, and one attempt per row would be thousands.
func TestFarFromTheBound(t *testing.T) {
	if testtier.Race {
		t.Skip("one goroutine; 20 times slower with the race detector")
	}
	t.Parallel()
	p := packing.Problem{Lengths: slices.Repeat([]int64{34}, 40_000), Max: 100, Ranks: 2}
	for i := range p.Lengths {
		p.Lengths[i] += int64(i % 10)
	}
	if got := len(pack(t, "global-lpt", p).Rows); got != 10_000 {
		t.Errorf("%d rows", got)
	}
}

// TestBestFit compares with a search through all cells, of which more are open
// than one block of the sorted list holds.
func TestBestFit(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 5))
		p := packing.Problem{Max: 1_000_000, Ranks: 1 + r.IntN(5)}
		for range 3000 {
			p.Lengths = append(p.Lengths, 1+r.Int64N(p.Max))
		}
		var got []int64
		rows := pack(t, "bfd", p).Loads(p.Lengths)
		for i, row := range rows {
			got = append(got, row...)
			if i > 0 && slices.Max(row) > slices.Min(rows[i-1]) {
				t.Errorf("seed %d: rows %v before %v", seed, rows[i-1], row)
			}
		}
		got = slices.DeleteFunc(got, func(load int64) bool { return load == 0 })
		slices.Sort(got)
		if want := oracleBestFit(p.Lengths, p.Max); !slices.Equal(got, want) {
			t.Errorf("seed %d: %d cells, want %d, or other loads", seed, len(got), len(want))
		}
	}
}

// TestSums: each algorithm leaves less idle than the one that it improves on, by
// as much as it did when these sums of row maxima were written down.
func TestSums(t *testing.T) {
	t.Parallel()
	want := map[string]int64{"greedy": 5_475_568, "lpt": 4_181_187, "global-lpt": 4_153_733, "bfd": 5_301_261, "karmarkar-karp": 4_152_984,
		"local-search": 4_152_299, "best": 4_152_299}
	got := map[string]int64{}
	for seed := range uint32(20) {
		p := packing.Problem{Lengths: packing.Realistic(120, seed), Max: 200_000, Ranks: 8}
		for _, a := range packing.Algorithms() {
			got[a.Name] += packing.Measure(p, pack(t, a.Name, p)).SumRowMax
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestLocalSearch: the search never makes the best of the others worse, and with
// few sequences per cell mostly makes it better.
func TestLocalSearch(t *testing.T) {
	t.Parallel()
	improved := 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 6))
		p := packing.Problem{Max: 100, Ranks: 2 + r.IntN(4)}
		for range 30 {
			p.Lengths = append(p.Lengths, 5+r.Int64N(60))
		}
		rows, sum := 1<<30, int64(1)<<62
		for _, a := range packing.Algorithms()[:5] {
			m := packing.Measure(p, pack(t, a.Name, p))
			if m.TotalMinibatches < rows || m.TotalMinibatches == rows && m.SumRowMax < sum {
				rows, sum = m.TotalMinibatches, m.SumRowMax
			}
		}
		m := packing.Measure(p, pack(t, "local-search", p))
		if m.TotalMinibatches > rows || m.TotalMinibatches == rows && m.SumRowMax > sum {
			t.Errorf("seed %d: %d rows and %d from %d and %d", seed, m.TotalMinibatches, m.SumRowMax, rows, sum)
		}
		if m.SumRowMax < sum {
			improved++
		}
	}
	if improved < 180 {
		t.Errorf("improves %d of 300", improved)
	}
}
