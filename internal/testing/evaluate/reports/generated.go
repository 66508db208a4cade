package reports

import (
	"math"
	"math/rand/v2"

	"github.com/accelgate/accelgate/internal/gate"
)

// noise is a host: each cell has a noise of its own, from 0.5 to 8 %.
type noise struct {
	name    string
	tails   bool    // every twentieth value is up to twice as long
	session float64 // noise between sessions, in noises within one
	drift   float64 // of a session from its first value to its last, of all cells
	shared  float64 // what moves all cells of a session alike
}

// noises are the generated hosts.
var noises = []noise{
	{name: "Gaussian, sessions alike"},
	{name: "tails", tails: true},
	{name: "sessions differ by 1.5 times the noise within", session: 1.5},
	{name: "each session drifts by 5 %", drift: 0.05},
	{name: "sessions of all cells differ by 3 %", shared: 0.03},
	{name: "all of it", tails: true, session: 1.5, drift: 0.05, shared: 0.03},
}

// host draws values of one host.
type host struct {
	noise
	rng *rand.Rand
	sd  []float64 // of the cells
}

func newHost(n noise, cells int, rng *rand.Rand) *host {
	h := &host{noise: n, rng: rng, sd: make([]float64, cells)}
	for i := range h.sd {
		h.sd[i] = 0.005 * math.Pow(16, rng.Float64())
	}
	return h
}

// session draws n values of each cell, in order.
func (h *host) session(n int) [][]float64 {
	cells, common := make([][]float64, len(h.sd)), h.shared*h.rng.NormFloat64()
	for i, sd := range h.sd {
		level := common + h.noise.session*sd*h.rng.NormFloat64()
		for k := range n {
			y := level + sd*h.rng.NormFloat64() + h.drift*float64(k)/float64(n)
			if h.tails && h.rng.IntN(20) == 0 {
				y += 0.7 * h.rng.Float64()
			}
			cells[i] = append(cells[i], 100*math.Exp(y))
		}
	}
	return cells
}

// The reports of a generated host.
const (
	generatedReports = 100
	generatedCells   = 60
	generatedRuns    = 30
)

// generatedMethods are the roads on a generated host.
func generatedMethods(n noise, reports int) []road {
	roads := []road{
		{name: "pairs in stages", paired: true},
		{name: "history, 3 new runs"},
		{name: "history, 1 new run"},
		{name: "fixed threshold"},
	}
	rng := rand.New(rand.NewPCG(18, uint64(len(n.name))))
	for i := range roads {
		roads[i].policy = gate.DefaultPolicy()
		for range reports {
			h := newHost(n, generatedCells, rng)
			roads[i].samples = append(roads[i].samples, injected(draw[i](h)))
		}
	}
	return roads
}

// draw are the null reports of the roads.
var draw = []func(*host) []number{
	func(h *host) []number { // base and head take turns, so a session is of both
		cells := make([]number, len(h.sd))
		for i, values := range h.session(60) {
			for k := 0; k < len(values); k += 2 {
				first := h.rng.IntN(2)
				cells[i].base, cells[i].head = append(cells[i].base, values[k+first]), append(cells[i].head, values[k+1-first])
			}
		}
		return cells
	},
	func(h *host) []number { return h.history(3) },
	func(h *host) []number { return h.history(1) },
	func(h *host) []number {
		cells := make([]number, len(h.sd))
		for i, values := range h.session(5) {
			cells[i].base = values
		}
		for i, values := range h.session(8) {
			cells[i].head, cells[i].more = values[:5], values[5:]
		}
		return cells
	},
}

// history draws new runs after earlier ones, each a session of one value.
func (h *host) history(n int) []number {
	cells := make([]number, len(h.sd))
	for range generatedRuns {
		for i, v := range h.session(1) {
			cells[i].history = append(cells[i].history, v)
		}
	}
	for range n {
		for i, v := range h.session(4) {
			cells[i].head, cells[i].more = append(cells[i].head, v[0]), v[1:]
		}
	}
	if n > 1 {
		for i := range cells {
			cells[i].sessions, cells[i].more = n, nil
		}
	}
	return cells
}
