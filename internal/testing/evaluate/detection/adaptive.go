package detection

import (
	"fmt"
	"io"

	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/stats"
)

// Adaptive are the rates of a plan, and what it costs.
type Adaptive struct {
	Rates []Rate    // by effect
	Cost  []float64 // measurements a cell, by effect
}

// planHistory follows the plan of repeated runs on trials of 5 runs.
func planHistory(trials []Trial, effects []float64) Adaptive {
	a := Adaptive{Rates: make([]Rate, len(effects)), Cost: make([]float64, len(effects))}
	for i := range trials {
		for j, effect := range effects {
			s := followHistory(&trials[i], effect)
			a.Rates[j].Add(s.Evidence.Verdict == detect.Regressed)
			a.Cost[j] += float64(s.Cost) / float64(len(trials))
		}
	}
	return a
}

func followHistory(t *Trial, effect float64) detect.Step {
	o := detect.Options{Cross: t.Cross}
	n := 1
	for {
		m := detect.Measured{History: t.LevelHistory, Head: slower(t.LevelHead[:n], effect)}
		if n > 3 {
			m = detect.Measured{History: t.History, Head: slower(t.Head[:n], effect)}
		}
		s := detect.Plan{}.Next(m, o)
		if s.Action == detect.Stop {
			return s
		}
		n = s.N
	}
}

// planTrials are the trials that planHistory follows: 5 runs after 10.
func planTrials(sets []Set) []Trial { return trials(sets, 5, 10) }

// planPairs screens the own runs by the first 3 of B against earlier sessions, and
// measures suspects in the 7 pairs that are left.
func planPairs(all []Paired, plan detect.Plan, effects []float64) Adaptive {
	a := Adaptive{Rates: make([]Rate, len(effects)), Cost: make([]float64, len(effects))}
	stored := map[string][]float64{} // by workload: the median of A of each session
	for from := 0; from < len(all); {
		to := from
		for to < len(all) && all[to].Session == all[from].Session {
			to++
		}
		session := all[from:to]
		cross := sessionNoise(session, stored)
		for _, p := range session {
			for j, effect := range effects {
				if p.Delta == 100*effect && len(stored[p.Workload]) >= 10 {
					s := followPairs(plan, p, stored[p.Workload], cross)
					a.Rates[j].Add(s.Evidence.Verdict == detect.Regressed)
					a.Cost[j] += float64(s.Cost)
				}
			}
		}
		for _, p := range session {
			if p.Delta == 0 {
				stored[p.Workload] = append(stored[p.Workload], stats.Median(p.A[:3]))
			}
		}
		from = to
	}
	for j := range a.Cost {
		a.Cost[j] /= float64(max(1, a.Rates[j].Of))
	}
	return a
}

// sessionNoise is the noise over the cells of a session, by one run of A each.
func sessionNoise(session []Paired, stored map[string][]float64) float64 {
	var cells []detect.Cell
	for _, p := range session {
		cells = append(cells, detect.Cell{Base: stored[p.Workload], Head: p.A[:1]})
	}
	return detect.JudgeReport(cells, 0).Cross
}

func followPairs(plan detect.Plan, p Paired, history []float64, cross float64) detect.Step {
	const screen = 3
	m := detect.Measured{History: history, Head: p.B[:1]}
	for {
		s := plan.Next(m, detect.Options{Cross: cross})
		switch s.Action {
		case detect.Stop:
			return s
		case detect.Repeat:
			m.Head = p.B[:s.N]
		case detect.Pair:
			n := min(s.N, len(p.A)-screen)
			m.PairBase, m.PairHead = p.A[screen:screen+n], p.B[screen:screen+n]
		}
	}
}

// Plans prints what the plans find and cost.
func Plans(w io.Writer, sets []Set, own []Paired) {
	fmt.Fprint(w, "\n## Adaptive plans\n\n")
	header(w, "plan (runs a cell)", Effects)
	all := planTrials(sets)
	planHistory(all, Effects).print(w, "history 1-3-5, all")
	planHistory(only(all, classes[0].in), Effects).print(w, "history 1-3-5, accelerators")
	planPairs(own, sevenPairs, Effects).print(w, "history 1-3, then 7 pairs, loaded host")
	planPairs(own, generousPairs(), Effects).print(w, "the same, 1 and 3 runs are enough only at p > 0.5")
}

// sevenPairs is the plan of as many pairs as the own runs have left after 3.
var sevenPairs = detect.Plan{Pairs: true, FirstPairs: 7, LastPairs: 7}

// generousPairs measures again more often, as a host needs whose sessions differ.
func generousPairs() detect.Plan {
	p := sevenPairs
	p.PassFirst, p.PassRepeat = 0.5, 0.5
	return p
}

func (a Adaptive) print(w io.Writer, name string) {
	costs := ""
	for _, c := range a.Cost {
		costs += fmt.Sprintf(" %.2f", c)
	}
	Row{Rates: a.Rates}.print(w, fmt.Sprintf("%s (%s)", name, costs[1:]))
}
