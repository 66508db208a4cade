package evaluator

import (
	"fmt"
	"math"
)

// Row is one row of a sampling kernel: what it was given and what it drew.
type Row struct {
	Probs []float32
	TopK  int
	TopP  float64
	// Checked are the draws of upstream's validation trials. Fib looks only at
	// these for tokens that are not allowed; Strict takes them as draws like
	// any others.
	Checked []int64
	Samples []int64
}

const (
	fibTVD = 0.2 // upstream's sampling_tvd_threshold

	// alpha is the chance that a right sampler fails, over all its rows.
	alpha = 1e-6

	minSamples, maxSamples = 5_000, 50_000
)

// SamplesNeeded returns how many draws per row Strict asks for: ten for each
// token that may be drawn, and from 5,000 to 50,000.
func SamplesNeeded(m Method, row Row) int {
	order := ranking(row.Probs)
	return min(max(10*keep(m, row.Probs, order, row.TopK, row.TopP).high, minSamples), maxSamples)
}

// Sampling judges the draws of a sampling kernel, row by row.
//
// In Strict mode each row fails that has a token which the reference cannot
// draw, or whose frequencies a G-test tells from the
// reference's distribution with p < 1e-6, divided by the number of rows. Tokens
// are pooled, in the order of their probability, until 5 draws and a thousandth
// of all are expected; Williams' correction applies. A choice that the
// definition leaves open is not held against the kernel: which tokens of equal
// probability are kept, as long as they are not more, and what rounding makes
// of a sum that is as good as p. The total variation distance (TVD) to the
// reference's distribution is reported, beside what a right sampler would have;
// it fails a row only if [Params].TVDThreshold is set and is exceeded by more
// than chance explains. With fewer draws than [SamplesNeeded] nothing is judged.
//
// In Fib mode a row fails that has a token outside of [FibMask] among Checked,
// or whose TVD to [FibExpected] is above 0.2 or the threshold. Upstream adds up
// the TVD in float32, so that its last digits may differ.
//
// An error says that the rows are unusable.
func Sampling(m Method, rows []Row, p Params) (Result, error) {
	p, err := p.valid()
	if err != nil {
		return Result{}, err
	}
	if len(rows) == 0 {
		return Result{}, fmt.Errorf("there are no rows of samples: choose a workload with a batch_size above 0")
	}
	for i, row := range rows {
		if err := row.usable(m, p.Mode); err != nil {
			return Result{}, fmt.Errorf("row %d: %w", i, err)
		}
	}
	if p.Mode == Fib {
		return fibSampling(m, rows, p), nil
	}
	return strictSampling(m, rows, p), nil
}

func (r Row) usable(m Method, mode Mode) error {
	sum := 0.0
	for token, p := range r.Probs {
		if !(p >= 0) || math.IsInf(float64(p), 0) {
			return fmt.Errorf("token %d has the probability %v: correct the workload", token, p)
		}
		sum += float64(p)
	}
	switch draws := len(r.Samples) + len(r.Checked); {
	case sum == 0 || sum > math.MaxFloat32:
		return fmt.Errorf("the probabilities add up to %v: correct the workload", sum)
	case len(r.Samples) == 0:
		return fmt.Errorf("there are no samples: run the kernel more often")
	case mode == Strict && draws < SamplesNeeded(m, r):
		return fmt.Errorf("%d samples are too few for a verdict: draw at least %d", draws, SamplesNeeded(m, r))
	}
	return nil
}

// counts returns how often each token was drawn, and whether all are tokens.
func (r Row) counts(draws ...[]int64) (counts []int32, valid bool) {
	counts, valid = make([]int32, len(r.Probs)), true
	for _, samples := range draws {
		for _, token := range samples {
			if token < 0 || token >= int64(len(counts)) {
				valid = false
				continue
			}
			counts[token]++
		}
	}
	return counts, valid
}

// samplingResult collects the findings of rows.
type samplingResult struct {
	Result
	output OutputResult
	rows   int
}

func newSamplingResult(rows int) *samplingResult {
	s := &samplingResult{rows: rows, output: OutputResult{Name: "samples", Status: Passed, WorstFlat: -1}}
	s.Extra = &Extra{TVD: new(0.0), TVDs: make([]float64, 0, rows)}
	return s
}

// fail notes why a row failed; all of the first few are in the log.
func (s *samplingResult) fail(row int, format string, args ...any) {
	s.output.Status = IncorrectNumerical
	message := fmt.Sprintf("row %d: ", row) + fmt.Sprintf(format, args...)
	if s.output.Message == "" {
		s.output.Message, s.output.WorstFlat, s.output.WorstIndex = message, row, []int{row}
	}
}

func (s *samplingResult) distance(tvd float64) {
	s.Extra.TVDs = append(s.Extra.TVDs, tvd)
	*s.Extra.TVD = max(*s.Extra.TVD, tvd)
}

// errors notes frequencies that differ from what is expected.
func (s *samplingResult) errors(frequency, expected float32) {
	d := abs32(frequency - expected)
	s.output.MaxAbsoluteError = max(s.output.MaxAbsoluteError, Number(d))
	s.output.MaxRelativeError = max(s.output.MaxRelativeError, Number(d/(abs32(expected)+epsilon)))
}

func (s *samplingResult) result(passed int) Result {
	s.output.Elements = s.rows
	s.output.MatchedRatio = float64(passed) / float64(s.rows)
	s.Outputs = []OutputResult{s.output}
	s.finish()
	return s.Result
}

func fibSampling(m Method, rows []Row, p Params) Result {
	s, threshold := newSamplingResult(len(rows)), firstSet(p.TVDThreshold, fibTVD)
	for i, row := range rows {
		if token, ok := row.allowed(FibMask(m, row.Probs, row.TopK, row.TopP)); !ok {
			s.fail(i, "token %d is not allowed: check the filter", token)
			s.output.MaxAbsoluteError, s.output.MaxRelativeError = infinite, infinite
			s.Extra = nil
			return s.result(i)
		}
	}
	passed := 0
	for i, row := range rows {
		if tvd := s.fibRow(m, row); tvd > threshold {
			s.fail(i, "total variation distance %.4f is above %.4f: check the distribution", tvd, threshold)
		} else {
			passed++
		}
	}
	return s.result(passed)
}

// allowed returns the first token that mask forbids. Upstream does not look at
// the range of those that it counts; they are refused here.
func (r Row) allowed(mask []bool) (token int64, ok bool) {
	for _, token := range r.Checked {
		if token < 0 || token >= int64(len(mask)) || !mask[token] {
			return token, false
		}
	}
	for _, token := range r.Samples {
		if token < 0 || token >= int64(len(mask)) {
			return token, false
		}
	}
	return 0, true
}

func (s *samplingResult) fibRow(m Method, row Row) float64 {
	counts, _ := row.counts(row.Samples)
	tvd, n := 0.0, float32(len(row.Samples))
	for token, expected := range FibExpected(m, row.Probs, row.TopK, row.TopP) {
		frequency := float32(counts[token]) / n
		tvd += float64(abs32(frequency - expected))
		s.errors(frequency, expected)
	}
	tvd /= 2
	s.distance(tvd)
	return tvd
}
