package evaluator

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext" // and not stat/distuv, which links all of LAPACK
)

func strictSampling(m Method, rows []Row, p Params) Result {
	s, passed := newSamplingResult(len(rows)), 0
	s.Extra.TVDFloor, s.Extra.PValue = new(0.0), new(1.0)
	for i, row := range rows {
		if s.strictRow(m, i, row, p) {
			passed++
		}
	}
	return s.result(passed)
}

func (s *samplingResult) strictRow(m Method, i int, row Row, p Params) bool {
	counts, valid := row.counts(row.Samples, row.Checked)
	order := ranking(row.Probs)
	cut := keep(m, row.Probs, order, row.TopK, row.TopP)
	tvd, floor := s.strictDistance(row, counts, order[:cut.exact])
	s.distance(tvd)
	*s.Extra.TVDFloor = max(*s.Extra.TVDFloor, floor)
	if !valid {
		s.outside(i, "a sample is not a token")
		return false
	}
	best, supported := 0.0, false
	for _, kept := range slices.Compact([]int{cut.low, cut.exact, cut.high}) {
		if observed, ok := byRank(row.Probs, counts, order, kept); ok {
			supported = true
			best = max(best, gTest(observed, row.Probs, order[:kept]))
		}
	}
	if !supported {
		s.outside(i, "a token was drawn that the reference never draws")
		return false
	}
	*s.Extra.PValue = min(*s.Extra.PValue, best)
	if best < alpha/float64(s.rows) {
		s.fail(i, "the frequencies are not those of the reference (p = %.2g, distance %.4f): check the distribution", best, tvd)
		return false
	}
	// Moving one draw moves the distance by 1/n at most, so that it exceeds
	// its mean by t with a chance below exp(-2 n t^2) (McDiarmid).
	n := float64(len(row.Samples) + len(row.Checked))
	if limit := max(p.TVDThreshold, floor+math.Sqrt(math.Log(float64(s.rows)/alpha)/(2*n))); p.TVDThreshold > 0 && tvd > limit {
		s.fail(i, "total variation distance %.4f is above %.4f: check the distribution", tvd, limit)
		return false
	}
	return true
}

// outside fails a row for a token, whose probability being 0 makes the error
// infinite.
func (s *samplingResult) outside(i int, what string) {
	s.fail(i, "%s: check the filter", what)
	s.output.MaxAbsoluteError, s.output.MaxRelativeError = infinite, infinite
	*s.Extra.PValue = 0
}

// strictDistance returns the total variation distance of counts from the
// distribution of the kept tokens, and the one to expect of a right sampler:
// half the sum of the mean deviations, each sqrt(2 q (1-q) / (pi n)).
func (s *samplingResult) strictDistance(row Row, counts []int32, kept []int32) (tvd, floor float64) {
	n, total := float64(len(row.Samples)+len(row.Checked)), mass(row.Probs, kept)
	inside := 0.0
	for _, token := range kept {
		q, frequency := float64(row.Probs[token])/total, float64(counts[token])/n
		tvd += math.Abs(frequency - q)
		inside += frequency
		floor += math.Sqrt(2 * q * (1 - q) / (math.Pi * n))
		s.errors(float32(frequency), float32(q))
	}
	return (tvd + 1 - inside) / 2, floor / 2
}

// byRank returns the counts of the kept tokens by rank, and false if another
// one was drawn. Where the last kept token is as likely as others that are not
// kept, any of these may stand for one that was never drawn.
func byRank(probs []float32, counts []int32, order []int32, kept int) ([]int32, bool) {
	observed := make([]int32, kept)
	for rank, token := range order[:kept] {
		observed[rank] = counts[token]
	}
	last := probs[order[kept-1]]
	free := kept - 1
	for _, token := range order[kept:] {
		if counts[token] == 0 {
			continue
		}
		for free >= 0 && observed[free] > 0 {
			free--
		}
		if probs[token] != last || free < 0 || probs[order[free]] != last {
			return nil, false
		}
		observed[free] = counts[token]
	}
	return observed, true
}

// gTest returns the chance of a likelihood ratio of observed as large as this
// or larger, if tokens are drawn by probs.
func gTest(observed []int32, probs []float32, tokens []int32) float64 {
	cells, n := pool(observed, probs, tokens)
	if len(cells) < 2 {
		return 1
	}
	var g, inverse float64
	for _, c := range cells {
		if c.observed > 0 {
			g += 2 * c.observed * math.Log(c.observed/c.expected)
		}
		inverse += n / c.expected
	}
	df := float64(len(cells) - 1)
	williams := 1 + (inverse-1)/(6*n*df)
	return chiSquareTail(g/williams, df)
}

// chiSquareTail returns the probability that a chi-square variable with df degrees of freedom exceeds x.
func chiSquareTail(x, df float64) float64 { return mathext.GammaIncRegComp(df/2, max(x, 0)/2) }

type cell struct{ observed, expected float64 }

// pool joins neighbouring tokens until enough draws are expected of each cell,
// and returns the number of draws as well. Five are enough where there are few
// cells; of many the small errors of the approximation would add up.
func pool(observed []int32, probs []float32, tokens []int32) (cells []cell, n float64) {
	for _, count := range observed {
		n += float64(count)
	}
	enough, perMass := max(5, n/1000), n/mass(probs, tokens)
	var c cell
	for i, count := range observed {
		c.observed += float64(count)
		if c.expected += perMass * float64(probs[tokens[i]]); c.expected >= enough {
			cells, c = append(cells, c), cell{}
		}
	}
	if last := len(cells) - 1; last >= 0 {
		cells[last].observed += c.observed
		cells[last].expected += c.expected
	}
	return cells, n
}
