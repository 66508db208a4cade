package detection

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
)

// noises are generated histories of one cell: of n runs, as logarithms, with
// about 1 % of noise each.
var noises = []struct {
	name string
	draw func(rng *rand.Rand, n int) []float64
}{
	{"Gaussian", each(func(rng *rand.Rand) float64 { return 0.01 * rng.NormFloat64() })},
	{"heavy-tailed", each(func(rng *rand.Rand) float64 { return 0.006 * student3(rng) })},
	{"bimodal", each(bimodal)},
	{"quantised", each(func(rng *rand.Rand) float64 { return 0.01 * math.Round(rng.NormFloat64()) })},
	{"autocorrelated", autocorrelated},
	{"drifting", drifting},
}

func each(draw func(*rand.Rand) float64) func(*rand.Rand, int) []float64 {
	return func(rng *rand.Rand, n int) []float64 {
		y := make([]float64, n)
		for i := range y {
			y[i] = draw(rng)
		}
		return y
	}
}

// student3 is Student's distribution of 3 degrees of freedom.
func student3(rng *rand.Rand) float64 {
	a, b, c := rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()
	return rng.NormFloat64() / math.Sqrt((a*a+b*b+c*c)/3)
}

// bimodal is slower by 5 % in every fifth run.
func bimodal(rng *rand.Rand) float64 {
	y := 0.005 * rng.NormFloat64()
	if rng.Float64() < 0.2 {
		y += 0.05
	}
	return y
}

func autocorrelated(rng *rand.Rand, n int) []float64 {
	y, last := make([]float64, n), 0.01*rng.NormFloat64()
	for i := range y {
		last = 0.5*last + 0.01*math.Sqrt(0.75)*rng.NormFloat64()
		y[i] = last
	}
	return y
}

// drifting gets slower by 1 % in 20 runs.
func drifting(rng *rand.Rand, n int) []float64 {
	y := make([]float64, n)
	for i := range y {
		y[i] = 0.01*rng.NormFloat64() + 0.0005*float64(i)
	}
	return y
}

// Generate makes trials of n runs after 30 of generated noise; the seed makes
// them.
func Generate(noise string, n, count int, seed uint64) []Trial {
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	var trials []Trial
	for _, kind := range noises {
		for i := 0; i < count && kind.name == noise; i++ {
			values := kind.draw(rng, 30+n)
			for i, y := range values {
				values[i] = 100 * math.Exp(y)
			}
			history, head := values[:30], values[30:]
			trials = append(trials, Trial{History: history, Head: head, LevelHistory: history, LevelHead: head})
		}
	}
	return trials
}

// Generated prints the rates on generated noise.
func Generated(w io.Writer, count int) {
	fmt.Fprint(w, "\n## Generated noise of about 1 %\n\n")
	header(w, "noise, n, rule", Effects)
	for _, kind := range noises {
		for _, n := range Ns {
			all := Generate(kind.name, n, count, 1)
			for _, rule := range Rules() {
				rule.Judge(n, all, Effects).print(w, fmt.Sprintf("%s, %d, %s", kind.name, n, rule.Name))
			}
		}
	}
}
