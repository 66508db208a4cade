package detection

import (
	"fmt"
	"io"

	"github.com/accelgate/accelgate/internal/detect"
)

// minCells is the number of cells that a report must have to be counted.
const minCells = 20

// slowed is the number of cells of a report that are made slower.
const slowed = 3

// whole are the rates of whole reports.
type whole struct {
	Reports  Rate // with at least one false alarm
	Alarms   int  // false ones in all null reports
	Cells    int
	Hosts    Rate   // reports of which the host was called slower
	All      Rate   // cells that are found where all of them are 5 % slower
	Found    []Rate // slowed cells, by effect from the second on
	FalseOf  []Rate // false alarms among all alarms of reports with slowed cells
	Effects  []float64
	RuleName string
}

// verdicts returns, for each cell of a report, whether it is slower.
type verdicts struct {
	name string
	of   func(cells []detect.Cell) (alarms []bool, host bool)
}

func reportRules() []verdicts {
	pairwise := func(alarm func(*Trial, float64) bool) func([]detect.Cell) ([]bool, bool) {
		return func(cells []detect.Cell) ([]bool, bool) {
			out := make([]bool, len(cells))
			for i, c := range cells {
				out[i] = alarm(&Trial{History: c.Base, Head: c.Head}, 0)
			}
			return out, false
		}
	}
	ours := func(judge func([]detect.Cell, float64) detect.Report, falseAlarms float64) func(cells []detect.Cell) ([]bool, bool) {
		return func(cells []detect.Cell) ([]bool, bool) {
			r := judge(cells, falseAlarms)
			out := make([]bool, len(cells))
			for i, e := range r.Cells {
				out[i] = e.Verdict == detect.Regressed
			}
			return out, r.Host.Verdict == detect.Regressed
		}
	}
	return []verdicts{
		{"REC-S + Holm 2 %", ours(detect.JudgeReport, 0.02)},
		{"the same as a group", ours(detect.JudgeGroup, 0.02)}, {"the same apart", ours(detect.JudgeApart, 0.02)},
		{"Mann-Whitney .05 + 2 %", pairwise(mannWhitney)},
		{"fixed 2 %", pairwise(fixed(0.02))}, {"fixed 10 %", pairwise(fixed(0.10))},
	}
}

// wholes returns the null reports of n runs of a set: of each cell that is on one
// level in them and in the runs that its rule takes.
func (s *Set) wholes(n int) (reports [][]detect.Cell) {
	last := 0
	for _, c := range s.Series {
		last = max(last, c.Runs[len(c.Runs)-1])
	}
	for run := onLevel(n); run+n <= last+1; run += n {
		all, at := s.report(run, n)
		var cells []detect.Cell
		for i, c := range all {
			series, in := &s.Series[at[i].series], at[i].in
			from := in - onLevel(n)
			// Rules without history need the last n runs.
			if from >= 0 && series.Runs[in-n] == run-n && series.Level[from] == series.Level[in+n-1] {
				cells = append(cells, c)
			}
		}
		if len(cells) >= minCells {
			reports = append(reports, cells)
		}
	}
	return reports
}

// NullReports returns the reports of n runs of all sets without a change.
func NullReports(sets []Set, n int) (reports [][]detect.Cell) {
	for i := range sets {
		reports = append(reports, sets[i].wholes(n)...)
	}
	return reports
}

// Judge counts one rule's rates over reports.
func (v verdicts) judge(reports [][]detect.Cell, effects []float64) whole {
	w := whole{Effects: effects, RuleName: v.name, Found: make([]Rate, len(effects)), FalseOf: make([]Rate, len(effects))}
	for at, cells := range reports {
		alarms, host := v.of(cells)
		false0 := count(alarms)
		w.Reports.Add(false0 > 0)
		w.Hosts.Add(host)
		w.Alarms += false0
		w.Cells += len(cells)
		all, _ := v.of(everyone(cells, 0.05))
		w.All.Hits += count(all)
		w.All.Of += len(all)
		for j, effect := range effects[1:] {
			changed, which := slow(cells, at, effect)
			alarms, _ := v.of(changed)
			for i, alarm := range alarms {
				if which[i] {
					w.Found[j+1].Add(alarm)
				}
				if alarm {
					w.FalseOf[j+1].Add(!which[i])
				}
			}
		}
	}
	return w
}

func count(alarms []bool) (n int) {
	for _, a := range alarms {
		if a {
			n++
		}
	}
	return n
}

// slow makes 3 cells slower, others in each report.
func slow(cells []detect.Cell, report int, effect float64) ([]detect.Cell, []bool) {
	out, which := append([]detect.Cell(nil), cells...), make([]bool, len(cells))
	for i := range slowed {
		at := (report*7 + i*len(cells)/slowed) % len(cells)
		out[at].Head, which[at] = slower(cells[at].Head, effect), true
	}
	return out, which
}

func everyone(cells []detect.Cell, effect float64) []detect.Cell {
	out := append([]detect.Cell(nil), cells...)
	for i := range out {
		out[i].Head = slower(out[i].Head, effect)
	}
	return out
}

var wholeEffects = []float64{0, 0.05, 0.10}

// Reports prints the rates of whole reports.
func Reports(w io.Writer, sets []Set) {
	fmt.Fprintf(w, "\n## Whole reports: without a change, and with %d slowed cells\n\n", slowed)
	fmt.Fprintln(w, "| n, rule | reports x cells | reports with a false alarm % | false alarms a report | host called slower % "+
		"| found +5 % | found +10 % | FDR +5 % | FDR +10 % | found, all +5 % |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|---|")
	for _, n := range Ns[:3] {
		var reports [][]detect.Cell
		for i := range sets {
			reports = append(reports, sets[i].wholes(n)...)
		}
		for _, rule := range reportRules() {
			r := rule.judge(reports, wholeEffects)
			fmt.Fprintf(w, "| %d, %s | %d x %d | %v | %.2f | %.1f | %s | %s | %s | %s | %s |\n", n, r.RuleName, r.Reports.Of,
				r.Cells/max(1, r.Reports.Of), r.Reports, float64(r.Alarms)/float64(max(1, r.Reports.Of)), r.Hosts.Percent(),
				r.Found[1].Short(), r.Found[2].Short(), r.FalseOf[1].Short(), r.FalseOf[2].Short(), r.All.Short())
		}
	}
}
