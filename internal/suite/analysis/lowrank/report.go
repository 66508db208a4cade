package lowrank

import (
	"cmp"
	"math"
	"slices"

	"github.com/accelgate/accelgate/internal/tensor"
)

// Parameter is what became of one parameter.
type Parameter struct {
	Name   string       `json:"name"` // of the weight, or of a module with factors that belong to none
	Format tensor.DType `json:"format,omitempty"`
	Shape  []int        `json:"shape,omitempty"`
	High   int          `json:"high,omitempty"` // triplets that are frozen
	Status Status       `json:"status"`
	Measurement
}

// settle gives a parameter its status.
func (p *Parameter) settle() {
	p.Status = Failed
	if len(p.Faults) == 0 {
		p.Status = p.Difference.Match
	}
}

// Skip is a target that is not decomposed.
type Skip struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// Report is what became of a checkpoint.
type Report struct {
	Settings   Settings    `json:"settings"`
	Mode       Mode        `json:"mode"`
	Solvers    []string    `json:"solvers,omitempty"` // that were used, sorted
	Summary    Summary     `json:"summary"`
	Parameters []Parameter `json:"parameters"`
	Skipped    []Skip      `json:"skipped,omitempty"`
}

// Mode describes where factors come from.
type Mode string

// The modes.
const (
	Decomposed Mode = "decomposed" // by this program
	Verified   Mode = "verified"   // made elsewhere
)

// Summary is about all parameters together.
type Summary struct {
	// Total counts all parameters that should have been compared, whether
	// they could be or not, so that nothing raises the rate by being lost.
	Total     int `json:"total"`
	Identical int `json:"identical"`
	Close     int `json:"close"`
	Different int `json:"different"`
	Failed    int `json:"failed"`
	// SuccessRate is 100*(Identical+Close)/Total, 0 if there are none.
	SuccessRate float64 `json:"success_rate"`

	// The numbers are of the parameters that could be compared: Max, Mean and
	// RMS over all elements, LegacyAverage the mean over the parameters of
	// their largest differences, which is what upstream calls average.
	Compared      int     `json:"compared"`
	Elements      int     `json:"elements"`
	Outside       int     `json:"outside"`
	Max           float64 `json:"max"`
	Mean          float64 `json:"mean"`
	LegacyAverage float64 `json:"legacy_average"`
	RMS           float64 `json:"rms"`
	// Relative is of all weights as one, WorstRelative that of the worst, and
	// WorstBound the largest share of its [Bound] that a parameter uses.
	Relative      float64 `json:"relative_frobenius"`
	WorstRelative float64 `json:"worst_relative_frobenius"`
	WorstBound    float64 `json:"worst_share_of_bound"`
	// Deviation and Degrees are the worst ones of U and V.
	Deviation float64 `json:"orthogonality"`
	Degrees   float64 `json:"degrees"`
	ULPs      []int   `json:"ulps"` // see [Difference]
}

// Passed reports whether there were parameters, and all are identical or close
// and have no faults.
func (s Summary) Passed() bool { return s.Total > 0 && s.Identical+s.Close == s.Total }

// Worst returns the parameters that could be compared, the largest difference
// first.
func (r Report) Worst() []Parameter {
	worst := slices.DeleteFunc(slices.Clone(r.Parameters), func(p Parameter) bool { return p.Difference == nil })
	slices.SortStableFunc(worst, func(a, b Parameter) int { return cmp.Compare(b.Difference.Max, a.Difference.Max) })
	return worst
}

func newReport(settings Settings, mode Mode, solvers []string, parameters []Parameter, skipped []Skip) Report {
	return Report{
		Settings:   settings,
		Mode:       mode,
		Solvers:    solvers,
		Summary:    summarize(parameters),
		Parameters: parameters,
		Skipped:    skipped,
	}
}

func summarize(parameters []Parameter) Summary {
	s := Summary{Total: len(parameters), ULPs: []int{}}
	var sum, largest, squares, norm float64
	for _, p := range parameters {
		s.count(p.Status)
		s.orthogonality(p.U)
		s.orthogonality(p.V)
		d := p.Difference
		if d == nil {
			continue
		}
		s.compare(*d, p.Bound)
		n := float64(d.Elements)
		sum += d.Mean * n
		squares += d.RMS * d.RMS * n
		norm += d.Norm * d.Norm
		largest += d.Max
	}
	if s.Total > 0 {
		s.SuccessRate = 100 * float64(s.Identical+s.Close) / float64(s.Total)
	}
	if s.Compared > 0 {
		s.Mean, s.LegacyAverage = sum/float64(s.Elements), largest/float64(s.Compared)
		s.RMS, s.Relative = math.Sqrt(squares/float64(s.Elements)), math.Sqrt(squares)
		if norm > 0 {
			s.Relative /= math.Sqrt(norm)
		}
	}
	return s
}

func (s *Summary) count(status Status) {
	switch status {
	case Identical:
		s.Identical++
	case Close:
		s.Close++
	case Different:
		s.Different++
	default:
		s.Failed++
	}
}

func (s *Summary) compare(d Difference, bound float64) {
	s.Compared++
	s.Elements += d.Elements
	s.Outside += d.Outside
	s.Max = max(s.Max, d.Max)
	s.WorstRelative = max(s.WorstRelative, d.Relative)
	s.WorstBound = max(s.WorstBound, d.Relative/bound)
	for len(s.ULPs) < len(d.ULPs) {
		s.ULPs = append(s.ULPs, 0)
	}
	for i, n := range d.ULPs {
		s.ULPs[i] += n
	}
}

func (s *Summary) orthogonality(o *Orthogonality) {
	if o != nil {
		s.Deviation, s.Degrees = max(s.Deviation, o.Deviation), max(s.Degrees, o.Degrees)
	}
}
