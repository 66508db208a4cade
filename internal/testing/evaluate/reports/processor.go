package reports

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	detectors "github.com/accelgate/accelgate/internal/testing/evaluate/detection"
)

// busyHost is a generated host whose processors other programs use.
type busyHost struct {
	name   string
	wait   [2]float64 // for a processor, over processor time: of the base and of the head
	waves  bool       // the waiting comes and goes, for some processes each
	spread float64    // of the waiting, from process to process
	noise  float64    // of processor time
	// What base and head do beside the metric.
	threads float64
	off     float64    // of the metric's time, off the processors
	rest    [2]float64 // processor time beside that of the metric, over it
	head    float64    // by how much a load on the head's side alone slows its processor down
}

// The busy reports are those of small suites: the noise of each cell is large.
const (
	busyCells = 10
	busyPairs = 30
)

// busyLosses are slow-downs of a rate by 10 and by 30 %.
var busyLosses = []float64{1/0.9 - 1, 1/0.7 - 1}

// Waiting and the rest, of base and head.
var (
	quiet, one, ofHead = [2]float64{0.02, 0.02}, [2]float64{1, 1}, [2]float64{0.02, 1}
	alike              = [2]float64{0.5, 0.5}
)

// onOneThread computes all of the time, on one thread.
func onOneThread(name string, wait [2]float64, noise float64) busyHost {
	return busyHost{name: name, wait: wait, spread: 0.4, noise: noise, threads: 1, rest: alike}
}

var busyHosts = []busyHost{
	onOneThread("a processor is free", quiet, 0.03),
	onOneThread("none is free, one other program each", one, 0.04),
	onOneThread("none is free, two other programs each", [2]float64{3, 3}, 0.06).with(func(h *busyHost) { h.spread = 0.5 }),
	onOneThread("none is free from time to time", [2]float64{2, 2}, 0.04).with(func(h *busyHost) { h.waves = true }),
	onOneThread("none is free while the head runs", ofHead, 0.04),
	onOneThread("the same, and its caches are cold: 5 % slower", ofHead, 0.04).with(func(h *busyHost) { h.head = 0.05 }),
	onOneThread("none is free, cells on two threads", one, 0.04).with(func(h *busyHost) { h.threads = 2 }),
	onOneThread("none is free, cells half of the time off the processors", one, 0.04).with(func(h *busyHost) { h.off = 1 }),
	onOneThread("none is free, what is beside the metric needs 30 % more", one, 0.04).with(func(h *busyHost) { h.rest[1] *= 1.3 }),
}

func (h busyHost) with(change func(*busyHost)) busyHost {
	change(&h)
	return h
}

// BusyRates are what the gate does with reports of a busy host, by pairs of times alone and with
// those of processor time.
type BusyRates struct {
	Host         string
	Alone, Gated BusyRate
}

// BusyRate is one of both.
type BusyRate struct {
	Red   detectors.Rate   // unchanged reports
	Found []detectors.Rate // the slower cell of a report, by loss
}

// process is one measurement.
type process struct{ time, cpu, wait, off float64 }

// draw is a process of the base (0) or the head (1).
func (h *busyHost) draw(rng *rand.Rand, side int, slower, wave float64) process {
	of := func(spread float64) float64 { return math.Exp(spread * rng.NormFloat64()) }
	own, wait := 100*(1+slower)*of(h.noise), h.wait[side]*wave*of(h.spread)
	if side == 1 {
		own *= 1 + h.head
	}
	rest := 100 * h.rest[side] * of(h.noise)
	return process{time: own * (1 + wait*of(h.spread/2) + h.off), cpu: own + rest, wait: wait * (own + rest), off: 100 * h.off}
}

