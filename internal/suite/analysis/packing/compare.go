package packing

import (
	"fmt"
	"time"
)

// Comparison is what several algorithms make of one problem.
type Comparison struct {
	Name    string // of the scenario or file
	Problem Problem
	Results []Result // in the order of the algorithms
}

// Result is what one algorithm makes of it.
type Result struct {
	Algorithm string
	Packing   Packing
	Metrics   Metrics
	// Times is how long it took to pack for all ranks, validation left out, in
	// each round.
	Times []time.Duration
}

// Milliseconds returns the times.
func (r Result) Milliseconds() []float64 {
	ms := make([]float64, len(r.Times))
	for i, t := range r.Times {
		ms[i] = float64(t) / float64(time.Millisecond)
	}
	return ms
}

// Compare packs a problem by each algorithm. Where rounds is above 0 each is
// timed so often, after a first call that is not: round by round, with the order
// turned in every second one, so that a change of the machine's speed hits all
// alike. Now is a clock that only runs forward.
func Compare(p Problem, algorithms []Algorithm, rounds int, now func() time.Time) (Comparison, error) {
	c := Comparison{Problem: p}
	for _, a := range algorithms {
		k, err := a.Pack(p)
		if err != nil {
			return c, err
		}
		c.Results = append(c.Results, Result{Algorithm: a.Name, Packing: k, Metrics: Measure(c.bounded(), k)})
	}
	for round := range rounds {
		for i := range algorithms {
			if round%2 == 1 {
				i = len(algorithms) - 1 - i
			}
			start := now()
			_, err := algorithms[i].pack(p)
			took := now().Sub(start)
			if err != nil {
				return c, fmt.Errorf("pack by %s: %w", algorithms[i].Name, err)
			}
			c.Results[i].Times = append(c.Results[i].Times, took)
		}
	}
	return c, nil
}

// LowerBound is the bound that the results are held against.
func (c Comparison) LowerBound() int { return c.bounded().LowerBound() }

// bounded is the problem that gives the bound. Under [Legacy] all algorithms but
// greedy give what is too long a row of its own, and so does the bound; greedy,
// which puts others beside it, may need fewer rows.
func (c Comparison) bounded() Problem {
	p := c.Problem
	if p.Policy == Legacy {
		p.Policy = OwnRow
	}
	return p
}

// Check returns why a problem cannot be packed.
func (p Problem) Check() error { return p.check() }

// Result returns that of an algorithm; nil if it has none.
func (c Comparison) Result(algorithm string) *Result {
	for i := range c.Results {
		if c.Results[i].Algorithm == algorithm {
			return &c.Results[i]
		}
	}
	return nil
}
