package reports

import (
	"fmt"
	"io"
	"math/rand/v2"

	"github.com/accelgate/accelgate/internal/gate"
	detectors "github.com/accelgate/accelgate/internal/testing/evaluate/detection"
)

// NoiseLimitRates are what the gate does with reports whose limits are derived from noise, and
// with the same reports by the policy's own limit.
type NoiseLimitRates struct {
	Host, Road     string
	Red, PolicyRed detectors.Rate // unchanged reports that block
	// Found and PolicyFound count the slowed cells that block, by effect.
	Found, PolicyFound []detectors.Rate
}

// The bounds of the derived limits, in percent, and the reports.
const (
	noiseFloor   = 0.5
	noiseCeiling = 10
	noiseCells   = 60
	noiseSlowed  = 3
)

// noiseEffects are the slow-downs of so many cells of a report.
var noiseEffects = []float64{0.01, 0.02, 0.05, 0.1}

// fromNoise limits each cell by its recorded noise.
func fromNoise() gate.Policy {
	p := gate.DefaultPolicy()
	noise := &gate.Change{Noise: &gate.NoiseLimit{Floor: noiseFloor, Ceiling: noiseCeiling}}
	p.Rules = []gate.Rule{&gate.Limit{Scope: gate.Scope{Metric: metric}, Change: noise}}
	return p
}

// MeasureNoiseLimits judges so many unchanged reports of each generated host and road by both
// policies, and the same reports with a few slower cells. Without effects, the policy's own limit is not
// judged by.
func MeasureNoiseLimits(reports int, effects []float64) []NoiseLimitRates {
	var all []NoiseLimitRates
	for _, n := range noises {
		rng := rand.New(rand.NewPCG(26, uint64(len(n.name))))
		for i, name := range []string{"pairs in stages", "history, 3 new runs", "history, 1 new run"} {
			derived, fixed := road{paired: i == 0, policy: fromNoise()}, road{paired: i == 0, policy: gate.DefaultPolicy()}
			out := NoiseLimitRates{
				Host:        n.name,
				Road:        name,
				Found:       make([]detectors.Rate, len(effects)),
				PolicyFound: make([]detectors.Rate, len(effects)),
			}
			for range reports {
				h := newHost(n, noiseCells, rng)
				cells := draw[i](h)
				if i == 0 { // the noise is recorded by earlier runs
					for k, earlier := range h.history(1) {
						cells[k].history = earlier.history
					}
				}
				out.add(&derived, &fixed, cells, effects)
			}
			all = append(all, out)
		}
	}
	return all
}

func (out *NoiseLimitRates) add(derived, fixed *road, cells []number, effects []float64) {
	out.Red.Add(derived.judge(cells).red)
	if len(effects) > 0 {
		out.PolicyRed.Add(fixed.judge(cells).red)
	}
	for j, effect := range effects {
		slowed := append([]number(nil), cells...)
		for i := range noiseSlowed {
			at := i * (noiseCells / noiseSlowed)
			slowed[at].head, slowed[at].more = slower(slowed[at].head, effect), slower(slowed[at].more, effect)
		}
		d, f := derived.judge(slowed), fixed.judge(slowed)
		for i := range noiseSlowed {
			at := i * (noiseCells / noiseSlowed)
			out.Found[j].Add(d.alarms[at])
			out.PolicyFound[j].Add(f.alarms[at])
		}
	}
}

// NoiseLimits writes the table of reports with limits from noise, and returns its rows.
func NoiseLimits(w io.Writer, reports int) []NoiseLimitRates {
	head(w, "red %, limits from noise", "red %, limit of 2 %", noiseEffects)
	all := MeasureNoiseLimits(reports, noiseEffects)
	for _, out := range all {
		fmt.Fprintf(w, "| %s | %s | %d | %s | %s |", out.Host, out.Road, out.Red.Of, tenths(out.Red), tenths(out.PolicyRed))
		for j := range out.Found {
			fmt.Fprintf(w, " %.0f (%.0f) |", out.Found[j].Percent(), out.PolicyFound[j].Percent())
		}
		fmt.Fprintln(w)
	}
	return all
}
