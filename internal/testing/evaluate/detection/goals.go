package detection

import (
	"fmt"
	"io"

	"github.com/accelgate/accelgate/internal/detect"
)

// Data are all development series.
type Data struct {
	Sets    []Set
	Own     []Paired
	Kernels []Repeats
}

// Goal is a figure that was promised, and what was measured. The figures were
// measured elsewhere, on series that are not here, by the rule that this one
// follows.
type Goal struct {
	Name string
	Want string
	Got  float64
	// Min and Max bound Got; 0 is no bound.
	Min, Max float64
}

// Holds reports whether the figure was reached.
func (g Goal) Holds() bool { return g.Got >= g.Min && (g.Max == 0 || g.Got <= g.Max) }

func maxGoal(got, limit float64, name string, args ...any) Goal {
	return Goal{Name: fmt.Sprintf(name, args...), Want: fmt.Sprintf("<= %.3g", limit), Got: got, Max: limit}
}

func minGoal(got, limit float64, name string, args ...any) Goal {
	return Goal{Name: fmt.Sprintf(name, args...), Want: fmt.Sprintf(">= %.3g", limit), Got: got, Min: limit}
}

// All lists all goals.
func (d *Data) All() (goals []Goal) {
	single := map[int][]Trial{}
	for _, n := range Ns {
		single[n] = Trials(d.Sets, n)
	}
	goals = append(goals, cellGoals(single)...)
	goals = append(goals, classGoals(single)...)
	goals = append(goals, reportGoals(d.Sets)...)
	return append(goals, pairGoals(d)...)
}

// reference is the power of REC-S strict on these series, at 5, 10 and 20 %.
var reference = map[int][3]float64{1: {26, 47, 68}, 3: {41, 64, 82}, 5: {47, 64, 83}, 10: {54, 77, 91}}

const powerLoss = 3 // points that may be missing from a reference

func cellGoals(single map[int][]Trial) (goals []Goal) {
	for _, n := range Ns {
		ours := Rule{Alarm: strict}.Judge(n, single[n], Effects)
		limit := 1.0
		if n == 1 {
			limit = 1.3
		}
		goals = append(goals, maxGoal(ours.Rates[0].Percent(), limit, "all cells, n %d: false alarms %%", n))
		if _, high := ours.Rates[0].Wilson(); n > 1 && ours.Rates[0].Of >= 10_000 {
			goals = append(goals, maxGoal(high, 1.2, "all cells, n %d: upper limit of false alarms %%", n))
		}
		for i, power := range reference[n] {
			goals = append(goals,
				minGoal(ours.Rates[i+1].Percent(), power-powerLoss, "all cells, n %d: power %% at %g %%", n, 100*Effects[i+1]))
		}
		if n == 3 || n == 5 {
			crude := Rule{Alarm: fixed(0.10)}.Judge(n, single[n], Effects[:1])
			goals = append(goals,
				minGoal(crude.Rates[0].Percent()/ours.Rates[0].Percent(), 4, "all cells, n %d: times fewer false alarms than fixed 10 %%",
					n))
		}
	}
	return goals
}