// cell is a cell with all pairs that it may take.
func (h *busyHost) cell(rng *rand.Rand, i int, slower float64) bench.Result {
	samples := map[string]*bench.Sample{}
	for _, name := range []string{metric, bench.CPUTime, bench.CPUWait, bench.OffCPU, bench.CPUThreads} {
		samples[name] = &bench.Sample{Metric: name}
	}
	wave, until := 1.0, 0
	measure := func(k, side int) process {
		if h.waves && k >= until {
			wave, until = float64(rng.IntN(2)), k+1+rng.IntN(8)
		}
		loss := 0.0
		if side == 1 {
			loss = slower
		}
		return h.draw(rng, side, loss, wave)
	}
	for k := range busyPairs {
		var two [2]process
		first := rng.IntN(2)
		two[first], two[1-first] = measure(2*k, first), measure(2*k+1, 1-first)
		for name, of := range map[string]func(process) float64{
			metric: func(p process) float64 { return p.time }, bench.CPUTime: func(p process) float64 { return p.cpu },
			bench.CPUWait: func(p process) float64 { return p.wait }, bench.OffCPU: func(p process) float64 { return p.off },
			bench.CPUThreads: func(process) float64 { return h.threads },
		} {
			samples[name].Base, samples[name].Values = append(samples[name].Base, of(two[0])), append(samples[name].Values, of(two[1]))
		}
	}
	r := result(i, *samples[metric], 0)
	for _, name := range []string{bench.CPUTime, bench.CPUWait, bench.OffCPU, bench.CPUThreads} {
		r.Resources = append(r.Resources, *samples[name])
	}
	return r
}

// judge judges a report and says whether it and its first cell are red.
func (b *BusyRate) judge(cells []bench.Result) (red, first bool) {
	run, _ := (&road{paired: true}).documents(nil)
	run.Results = cells
	c := gate.Compare("", nil, run, gate.DefaultPolicy())
	for _, v := range c.Verdicts {
		first = first || v.Cell == "c0" && v.Blocks && v.Finding == gate.Regressed
	}
	return gate.Decide([]gate.Comparison{c}, gate.DefaultPolicy()).Status == gate.StatusFailed, first
}

func (b *BusyRate) add(cells []bench.Result, loss int) {
	switch red, first := b.judge(cells); {
	case loss < 0:
		b.Red.Add(red)
	default:
		b.Found[loss].Add(first)
	}
}

// MeasureBusy judges so many reports of each busy host, unchanged and with one slower cell.
func MeasureBusy(reports int) (all []BusyRates) {
	for n, h := range busyHosts {
		rng := rand.New(rand.NewPCG(41, uint64(n)))
		out := BusyRates{h.name, newBusyRate(), newBusyRate()}
		for range reports {
			for loss := -1; loss < len(busyLosses); loss++ {
				var cells, bare []bench.Result
				for i := range busyCells {
					slower := 0.0
					if i == 0 && loss >= 0 {
						slower = busyLosses[loss]
					}
					cells = append(cells, h.cell(rng, i, slower))
					bare = append(bare, cells[i])
					bare[i].Resources = nil
				}
				out.Gated.add(cells, loss)
				out.Alone.add(bare, loss)
			}
		}
		all = append(all, out)
	}
	return all
}

func newBusyRate() BusyRate { return BusyRate{Found: make([]detectors.Rate, len(busyLosses))} }

// Busy writes the table of busy hosts, and returns its rows.
func Busy(w io.Writer, reports int) []BusyRates {
	all := MeasureBusy(reports)
	fmt.Fprintln(w, "| host | reports | red %: times alone | red %: with processor time "+
		"| -10 %: times alone | -10 %: with processor time | -30 %: times alone | -30 %: with processor time |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|")
	for _, r := range all {
		fmt.Fprintf(w, "| %s | %d | %s | %s |", r.Host, r.Gated.Red.Of, tenths(r.Alone.Red), tenths(r.Gated.Red))
		for i := range busyLosses {
			fmt.Fprintf(w, " %.0f | %.0f |", r.Alone.Found[i].Percent(), r.Gated.Found[i].Percent())
		}
		fmt.Fprintln(w)
	}
	return all
}
