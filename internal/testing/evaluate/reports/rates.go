package reports

import (
	"fmt"
	"io"
	"strings"

	detectors "github.com/accelgate/accelgate/internal/testing/evaluate/detection"
)

// Rates are what a rule does on a road.
type Rates struct {
	Road, Rule string
	Cells      int            // of all reports
	Red        detectors.Rate // unchanged reports that block
	PerCell    detectors.Rate // unchanged cells that block
	Found      []detectors.Rate
	Effects    []float64
	False      detectors.Rate // false alarms among all alarms of the reports with slowed cells
	Cost       float64        // measurements of an unchanged cell
}

// slowedCells is how many cells of a report are made slower at once.
const slowedCells = 3

// rule is the gate, or another tool's rule for one cell.
type rule struct {
	name  string
	alarm func(n *number) bool // nil is the gate
	cost  int                  // measurements that it takes of each cell
}

func (r *road) measure(by rule, effects []float64) Rates {
	out := Rates{Road: r.name, Rule: by.name, Effects: effects, Found: make([]detectors.Rate, len(effects))}
	judge := r.judge
	if by.alarm != nil {
		judge = by.judge
	}
	for at := range r.samples {
		s := &r.samples[at]
		v := judge(s.null)
		out.Cells += len(s.null)
		out.Red.Add(v.red)
		out.Cost += v.cost / float64(len(r.samples))
		for _, alarm := range v.alarms {
			out.PerCell.Add(alarm)
		}
		for j, effect := range effects {
			out.slow(s, at, j, effect, judge)
		}
	}
	return out
}

// slow makes 3 cells of a report slower, others in each.
func (s *sample) slow(at int, effect float64) (cells []number, which map[int]bool) {
	cells, which = append([]number(nil), s.null...), map[int]bool{}
	for k := range slowedCells {
		i := (at*7 + k*len(cells)/slowedCells) % len(cells)
		cells[i], which[i] = s.slowed(i, effect), true
	}
	return cells, which
}

// slow judges a report with slower cells.
func (out *Rates) slow(s *sample, at, j int, effect float64, judge func([]number) verdict) {
	cells, which := s.slow(at, effect)
	for i, alarm := range judge(cells).alarms {
		if which[i] {
			out.Found[j].Add(alarm)
		}
		if alarm {
			out.False.Add(!which[i])
		}
	}
}

func (by rule) judge(cells []number) verdict {
	v := verdict{alarms: make([]bool, len(cells)), cost: float64(by.cost)}
	for i := range cells {
		v.alarms[i] = by.alarm(&cells[i])
		v.red = v.red || v.alarms[i]
	}
	return v
}

// header begins a table.
func header(w io.Writer, effects []float64) {
	fmt.Fprint(w, "| rule | reports x cells | red % | per cell % | false of alarms % |")
	for _, e := range effects {
		fmt.Fprintf(w, " +%g %% |", 100*e)
	}
	fmt.Fprint(w, " cost |\n|---|---|---|---|---|---|")
	for range effects {
		fmt.Fprint(w, "---|")
	}
	fmt.Fprintln(w)
}

func (out Rates) print(w io.Writer) {
	fmt.Fprintf(w, "| %s | %d x %d | %s | %.2f | %.1f |", out.Rule, out.Red.Of, out.Cells/max(1, out.Red.Of), tenths(out.Red),
		out.PerCell.Percent(), out.False.Percent())
	for _, f := range out.Found {
		fmt.Fprintf(w, " %.0f |", f.Percent())
	}
	fmt.Fprintf(w, " %.1f |\n", out.Cost)
}

// tenths is a rate with its interval.
func tenths(r detectors.Rate) string {
	low, high := r.Wilson()
	return fmt.Sprintf("%.1f [%.1f, %.1f]", r.Percent(), low, high)
}

// head writes the first rows of a table of unchanged reports, with two rates, and of changed ones by effect.
func head(w io.Writer, first, second string, effects []float64) {
	fmt.Fprintf(w, "| noise | evidence | reports | %s | %s |", first, second)
	for _, e := range effects {
		fmt.Fprintf(w, " +%g %% |", 100*e)
	}
	fmt.Fprintln(w, "\n|---|---|---|---|---|"+strings.Repeat("---|", len(effects)))
}
