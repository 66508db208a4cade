package packing

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Algorithm is a way to pack. Its methods may be called concurrently.
type Algorithm struct {
	Name string

	place func(*instance) layout
}

// Those below build on those above.
var (
	greedyEntry      = Algorithm{"greedy", greedy}                // in input order, to the least loaded rank
	lptEntry         = Algorithm{"lpt", lpt}                      // longest first, row by row
	globalLPTEntry   = Algorithm{"global-lpt", globalLPT}         // longest first, over all rows at once
	bestFitEntry     = Algorithm{"bfd", bestFit}                  // best-fit decreasing
	kkEntry          = Algorithm{"karmarkar-karp", karmarkarKarp} // largest differencing within each row
	localSearchEntry = Algorithm{"local-search", localSearch}     // moves and swaps from the best of the above
	bestEntry        = Algorithm{"best", best}                    // fewest rows, then lowest sum of row maxima
)

// Algorithms returns all algorithms, in the order in which they are shown. Each
// is deterministic, and its time is bounded by the size of the problem.
func Algorithms() []Algorithm {
	return []Algorithm{greedyEntry, lptEntry, globalLPTEntry, bestFitEntry, kkEntry, localSearchEntry, bestEntry}
}

// Lookup returns an algorithm by its name.
func Lookup(name string) (Algorithm, error) {
	all := Algorithms()
	if i := slices.IndexFunc(all, func(a Algorithm) bool { return a.Name == name }); i >= 0 {
		return all[i], nil
	}
	var names []string
	for _, a := range all {
		names = append(names, a.Name)
	}
	return Algorithm{}, fmt.Errorf("unknown algorithm %.40q: use one of %s", name, strings.Join(names, ", "))
}

// Pack packs a problem for all ranks. The result has passed [Validate]. No
// lengths give no rows.
func (a Algorithm) Pack(p Problem) (Packing, error) {
	if err := p.check(); err != nil {
		return Packing{}, fmt.Errorf("pack: %w", err)
	}
	k, err := a.pack(p)
	if err == nil {
		err = Validate(p, k)
	}
	if err != nil {
		return Packing{}, fmt.Errorf("pack by %s: %w", a.Name, err)
	}
	return k, nil
}

func (a Algorithm) pack(p Problem) (Packing, error) {
	if p.Policy == Legacy && a.Name == greedyEntry.Name {
		return legacyGreedy(p)
	}
	in := prepare(p)
	return in.packing(in.run(a))
}

// best is the best of all others.
func best(in *instance) layout {
	in.enough = in.run(bestFitEntry).rows
	return in.best([]Algorithm{greedyEntry, lptEntry, globalLPTEntry, bestFitEntry, kkEntry, localSearchEntry})
}

// best returns the first layout with the fewest rows and among these the lowest
// sum of row maxima, in weight.
func (in *instance) best(all []Algorithm) (found layout) {
	rows, sum := math.MaxInt, int64(math.MaxInt64)
	for _, a := range all {
		l := in.run(a)
		if l.cells == nil || l.rows > rows {
			continue
		}
		if s := in.sumOfMaxima(l); l.rows < rows || s < sum {
			found, rows, sum = l, l.rows, s
		}
	}
	return found
}

func (in *instance) sumOfMaxima(l layout) (sum int64) {
	weights := make([]int64, l.rows*in.Ranks)
	for _, it := range in.items {
		weights[l.cells[it.index]] += it.weight
	}
	for row := range slices.Chunk(weights, in.Ranks) {
		sum += slices.Max(row)
	}
	return sum
}
