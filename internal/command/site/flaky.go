package site

import (
	"cmp"
	"slices"
	"time"
)

// flaky is a cell that some runs have and others lack.
type flaky struct {
	Cell, Page string
	Absent, Of int // runs without it, of the newest
	Switches   int // from present to absent and back
}

// absent is a cell that the newest run lacks.
type absent struct {
	Cell, Page string
	Last       time.Time // when the last run that has it started
	Revision   string
}

// flakyRuns is how many of the newest runs are looked at.
const flakyRuns = 30

// flaky lists the cells that are present in some runs and absent from others: two switches at least among the newest runs, counted from the
// first run that has the cell.
func (h *host) flaky() (all []flaky) {
	for _, c := range h.Cells {
		present := c.present[max(0, len(c.present)-flakyRuns):]
		first := slices.Index(c.present, true)
		if first < 0 {
			continue
		}
		present = present[max(0, first-(len(c.present)-len(present))):]
		f := flaky{Cell: c.ID, Page: h.cellPage(c), Of: len(present)}
		for i, has := range present {
			if !has {
				f.Absent++
			}
			if i > 0 && has != present[i-1] {
				f.Switches++
			}
		}
		if f.Switches >= 2 {
			all = append(all, f)
		}
	}
	slices.SortStableFunc(all, func(a, b flaky) int {
		return cmp.Or(cmp.Compare(b.Switches, a.Switches), cmp.Compare(b.Absent, a.Absent))
	})
	return all
}

// absent lists the cells that the newest run lacks and an earlier one has, the most recent first.
func (h *host) absent() (all []absent) {
	for _, c := range h.Cells {
		if last := c.last(); last >= 0 && last < len(h.Runs)-1 {
			all = append(all, absent{c.ID, h.cellPage(c), h.Runs[last].At, h.Runs[last].Revision})
		}
	}
	slices.SortStableFunc(all, func(a, b absent) int { return b.Last.Compare(a.Last) })
	return all
}
