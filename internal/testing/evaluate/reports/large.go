package reports

import (
	"fmt"
	"io"
	"math/rand/v2"

	"github.com/accelgate/accelgate/internal/gate"
	detectors "github.com/accelgate/accelgate/internal/testing/evaluate/detection"
)

// Settled describes how large losses are settled in pairs, on one host in cells of one noise.
type Settled struct {
	Host, Noise string
	Found       []detectors.Rate // by effect
	Cheap       []detectors.Rate // of those that are found, by at most cheapPairs
	pairs       []int            // of those that are found
}

// cheapPairs are what a large loss is to be settled by.
const cheapPairs = 10

// largeLosses are three times the default limit, and far more.
var largeLosses = []float64{0.06, 0.20, 0.35}

// noiseClasses are the upper ends of the noise of a value, as fractions.
var noiseClasses = []struct {
	maximum float64
	name    string
}{{0.01, "0.5 to 1 %"}, {0.02, "1 to 2 %"}, {0.04, "2 to 4 %"}, {1, "4 to 8 %"}}

// add judges a report with slowed cells of each effect. Only those count that are of the class.
func (s *Settled) add(r *road, one *sample, at int, of func(cell int) bool) {
	for j, effect := range largeLosses {
		cells, which := one.slow(at, effect)
		run, ref := r.documents(cells)
		for _, v := range gate.Compare("baseline", ref, run, r.policy).Verdicts {
			if v.Cell == "" || !which[index(v.Cell)] || !of(index(v.Cell)) {
				continue
			}
			found := v.Blocks && v.Finding == gate.Regressed
			if s.Found[j].Add(found); found {
				s.Cheap[j].Add(v.Evidence.Pairs <= cheapPairs)
				s.pairs[j] += v.Evidence.Pairs
			}
		}
	}
}

func newSettled(host, noise string) Settled {
	n := len(largeLosses)
	return Settled{host, noise, make([]detectors.Rate, n), make([]detectors.Rate, n), make([]int, n)}
}

// MeasureLargeLosses judges so many reports with slowed cells of the generated hosts that differ
// within sessions: what moves whole sessions moves both sides of a pair.
func MeasureLargeLosses(reports int) (all []Settled) {
	for _, n := range []noise{noises[0], noises[1], noises[len(noises)-1]} {
		classes := make([]Settled, len(noiseClasses))
		for k, c := range noiseClasses {
			classes[k] = newSettled(n.name, c.name)
		}
		rng, r := rand.New(rand.NewPCG(35, uint64(len(n.name)))), road{paired: true, policy: gate.DefaultPolicy()}
		for at := range reports {
			h := newHost(n, generatedCells, rng)
			one, minimum := injected(draw[0](h)), 0.0
			for k, c := range noiseClasses {
				classes[k].add(&r, &one, at, func(cell int) bool { return h.sd[cell] > minimum && h.sd[cell] <= c.maximum })
				minimum = c.maximum
			}
		}
		all = append(all, classes...)
	}
	return all
}

// recordedLargeLosses are those of recorded noise, whatever it is.
func recordedLargeLosses(d detectors.Data) (all []Settled) {
	own, kernels := ownPairs(d.Own, rounds), kernelPairs(d.Kernels, 0)
	for _, r := range []*road{&kernels, &own} {
		s := newSettled(r.name, "as recorded")
		for at := range r.samples {
			one := injected(r.samples[at].null)
			s.add(r, &one, at, func(int) bool { return true })
		}
		all = append(all, s)
	}
	return all
}

// LargeLosses writes the table of large losses, and returns its rows.
func LargeLosses(w io.Writer, d detectors.Data, reports int) []Settled {
	fmt.Fprint(w, "| host | noise of a value |")
	for _, e := range largeLosses {
		fmt.Fprintf(w, " +%g %%: found | +%[1]g %%: by %[2]d pairs | +%[1]g %%: pairs |", 100*e, cheapPairs)
	}
	fmt.Fprint(w, "\n|---|---|---|---|---|---|---|---|---|---|---|\n")
	all := append(recordedLargeLosses(d), MeasureLargeLosses(reports)...)
	for _, s := range all {
		fmt.Fprintf(w, "| %s | %s |", s.Host, s.Noise)
		for j, f := range s.Found {
			fmt.Fprintf(w, " %.0f %% of %d | %.0f %% | %.1f |", f.Percent(), f.Of, s.Cheap[j].Percent(),
				float64(s.pairs[j])/float64(max(1, f.Hits)))
		}
		fmt.Fprintln(w)
	}
	return all
}
