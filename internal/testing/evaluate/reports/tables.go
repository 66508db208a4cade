package reports

import (
	"fmt"
	"io"

	detectors "github.com/accelgate/accelgate/internal/testing/evaluate/detection"
)

// Slow-downs of the tables.
var (
	effects      = []float64{0.03, 0.05, 0.10, 0.20}
	smallEffects = []float64{0.01, 0.02, 0.03, 0.05}
	largeEffects = []float64{0.10, 0.20, 0.50, 1.00}
)

// gated is the gate as it is shipped.
var gated = rule{name: "**the gate**"}

// rounds is how often the own runs are dealt out into reports.
const rounds = 25

// Own measures the pairs of a loaded host by the gate alone, for the aims.
func Own(d detectors.Data) Rates {
	r := ownPairs(d.Own, rounds)
	return r.measure(gated, effects)
}

// KernelRates measures the pairs of GPU kernels by the gate alone.
func KernelRates(d detectors.Data) Rates {
	r := kernelPairs(d.Kernels, 0)
	return r.measure(gated, smallEffects)
}

// HistoryRates measures n runs of the new code by the gate alone.
func HistoryRates(d detectors.Data, n int) Rates {
	r := historyMethod(d.Sets, n, "history")
	return r.measure(gated, effects)
}

// NextRates measures runs that confirm the run before them, by the gate alone.
func NextRates(d detectors.Data) Rates {
	r := nextRunMethod(d.Sets, "next run")
	return r.measure(gated, effects)
}

// SessionRates measures two sessions without pairs and history by the gate alone.
func SessionRates(d detectors.Data) Rates {
	r := sessionMethod(d.Own)
	return r.measure(gated, largeEffects)
}

// GeneratedRates measures so many reports of each generated host by the gate, road
// by road: pairs, history of 3 new runs, history of 1, the fixed threshold.
func GeneratedRates(reports int) map[string][]Rates {
	all := map[string][]Rates{}
	for _, n := range noises {
		for _, r := range generatedMethods(n, reports) {
			all[n.name] = append(all[n.name], r.measure(gated, []float64{0.20}))
		}
	}
	return all
}

// printMethods prints what whole reports promise on each road, and returns the rates of the
// gate.
func printMethods(w io.Writer, d detectors.Data) (gate []Rates) {
	add := func(r road, effects []float64, others ...rule) {
		gate = append(gate, table(w, &r, effects, append([]rule{gated}, others...)))
	}
	add(ownPairs(d.Own, rounds), effects, peers(firstPairs(5), 10)...)
	add(kernelPairs(d.Kernels, 0), smallEffects, peers(firstPairs(5), 10)...)
	fine := kernelPairs(d.Kernels, 0.5)
	fine.name += ", `min_effect: 0.5%`"
	add(fine, smallEffects)
	for _, n := range []int{3, 5, 1} {
		add(historyMethod(d.Sets, n, "history, "+plural(n)+", all sets"), effects, append(peers(lastRuns, n), eDivisive(n))...)
		add(historyMethod(accelerators(d.Sets), n, "history, "+plural(n)+", accelerators"), effects)
	}
	add(nextRunMethod(d.Sets, "default branch, confirmed by the next run, all sets"), effects)
	add(nextRunMethod(accelerators(d.Sets), "default branch, confirmed by the next run, accelerators"), effects)
	add(sessionMethod(d.Own), largeEffects, peers(bothSessions, 5)...)
	return gate
}

func plural(n int) string {
	if n == 1 {
		return "1 new run"
	}
	return fmt.Sprintf("%d new runs", n)
}

func accelerators(sets []detectors.Set) (some []detectors.Set) {
	for _, s := range sets {
		if s.Accelerator {
			some = append(some, s)
		}
	}
	return some
}

// printGenerated prints the roads on generated noise, which needs no data, and returns
// the rates of the gate.
func printGenerated(w io.Writer) (gate []Rates) {
	for _, n := range noises {
		fmt.Fprintf(w, "\n#### Generated: %s\n\n", n.name)
		header(w, effects)
		for _, r := range generatedMethods(n, generatedReports) {
			rates := r.measure(gated, effects)
			rates.Rule = r.name
			rates.print(w)
			gate = append(gate, rates)
		}
	}
	return gate
}

// table prints the rates of rules on a road, and returns those of the first rule.
func table(w io.Writer, r *road, effects []float64, rules []rule) (first Rates) {
	fmt.Fprintf(w, "\n#### %s\n\n", upper(r.name))
	header(w, effects)
	for i, by := range rules {
		rates := r.measure(by, effects)
		rates.print(w)
		if i == 0 {
			first = rates
		}
	}
	return first
}

func upper(s string) string { return string(s[0]-'a'+'A') + s[1:] }
