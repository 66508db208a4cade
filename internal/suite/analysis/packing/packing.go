// Package packing distributes sequences of different lengths over the ranks of
// a synchronous training step, and jobs over machines. It is pure: nothing in it
// reads a file, a clock or a random number that is not specified.
//
// # Words
//
// A rank is one of the workers that step together. A row is one step: one
// minibatch for each rank. A cell is one rank in one row; the lengths in it may
// add up to at most [Problem.Max] tokens. Every sequence is in exactly one
// cell, and every row has one cell per rank, which may be empty.
//
// # From a list to a comparison
//
// A [Problem] goes through each of [Algorithms]; every one returns a [Packing] for
// all ranks at once, which [Validate] has accepted. [Measure] describes it, and
// [Problem.LowerBound] says how many rows nothing can go below. Lists come from
// [ReadLengths] or [Scenarios]. [Spread] is the simpler problem without rows
// and capacity.
//
// The algorithms greedy and lpt, the scenarios and most metrics are those of
// mini_trainer's benchmark (github.com/Red-Hat-AI-Innovation-Team/mini_trainer,
// regression_tests/benchmark_batching.py), with equal loads and equal numbers.
package packing

// Limits of a [Problem].
const (
	MaxLengths = 1 << 23
	MaxRanks   = 1 << 17
	maxCells   = 1 << 24 // of a packing: rows times ranks
)

// Problem is what is packed. It is not modified, and may be shared.
type Problem struct {
	Lengths []int64 // tokens of each sequence, from 0 on; their sum must fit into 63 bits
	Max     int64   // tokens that a cell holds, from 1 on
	Ranks   int     // 1 to MaxRanks
	Cost    Cost    // what is balanced; the zero value is tokens
	Policy  Policy  // what becomes of lengths that no cell holds, and of 0; the zero value is Reject
}

// Policy describes what becomes of sequences that are longer than a cell, and of
// those without tokens.
type Policy string

// The policies.
const (
	Reject Policy = "reject"  // both are left out, and listed
	OwnRow Policy = "own-row" // too long ones get rows of their own, before the others; empty ones go to any rank
	Error  Policy = "error"   // both are errors

	// Legacy is OwnRow, but greedy does what mini_trainer's does: it puts a
	// sequence that is too long onto rank 0 of a new row, which others may
	// join and even if the row before it is empty, and loses sequences without
	// tokens if they end the list in a row of their own; those are listed as left
	// out. Greedy then uses no cost but tokens.
	Legacy Policy = "legacy"
)

// Policies returns all policies but Legacy, the default first.
func Policies() []Policy { return []Policy{Reject, OwnRow, Error} }

// Packing is a solution for all ranks.
type Packing struct {
	// Rows[row][rank] holds indices into the lengths, longest first, then
	// by index. Every row has as many cells as there are ranks.
	Rows [][][]int
	// LeftOut are the indices that are in no cell, ascending.
	LeftOut []int
}

// Loads returns the tokens of each cell, by row and rank. The packing must be
// one of these lengths.
func (k Packing) Loads(lengths []int64) [][]int64 {
	loads := make([][]int64, len(k.Rows))
	for i, row := range k.Rows {
		loads[i] = make([]int64, len(row))
		for rank, cell := range row {
			for _, index := range cell {
				loads[i][rank] += lengths[index]
			}
		}
	}
	return loads
}
