package reports

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"

	"github.com/accelgate/accelgate/internal/gate"
	detectors "github.com/accelgate/accelgate/internal/testing/evaluate/detection"
)

// LimitKindRates are what the gate does with unchanged reports under one kind of limit.
type LimitKindRates struct {
	Host, Road, Kind string
	Red              detectors.Rate   // unchanged reports that block
	Found            []detectors.Rate // slowed cells that block, by effect
}

// The reports under a kind of limit.
const (
	kindCells  = 60
	kindSlowed = 3
)

// kindEffects are the slow-downs of so many cells of a report.
var kindEffects = []float64{0.03, 0.05, 0.1}

// limitKind is a kind of limit, with how the numbers of a report are made of a host's cells.
type limitKind struct {
	name  string
	rules []gate.Rule
	ratio bool // each number is the ratio of two cells
}

var limitKinds = []limitKind{
	{name: "+-2 %", rules: changes(&gate.Limit{Change: &gate.Change{Percent: 2, Both: true, Text: "+-2%"}})},
	{name: "required 2 %, and 5 %", rules: changes(&gate.Limit{Force: gate.Required, Change: &gate.Change{Percent: 2}},
		&gate.Limit{Change: &gate.Change{Percent: 5}})},
	{name: "relation, 2 %", rules: changes(&gate.Limit{Change: &gate.Change{Percent: 2}}), ratio: true},
}

func changes(limits ...*gate.Limit) (rules []gate.Rule) {
	for _, l := range limits {
		l.Scope = gate.Scope{Metric: metric}
		rules = append(rules, l)
	}
	return rules
}

// MeasureLimitKinds judges so many unchanged reports of each generated host, road and kind of limit, and the first so many of
// them with a few slower cells. Each report has a committed baseline.
func MeasureLimitKinds(reports, slowed int, effects []float64) (all []LimitKindRates) {
	for _, n := range noises {
		for k := range limitKinds {
			for i := range kindRoads {
				policy := gate.DefaultPolicy()
				all = append(all, limitKinds[k].measure(n, i, policy, reports, slowed, effects))
			}
		}
	}
	return all
}

var kindRoads = []string{"pairs in stages", "history, 3 new runs"}

func (k *limitKind) measure(n noise, at int, policy gate.Policy, reports, slowed int, effects []float64) LimitKindRates {
	rng := rand.New(rand.NewPCG(38, uint64(len(n.name))))
	policy.Rules = k.rules
	r := road{paired: at == 0, policy: policy}
	out := LimitKindRates{Host: n.name, Road: kindRoads[at], Kind: k.name, Found: make([]detectors.Rate, len(effects))}
	for report := range reports {
		cells := k.numbers(newHost(n, 2*kindCells, rng), at)
		out.Red.Add(r.judge(cells).red)
		if report < slowed {
			out.slow(&r, cells, effects)
		}
	}
	return out
}

// spreadKinds are fixed rules of other gates: the noise of a cell does not show how many cells there are.
var spreadKinds = []limitKind{
	{name: "3 sd", rules: changes(&gate.Limit{Change: &gate.Change{Absolute: 3, Spread: gate.SpreadSD, Text: "3 sd"}})},
	{name: "3 % and 4 mad", rules: changes(&gate.Limit{
		Change: &gate.Change{Percent: 3, Absolute: 4, Spread: gate.SpreadMAD, Text: "3% and 4 mad"},
	})},
}

// MeasureSpreadLimits judges unchanged reports by medians alone, under limits that are multiples of the spread of 30 earlier runs.
func MeasureSpreadLimits(reports, slowed int, effects []float64) (all []LimitKindRates) {
	for _, n := range noises {
		for k := range spreadKinds {
			policy := gate.DefaultPolicy()
			policy.Method = gate.MethodThreshold
			all = append(all, spreadKinds[k].measure(n, 1, policy, reports, slowed, effects))
		}
	}
	return all
}

// numbers are those of one report.
func (k *limitKind) numbers(h *host, method int) []number {
	all := draw[method](h)
	if method == 0 { // a committed baseline, which gains are compared with
		for i, earlier := range h.history(1) {
			all[i].history = earlier.history
		}
	}
	if !k.ratio {
		return all[:kindCells]
	}
	ratios := make([]number, kindCells)
	for i := range ratios {
		ratios[i] = all[i].over(&all[kindCells+i])
	}
	return ratios
}

// over divides the values of one cell by those of another in the same measurements.
func (n *number) over(by *number) number {
	out := number{sessions: n.sessions, base: ratio(n.base, by.base), head: ratio(n.head, by.head), more: ratio(n.more, by.more)}
	for i := range n.history {
		out.history = append(out.history, ratio(n.history[i], by.history[i]))
	}
	return out
}

func ratio(of, by []float64) []float64 {
	out := make([]float64, min(len(of), len(by)))
	for i := range out {
		out[i] = 100 * of[i] / by[i]
	}
	return out
}

// slow judges a report with a few slower cells.
func (out *LimitKindRates) slow(r *road, cells []number, effects []float64) {
	for j, effect := range effects {
		slowed := append([]number(nil), cells...)
		for i := range kindSlowed {
			at := i * (kindCells / kindSlowed)
			slowed[at].head, slowed[at].more = slower(slowed[at].head, effect), slower(slowed[at].more, effect)
		}
		v := r.judge(slowed)
		for i := range kindSlowed {
			out.Found[j].Add(v.alarms[i*(kindCells/kindSlowed)])
		}
	}
}

// LimitKinds writes the table of kinds of limits, and returns its rows.
func LimitKinds(w io.Writer, reports, slowed int) []LimitKindRates {
	return writeKinds(w, MeasureLimitKinds(reports, slowed, kindEffects))
}

// SpreadLimits writes the table of limits by what earlier runs differ by, and returns its rows.
func SpreadLimits(w io.Writer, reports, slowed int) []LimitKindRates {
	return writeKinds(w, MeasureSpreadLimits(reports, slowed, kindEffects))
}

func writeKinds(w io.Writer, all []LimitKindRates) []LimitKindRates {
	head(w, "limit", "red %", kindEffects)
	for _, out := range append(all, ofAllHosts(all)...) {
		fmt.Fprintf(w, "| %s | %s | %d | %s | %s |", out.Host, out.Road, out.Red.Of, out.Kind, tenths(out.Red))
		for j := range out.Found {
			fmt.Fprintf(w, " %.0f |", out.Found[j].Percent())
		}
		fmt.Fprintln(w)
	}
	return all
}

// ofAllHosts adds up the rates of a road and kind of limit.
func ofAllHosts(all []LimitKindRates) (sums []LimitKindRates) {
	for _, out := range all {
		at := slices.IndexFunc(sums, func(s LimitKindRates) bool { return s.Road == out.Road && s.Kind == out.Kind })
		if at < 0 {
			at = len(sums)
			sums = append(sums, LimitKindRates{Host: "**all**", Road: out.Road, Kind: out.Kind,
				Found: make([]detectors.Rate, len(out.Found))})
		}
		sums[at].Red.Join(out.Red)
		for j, found := range out.Found {
			sums[at].Found[j].Join(found)
		}
	}
	return sums
}
