package detection

import (
	"fmt"
	"io"

	"github.com/accelgate/accelgate/internal/detect"
)

// sessionsBefore is how many earlier sessions a workload must have.
const sessionsBefore = 10

// sessionRule describes whether a session is slower than the earlier ones, of which each
// has as many values as head.
type sessionRule struct {
	name  string
	alarm func(runs [][]float64, head []float64) bool
}

func sessionRules() []sessionRule {
	last := func(alarm func(*Trial, float64) bool) func([][]float64, []float64) bool {
		return func(runs [][]float64, head []float64) bool {
			return alarm(&Trial{History: runs[len(runs)-1], Head: head}, 0)
		}
	}
	return []sessionRule{
		{"REC-S, a session is a sample", func(runs [][]float64, head []float64) bool {
			base, samples := detect.Sessions(runs, head, true)
			return detect.Judge(base, samples, detect.Options{}).Verdict == detect.Regressed
		}},
		{"REC-S, each process taken for a sample", func(runs [][]float64, head []float64) bool {
			var base []float64
			for _, r := range runs {
				base = append(base, r...)
			}
			return detect.Judge(base, head, detect.Options{}).Verdict == detect.Regressed
		}},
		{"Mann-Whitney .05 + 2 %, last session", last(mannWhitney)}, {"Welch .05 + 2 %, last session", last(welch)},
		{"fixed 10 %, last session", last(fixed(0.10))},
	}
}

// stored judges the first n processes of B of each session by those of A of earlier
// ones: a stored baseline where sessions differ by more than processes.
func (r sessionRule) stored(all []Paired, n int) Row {
	row := Row{N: n, Rule: r.name, Rates: make([]Rate, len(ownEffects))}
	before, current := map[string][][]float64{}, map[string][]float64{}
	for i, p := range all {
		if i > 0 && p.Session != all[i-1].Session {
			for workload, values := range current {
				before[workload] = append(before[workload], values)
			}
			clear(current)
		}
		runs := before[p.Workload]
		for i, effect := range ownEffects {
			if p.Delta == 100*effect && len(runs) >= sessionsBefore {
				row.Rates[i].Add(r.alarm(runs, p.B[:n]))
			}
		}
		if p.Delta == 0 {
			current[p.Workload] = p.A[:n]
		}
	}
	return row
}

// Stored prints the rates of a baseline from earlier sessions on the own runs.
func Stored(w io.Writer, all []Paired) {
	fmt.Fprint(w, "\n## Against earlier sessions on a loaded host, known extra work\n\n")
	header(w, "processes a session, rule", ownEffects)
	for _, n := range Ns {
		for _, rule := range sessionRules() {
			rule.stored(all, n).print(w, fmt.Sprintf("%d, %s", n, rule.name))
		}
	}
}
