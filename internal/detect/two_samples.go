package detect

import (
	"math"

	"github.com/accelgate/accelgate/internal/stats"
)

// Side is what one session measured of a cell, or what a baseline kept of it.
type Side struct {
	Median float64
	Noise  float64 // standard deviation of one value, of its logarithm; 0 for one value
	N      int
}

// madBias is by how much the median absolute deviation of few normal values falls
// short: Croux and Rousseeuw 1992, "Time-efficient algorithms for two highly
// robust estimators of scale", from 2 to 9 values.
var madBias = [...]float64{1.196, 1.495, 1.363, 1.206, 1.200, 1.140, 1.129, 1.107}

// NewSide sums up the values of one session by their median and their unscaled
// median absolute deviation.
func NewSide(median, mad float64, n int) Side {
	s := Side{Median: median, N: n}
	if n > 1 && median > 0 {
		s.Noise = normalConsistency * madBias[min(n-2, len(madBias)-1)] * mad / median
	}
	return s
}

// TwoSample is a cell of which each side was measured in one session.
type TwoSample struct {
	Base, Head     Side
	HigherIsBetter bool
}

// TwoSampleEvidence describes what two sessions show.
type TwoSampleEvidence struct {
	P float64 // one-sided
	// Error is the standard error of the difference of the logarithms, with what
	// two sessions differ by.
	Error float64
	// Estimate is the slow-down of the medians. One from Large on is no chance on a
	// host that was watched and healthy, one from Huge on is none on any host. All
	// three are relative.
	Estimate, Large, Huge float64
	df                    float64
}

// The allowance for two sessions, chosen by `make evaluate` on sessions of a loaded
// host: sessions differ by more than the values of one of them say, and nothing
// here shows by how much.
const (
	sessionFactor = 2.5   // the noise between sessions over that within one
	sessionFloor  = 0.015 // more of it
	sidesFloor    = 0.005 // least noise of a cell where others say how noisy the host is
	sidesUnknown  = 0.02  // noise where no cell has two values
	sidesPrior    = 4     // degrees of freedom that the other cells count for
)

// Slow-downs that need no correction for the number of cells, chosen by `make
// evaluate`: sessions of a host that other programs load differ by up to 14 times
// the noise of one value, those of a healthy one by far less.
const (
	largeLoss   = 1.4 // times slower, at least
	largeNoise  = 5.5 // times the standard deviation of one value, on a healthy host
	hugeLoss    = 1.9 // the same on any host
	hugeNoise   = 13.8
	certainLoss = 5.0 // the same whatever the noise
	largeValues = 3   // of the head, at least
)

// JudgeTwoSample judges cells whose two sides are of one session each, without any
// history: it says how likely chance makes the head look so slow. What all cells
// of the report show of the noise within sessions counts for each. P is 1 where a
// side has no value above 0.
//
//	s^2 = (4 g^2 + (n-1) s_b^2 + (m-1) s_h^2) / (n + m + 2)  g: median noise of all cells
//	se  = sqrt(s^2 (1/n + 1/m) + 2 ((2.5 s)^2 + (1.5 %)^2))  sessions differ by 2.5 times the noise within them
//	p   = 1 - F(d / se; n + m + 2)                           Student's t
func JudgeTwoSample(cells []TwoSample) []TwoSampleEvidence {
	noise := twoSampleNoise(cells)
	out := make([]TwoSampleEvidence, len(cells))
	for i, c := range cells {
		out[i] = c.judge(noise)
	}
	return out
}

func twoSampleNoise(cells []TwoSample) float64 {
	var known []float64
	for _, c := range cells {
		for _, s := range []Side{c.Base, c.Head} {
			if s.N > 1 {
				known = append(known, s.Noise)
			}
		}
	}
	if len(known) == 0 {
		return sidesUnknown
	}
	return max(sidesFloor, stats.Median(known))
}

func (c TwoSample) judge(noise float64) TwoSampleEvidence {
	old, ok := level(c.Base.Median, c.HigherIsBetter)
	now, also := level(c.Head.Median, c.HigherIsBetter)
	if !ok || !also {
		return TwoSampleEvidence{P: 1, Large: math.Inf(1), Huge: math.Inf(1)}
	}
	n, m := float64(max(c.Base.N, 1)), float64(max(c.Head.N, 1))
	df := sidesPrior + n + m - 2
	within := (sidesPrior*noise*noise + (n-1)*c.Base.Noise*c.Base.Noise + (m-1)*c.Head.Noise*c.Head.Noise) / df
	between := sessionFactor*sessionFactor*within + sessionFloor*sessionFloor
	e := TwoSampleEvidence{Error: math.Sqrt(within*(1/n+1/m) + 2*between), df: df}
	e.P = StudentTail((now-old)/e.Error, df)
	e.Estimate = relative(now - old)
	spread := math.Sqrt(within)
	e.Large, e.Huge = math.Inf(1), relative(min(math.Log(certainLoss), max(math.Log(hugeLoss), hugeNoise*spread)))
	if c.Head.N >= largeValues {
		e.Large = relative(max(math.Log(largeLoss), largeNoise*spread))
	}
	return e
}

// MinLoss is the slow-down from which on p is at most alpha, relative.
func (e TwoSampleEvidence) MinLoss(alpha float64) float64 {
	if e.Error == 0 {
		return 0 // nothing to test
	}
	return relative(StudentQuantile(1-alpha, e.df) * e.Error)
}
