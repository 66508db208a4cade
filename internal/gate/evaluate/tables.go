package evaluate

import (
	"fmt"
	"io"

	detectors "github.com/accelgate/accelgate/internal/detect/evaluate"
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
	r := historyRoad(d.Sets, n, "history")
	return r.measure(gated, effects)
}

// NextRates measures runs that confirm the run before them, by the gate alone.
func NextRates(d detectors.Data) Rates {
	r := nextRoad(d.Sets, "next run")
	return r.measure(gated, effects)
}

// SessionRates measures two sessions without pairs and history by the gate alone.
func SessionRates(d detectors.Data) Rates {
	r := sessionRoad(d.Own)
	return r.measure(gated, largeEffects)
}

// GeneratedRates measures so many reports of each generated host by the gate, road
// by road: pairs, history of 3 new runs, history of 1, the fixed threshold.
func GeneratedRates(reports int) map[string][]Rates {
	all := map[string][]Rates{}
	for _, n := range noises {
		for _, r := range generatedRoads(n, reports) {
			all[n.name] = append(all[n.name], r.measure(gated, []float64{0.20}))
		}
	}
	return all
}

// Roads prints what whole reports promise on each road: the tables of
// docs/detection.md.
func Roads(w io.Writer, d detectors.Data) {
	own := ownPairs(d.Own, rounds)
	table(w, &own, effects, append([]rule{gated}, peers(firstPairs(5), 10)...))
	kernels := kernelPairs(d.Kernels, 0)
	table(w, &kernels, smallEffects, append([]rule{gated}, peers(firstPairs(5), 10)...))
	fine := kernelPairs(d.Kernels, 0.5)
	fine.name += ", `min_effect: 0.5%`"
	table(w, &fine, smallEffects, []rule{gated})
	for _, n := range []int{3, 5, 1} {
		history := historyRoad(d.Sets, n, "history, "+plural(n)+", all sets")
		table(w, &history, effects, append(append([]rule{gated}, peers(lastRuns, n)...), eDivisive(n)))
		history = historyRoad(accelerators(d.Sets), n, "history, "+plural(n)+", accelerators")
		table(w, &history, effects, []rule{gated})
	}
	for _, of := range []struct {
		sets []detectors.Set
		name string
	}{{d.Sets, "all sets"}, {accelerators(d.Sets), "accelerators"}} {
		next := nextRoad(of.sets, "default branch, confirmed by the next run, "+of.name)
		table(w, &next, effects, []rule{gated})
	}
	sessions := sessionRoad(d.Own)
	table(w, &sessions, largeEffects, append([]rule{gated}, peers(bothSessions, 5)...))
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

// Generated prints the roads on generated noise, which needs no data.
func Generated(w io.Writer) {
	for _, n := range noises {
		fmt.Fprintf(w, "\n#### Generated: %s\n\n", n.name)
		header(w, effects)
		for _, r := range generatedRoads(n, generatedReports) {
			rates := r.measure(gated, effects)
			rates.Rule = r.name
			rates.print(w)
		}
	}
}

func table(w io.Writer, r *road, effects []float64, rules []rule) {
	fmt.Fprintf(w, "\n#### %s\n\n", upper(r.name))
	header(w, effects)
	for _, by := range rules {
		r.measure(by, effects).print(w)
	}
}

func upper(s string) string { return string(s[0]-'a'+'A') + s[1:] }
