package detection

import "github.com/accelgate/accelgate/internal/detect"

// Trial is one comparison of runs that are known to be equal.
type Trial struct {
	// History are the runs before, the newest last, and Head the runs that are
	// judged.
	History, Head []float64
	// LevelHistory and LevelHead are the same without what moved all cells of the
	// set in each run.
	LevelHistory, LevelHead []float64
	Cross                   float64 // noise over all cells of the set in the first run of the head
	Noise                   float64 // of the cell
	Accelerator             bool
}

// historySpan is how many runs before the head a trial keeps.
const historySpan = 40

// onLevel is how many runs before a head of n must be on its level.
func onLevel(n int) int {
	if n == 3 || n == 5 {
		return 5
	}
	return 10
}

// Trials lists the null trials of n runs: the end of the history is on the level
// of the head, and no run is in two heads.
func Trials(sets []Set, n int) []Trial { return trials(sets, n, onLevel(n)) }

func trials(sets []Set, n, base int) []Trial {
	var all []Trial
	for i := range sets {
		w := sets[i].window
		for j := range sets[i].Series {
			s := &sets[i].Series[j]
			for at := base; at+n <= len(s.Values); {
				if s.Level[at-base] != s.Level[at+n-1] {
					at++
					continue
				}
				from := max(0, at-historySpan)
				all = append(all, Trial{
					History: s.Values[from:at], Head: s.Values[at : at+n],
					LevelHistory: w.leveled[j][from:at], LevelHead: w.leveled[j][at : at+n],
					Cross: w.cross[s.Runs[at]], Noise: s.Noise, Accelerator: sets[i].Accelerator,
				})
				at += n
			}
		}
	}
	return all
}

// window is what all cells of a set did in each run.
type window struct {
	cross   []float64   // by run: noise over all cells, 0 where it is unknown
	leveled [][]float64 // by series: values without what moved all cells
}

// runs asks package detect, run by run, what the run did to all cells.
func (s *Set) runs() window {
	last := 0
	for _, c := range s.Series {
		last = max(last, c.Runs[len(c.Runs)-1])
	}
	w := window{cross: make([]float64, last+1), leveled: make([][]float64, len(s.Series))}
	for i, c := range s.Series {
		w.leveled[i] = append([]float64(nil), c.Values...)
	}
	for run := range w.cross {
		cells, at := s.report(run, 1)
		for i, p := range at { // earlier runs as they were corrected then
			cells[i].Base = s.Series[p.series].before(run, w.leveled[p.series])
		}
		r := detect.JudgeReport(cells, 0)
		w.cross[run] = r.Cross
		if len(r.Shifts) == 0 {
			continue
		}
		for i, p := range at {
			w.leveled[p.series][p.in] = cells[i].Head[0] / (1 + r.Shifts[0])
		}
	}
	return w
}

// position is where the head of a cell of a report comes from.
type position struct{ series, in int }

// report is what a gate would see of n runs from a run on: all cells that have
// them and at least one run before, aligned by run.
func (s *Set) report(run, n int) (cells []detect.Cell, at []position) {
	for i := range s.Series {
		c := &s.Series[i]
		in := c.index(run)
		if in < 1 || in+n > len(c.Values) || c.Runs[in+n-1] != run+n-1 {
			continue
		}
		cells = append(cells, detect.Cell{Base: c.before(run, c.Values), Head: c.Values[in : in+n]})
		at = append(at, position{i, in})
	}
	return cells, at
}
