package detect

import "math"

// JudgeNext judges the last run of the cells' Base and the run after it, the one
// sample of Head, together against the runs before both: a cell is Regressed if each
// of the two is slower by itself, and their joint p holds over all cells as in
// [JudgeGroup]. The evidence is that of both runs. A cell that one of them lacks is
// Untested. All cells must be of [History].
func JudgeNext(cells []Cell, falseAlarms float64) Report {
	both := make([]Cell, len(cells))
	for i, c := range cells {
		both[i] = Cell{Head: []float64{math.NaN(), math.NaN()}, Options: c.Options}
		if last := len(c.Base) - 1; last >= 0 && len(c.Head) == 1 {
			both[i].Base, both[i].Head = c.Base[:last], []float64{c.Base[last], c.Head[0]}
		}
	}
	return judgeGroup(both, falseAlarms, 2)
}
