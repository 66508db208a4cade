package detection

import (
	"fmt"
	"io"
)

// Ns are the numbers of runs that the tables are about, and Effects the
// slow-downs; the first is none.
var (
	Ns      = []int{1, 3, 5, 10}
	Effects = []float64{0, 0.05, 0.10, 0.20}
)

// Row is a rule's rates on the trials of one n, by effect.
type Row struct {
	N     int
	Rule  string
	Rates []Rate // in the order of the effects; the first are false alarms
}

// Judge gives all trials to one rule.
func (r Rule) Judge(n int, trials []Trial, effects []float64) Row {
	row := Row{N: n, Rule: r.Name, Rates: make([]Rate, len(effects))}
	for i := 0; i < len(trials); i += max(1, r.Every) {
		for j, effect := range effects {
			row.Rates[j].Add(r.Alarm(&trials[i], effect))
		}
	}
	return row
}

func header(w io.Writer, first string, effects []float64) {
	fmt.Fprintf(w, "| %s | trials | false alarms %% |", first)
	for _, e := range effects[1:] {
		fmt.Fprintf(w, " +%g %% |", 100*e)
	}
	fmt.Fprint(w, "\n|---|---|---|")
	for range effects[1:] {
		fmt.Fprint(w, "---|")
	}
	fmt.Fprintln(w)
}

func (r Row) print(w io.Writer, first string) {
	fmt.Fprintf(w, "| %s | %d | %v |", first, r.Rates[0].Of, r.Rates[0])
	for _, rate := range r.Rates[1:] {
		fmt.Fprintf(w, " %s |", rate.Short())
	}
	fmt.Fprintln(w)
}

// Cells prints the rates of each rule on single cells, with Wilson intervals of 95 %.
func Cells(w io.Writer, sets []Set) {
	fmt.Fprint(w, "\n## Single cells\n\n")
	header(w, "n, rule", Effects)
	for _, n := range Ns {
		trials := Trials(sets, n)
		for _, rule := range Rules() {
			rule.Judge(n, trials, Effects).print(w, fmt.Sprintf("%d, %s", n, rule.Name))
		}
	}
}
