package packing

import (
	"math"
	"slices"
)

// Scenario is a named problem.
type Scenario struct {
	Name    string
	Lengths []int64
	Max     int64
	Ranks   int
}

// Problem returns the problem of a scenario, with the default policy and cost.
func (s Scenario) Problem() Problem { return Problem{Lengths: s.Lengths, Max: s.Max, Ranks: s.Ranks} }

// Scenarios returns the 15 problems of mini_trainer's benchmark, in its order.
// Lengths are bit for bit those that numpy's legacy generator gives with seed
// 42, including that some scenarios go on where the one before them stopped. Two
// occur twice, as there. The caller owns what is returned.
func Scenarios() []Scenario {
	return slices.Concat(analysis(), comparison(), []Scenario{on8("speed/6_realistic_1000", realistic(newMT19937(seed), 1000))})
}

const (
	seed   = 42
	tokens = 130_000 // a rank's maximum in all scenarios
)

func on4(name string, lengths []int64) Scenario { return Scenario{name, lengths, tokens, 4} }
func on8(name string, lengths []int64) Scenario { return Scenario{name, lengths, tokens, 8} }

func analysis() []Scenario {
	r := newMT19937(seed)
	return []Scenario{
		on4("analysis/small", small()),
		on8("analysis/large_realistic_2000", realistic(r, 2000)),
		on4("analysis/edge_uniform", slices.Repeat([]int64{15_000}, 20)),
		on4("analysis/edge_mixed_outlier", append(slices.Repeat([]int64{1000}, 50), 95_000)),
		on4("analysis/edge_tight_fit", slices.Repeat([]int64{120_000}, 10)),
		on4("analysis/edge_oversized", []int64{50_000, 25_000, 140_000, 30_000, 150_000, 20_000}),
		on8("analysis/outlier_bimodal", bimodal(r)),
		on8("analysis/outlier_power_law", powerLaw(r)),
		on8("analysis/outlier_extreme", extreme(r)),
	}
}

func comparison() []Scenario {
	r := newMT19937(seed)
	return []Scenario{
		on4("compare/1_small", small()),
		on8("compare/2_realistic_500", realistic(r, 500)),
		on8("compare/3_bimodal", bimodal(r)),
		on8("compare/4_extreme", extreme(r)),
		on8("compare/5_power_law", powerLaw(r)),
	}
}

func small() []int64 {
	return []int64{10_000, 25_000, 35_000, 50_000, 60_000, 75_000, 80_000, 90_000}
}

func realistic(r mt19937, n int) []int64 {
	lengths := r.uniform(nil, n*50/100, 100, 2000)
	lengths = r.uniform(lengths, n*30/100, 2000, 20_000)
	lengths = r.uniform(lengths, n*15/100, 20_000, 60_000)
	return r.shuffle(r.uniform(lengths, n*5/100, 60_000, 100_000))
}

func bimodal(r mt19937) []int64 {
	return r.shuffle(r.uniform(r.uniform(nil, 100, 100, 500), 100, 50_000, 90_000))
}

// powerLaw has the exponent that the benchmark uses; its comment says 1.5.
func powerLaw(r mt19937) []int64 {
	lengths := make([]int64, 200)
	for i := range lengths {
		lengths[i] = min(max(int64(100_000/math.Pow(float64(i+1), .7)), 100), 100_000)
	}
	return r.shuffle(lengths)
}

func extreme(r mt19937) []int64 {
	return r.shuffle(append(r.uniform(nil, 50, 5000, 15_000), 125_000, 128_000, 129_000))
}
