package reports

import (
	"fmt"
	"io"
	"math/rand/v2"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	detectors "github.com/accelgate/accelgate/internal/testing/evaluate/detection"
)

// FitRates are what the gate does with reports that have fits.
type FitRates struct {
	Host, Road string
	Red        detectors.Rate   // unchanged reports that block, for cells or fits
	Worse      detectors.Rate   // unchanged reports with a fit that blocks
	Found      []detectors.Rate // steeper lines, by effect
}

// The reports with fits: so many lines, each of a cell at each of these places, with a slope that makes most
// of the values.
const (
	fitLines  = 20
	fitLimit  = 5 // percent of slope and of intercept
	fitBottom = 10.0
)

var fitPlaces = []float64{1, 2, 4, 8}

// fitEffects are by how much the slope of one line is steeper.
var fitEffects = []float64{0.05, 0.1, 0.2, 0.5}

// withFits adds a fit of slope and intercept to the default policy.
func withFits() gate.Policy {
	p := gate.DefaultPolicy()
	limit := float64(fitLimit)
	p.Rules = []gate.Rule{
		&gate.Fit{Scope: gate.Scope{Metric: metric}, Over: "x", Per: 1,
			Slope: gate.FitLimit{Change: &limit}, Intercept: gate.FitLimit{Change: &limit},
			At: func(c bench.Cell) (string, float64, bool) {
				i := index(c.ID())
				return fmt.Sprint(i / len(fitPlaces)), fitPlaces[i%len(fitPlaces)], true
			}},
	}
	return p
}

// onLines turns values around 100 into those of lines. The first line of the head is steeper.
func onLines(cells []number, steeper float64) []number {
	out := make([]number, len(cells))
	for i, c := range cells {
		x, slope := fitPlaces[i%len(fitPlaces)], fitBottom
		level := (fitBottom + slope*x) / 100
		now := level
		if i < len(fitPlaces) {
			now = (fitBottom + slope*(1+steeper)*x) / 100
		}
		out[i] = number{base: slower(c.base, level-1), head: slower(c.head, now-1), more: slower(c.more, now-1)}
	}
	return out
}

// MeasureFits judges so many unchanged reports of each generated host and road, and the same
// reports with one line steeper by each effect.
func MeasureFits(reports int, effects []float64) []FitRates {
	var all []FitRates
	for _, n := range noises {
		rng := rand.New(rand.NewPCG(27, uint64(len(n.name))))
		for _, i := range []int{0, 3} {
			r := road{name: []string{0: "pairs in stages", 3: "two sessions"}[i], paired: i == 0, policy: withFits()}
			out := FitRates{Host: n.name, Road: r.name, Found: make([]detectors.Rate, len(effects))}
			for range reports {
				cells := draw[i](newHost(n, fitLines*len(fitPlaces), rng))
				red, worse := r.overBudget(onLines(cells, 0))
				out.Red.Add(red)
				some := false
				for _, w := range worse {
					some = some || w
				}
				out.Worse.Add(some)
				for j, effect := range effects {
					_, worse := r.overBudget(onLines(cells, effect))
					out.Found[j].Add(worse[0])
				}
			}
			all = append(all, out)
		}
	}
	return all
}

// Fits writes the table of reports with fits, and returns its rows.
func Fits(w io.Writer, reports int) []FitRates {
	head(w, "red %", "a fit blocks %", fitEffects)
	all := MeasureFits(reports, fitEffects)
	for _, out := range all {
		fmt.Fprintf(w, "| %s | %s | %d | %s | %s |", out.Host, out.Road, out.Red.Of, tenths(out.Red), tenths(out.Worse))
		for _, f := range out.Found {
			fmt.Fprintf(w, " %.0f |", f.Percent())
		}
		fmt.Fprintln(w)
	}
	return all
}