// classGoals are about accelerators, and about quiet cells.
func classGoals(single map[int][]Trial) (goals []Goal) {
	effects := []float64{0, 0.02, 0.03, 0.05, 0.10}
	rates := func(n, class int, alarm func(*Trial, float64) bool) []Rate {
		return Rule{Alarm: alarm}.Judge(n, only(single[n], classes[class].in), effects).Rates
	}
	for _, g := range []struct {
		n         int
		five, ten float64
	}{{1, 42, 64}, {3, 62, 78}, {5, 70, 83}} {
		r := rates(g.n, 0, strict)
		goals = append(goals, minGoal(r[3].Percent(), g.five, "accelerators, n %d: power %% at 5 %%", g.n),
			minGoal(r[4].Percent(), g.ten, "accelerators, n %d: power %% at 10 %%", g.n))
	}
	for _, n := range []int{3, 5} {
		ours, ten, two := rates(n, 0, strict), rates(n, 0, fixed(0.10)), rates(n, 0, fixed(0.02))
		goals = append(goals,
			minGoal(ten[0].Percent()/ours[0].Percent(), 4, "accelerators, n %d: times fewer false alarms than fixed 10 %%", n),
			minGoal(two[0].Percent()/ours[0].Percent(), 14, "accelerators, n %d: times fewer false alarms than fixed 2 %%", n))
		for i, e := range effects[1:] {
			goals = append(goals,
				minGoal(ours[i+1].Percent(), ten[i+1].Percent(), "accelerators, n %d: power %% at %g %%, against fixed 10 %%", n, 100*e))
		}
	}
	one, three, five, small := rates(1, 2, strict), rates(3, 2, strict), rates(5, 2, strict), rates(5, 2, fine)
	return append(goals,
		minGoal(one[3].Percent(), 78, "quiet cells, n 1: power %% at 5 %%"),
		minGoal(three[3].Percent(), 92, "quiet cells, n 3: power %% at 5 %%"),
		minGoal(five[3].Percent(), 95, "quiet cells, n 5: power %% at 5 %%"),
		minGoal(five[2].Percent(), 90, "quiet cells, n 5: power %% at 3 %%"),
		maxGoal(five[0].Percent(), 0.5, "quiet cells, n 5: false alarms %%"),
		minGoal(small[1].Percent(), 85, "quiet cells, n 5, least effect 1 %%: power %% at 2 %%"),
		maxGoal(small[0].Percent(), 1.5, "quiet cells, n 5, least effect 1 %%: false alarms %%"))
}

func reportGoals(sets []Set) (goals []Goal) {
	for _, n := range []int{3, 5} {
		var reports [][]detect.Cell
		for i := range sets {
			reports = append(reports, sets[i].wholes(n)...)
		}
		r := reportRules()[0].judge(reports, wholeEffects)
		goals = append(goals, maxGoal(r.Reports.Percent(), 100*detect.DefaultFalseAlarms, "reports, n %d: with a false alarm %%", n),
			maxGoal(r.FalseOf[1].Percent(), 10, "reports, n %d: false among alarms %%, 3 cells 5 %% slower", n),
			maxGoal(r.FalseOf[2].Percent(), 10, "reports, n %d: false among alarms %%, 3 cells 10 %% slower", n))
	}
	return goals
}

func pairGoals(d *Data) (goals []Goal) {
	power := map[int][3]float64{3: {22, 36, 54}, 5: {33, 47, 67}, 10: {40, 61, 78}}
	for _, row := range ownRows(d.Own) {
		goals = append(goals, Goal{
			Name: fmt.Sprintf("pairs on a loaded host, n %d: false alarms %%, alpha 1 %%", row.N),
			Want: "0.5 to 1.5",
			Got:  row.Rates[0].Percent(),
			Min:  0.5,
			Max:  1.5,
		})
		for i, want := range power[row.N] {
			goals = append(goals,
				minGoal(row.Rates[4+i].Percent(), want-powerLoss, "pairs on a loaded host, n %d: power %% at %g %%", row.N,
					100*ownEffects[4+i]))
		}
	}
	for _, row := range kernelRows(d.Kernels) {
		goals = append(goals, maxGoal(row.Rates[0].Percent(), 1.5, "GPU kernels, n %d: false alarms %%", row.N))
		if row.N == 5 {
			goals = append(goals, minGoal(row.Rates[2].Percent(), 60, "GPU kernels, n 5: power %% at 1 %%"),
				minGoal(row.Rates[3].Percent(), 75, "GPU kernels, n 5: power %% at 2 %%"))
		}
	}
	return goals
}

// Goals prints all goals.
func (d *Data) Goals(w io.Writer) {
	fmt.Fprint(w, "\n## Goals\n\n| goal | want | got | result |\n|---|---|---|---|\n")
	for _, g := range d.All() {
		holds := "holds"
		if !g.Holds() {
			holds = "**missed**"
		}
		fmt.Fprintf(w, "| %s | %s | %.2f | %s |\n", g.Name, g.Want, g.Got, holds)
	}
}
