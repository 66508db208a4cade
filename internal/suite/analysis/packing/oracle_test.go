package packing_test

import (
	"slices"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/analysis/packing"
)

// pack packs by a named algorithm.
func pack(t testing.TB, name string, p packing.Problem) packing.Packing {
	t.Helper()
	a, err := packing.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	k, err := a.Pack(p)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return k
}

// oracleLPT packs for one rank as mini_trainer's LPT does, which is called once per
// rank: search for the longest prefix that fits, placing each candidate anew. It
// is written from the description of the algorithm, to be simple.
func oracleLPT(lengths []int64, limit int64, ranks, rank int) (mine [][]int) {
	order := make([]int, len(lengths))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(min(max(lengths[b]-lengths[a], -1), 1)) })
	sums := make([]int64, len(order)+1)
	for i, index := range order {
		sums[i+1] = sums[i] + lengths[index]
	}
	for at := 0; at < len(order); {
		maximum, _ := slices.BinarySearch(sums[at+1:], sums[at]+limit*int64(ranks)+1)
		low, high := 1, max(maximum, 1)
		for low < high {
			middle := (low + high + 1) / 2
			if _, ok := oracleRow(lengths, order[at:at+middle], limit, ranks); ok {
				low = middle
			} else {
				high = middle - 1
			}
		}
		if wide := min(ranks, len(order)-at); low < wide {
			if _, ok := oracleRow(lengths, order[at:at+wide], limit, ranks); ok {
				low = wide
			}
		}
		cells, _ := oracleRow(lengths, order[at:at+low], limit, ranks)
		mine = append(mine, cells[rank])
		at += low
	}
	return mine
}

// oracleRow places items with a heap that begins at 1.
func oracleRow(lengths []int64, items []int, limit int64, ranks int) (cells [][]int, ok bool) {
	loads, names := make([]int64, ranks+1), make([]int, ranks+1)
	for i := range ranks {
		names[i+1] = i
	}
	cells, ok = make([][]int, ranks), true
	for _, index := range items {
		loads[1] += lengths[index]
		ok = ok && loads[1] <= limit
		cells[names[1]] = append(cells[names[1]], index)
		for i := 1; 2*i <= ranks; {
			child := 2 * i
			if child < ranks && loads[child+1] < loads[child] {
				child++
			}
			if loads[i] <= loads[child] {
				break
			}
			loads[i], loads[child] = loads[child], loads[i]
			names[i], names[child] = names[child], names[i]
			i = child
		}
	}
	return cells, ok
}

// oracleGreedy returns the loads of mini_trainer's greedy packing, for all ranks.
func oracleGreedy(lengths []int64, limit int64, ranks int) (rows [][]int64) {
	row := make([]int64, ranks)
	for _, length := range lengths {
		rank := slices.Index(row, slices.Min(row))
		if row[rank]+length > limit {
			rows = append(rows, row)
			row, rank = make([]int64, ranks), 0
		}
		row[rank] += length
	}
	if slices.Max(row) > 0 {
		rows = append(rows, row)
	}
	return rows
}

// oracleBestFit returns the loads of best-fit decreasing, ascending.
func oracleBestFit(lengths []int64, limit int64) (loads []int64) {
	for _, length := range slices.Backward(slices.Sorted(slices.Values(lengths))) {
		fullest := -1
		for i, load := range loads {
			if load+length <= limit && (fullest < 0 || load > loads[fullest]) {
				fullest = i
			}
		}
		if fullest < 0 {
			fullest = len(loads)
			loads = append(loads, 0)
		}
		loads[fullest] += length
	}
	slices.Sort(loads)
	return loads
}

// fewestBins returns the number of bins of an optimal packing: every item goes
// into each bin there is, or a new one.
func fewestBins(lengths []int64, limit int64) int {
	fewest := len(lengths)
	var bins []int64
	var try func(i int)
	try = func(i int) {
		if len(bins) >= fewest {
			return
		}
		if i == len(lengths) {
			fewest = len(bins)
			return
		}
		for j := range bins {
			if bins[j]+lengths[i] <= limit {
				bins[j] += lengths[i]
				try(i + 1)
				bins[j] -= lengths[i]
			}
		}
		bins = append(bins, lengths[i])
		try(i + 1)
		bins = bins[:len(bins)-1]
	}
	try(0)
	return fewest
}

// shortestMakespan returns the makespan of an optimal division.
func shortestMakespan(costs []int64, n int) int64 {
	best := int64(1) << 62
	loads := make([]int64, n)
	var try func(i int)
	try = func(i int) {
		if i == len(costs) {
			best = min(best, slices.Max(loads))
			return
		}
		for j := range loads {
			loads[j] += costs[i]
			try(i + 1)
			loads[j] -= costs[i]
		}
	}
	try(0)
	return best
}
