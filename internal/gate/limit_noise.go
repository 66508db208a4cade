package gate

import (
	"math"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/detect"
)

// NoiseLimit makes the limit of a change as narrow as the recorded noise of the cell allows.
type NoiseLimit struct{ Floor, Ceiling float64 } // percent, Floor at most Ceiling

// Derived says how a limit was derived from noise.
type Derived struct {
	Noise   float64 `json:"noise,omitempty"` // of one earlier run, percent; 0 if it is not known
	Times   float64 `json:"times"`           // how often Noise fits into the limit
	Runs    int     `json:"runs"`            // earlier runs with a value
	Floor   float64 `json:"floor"`
	Ceiling float64 `json:"ceiling"`
}

// How often the noise of a run fits into a limit that is derived from it. Where a loss must be
// significant as well, the test keeps noise out; where medians decide, the limit must.
const (
	timesByEvidence  = 1
	timesByThreshold = 3
)

// limitSteps are the parts of a percentage point that a derived limit is rounded up to.
const limitSteps = 10

// derive is the limit in percent. Earlier runs alone count: a limit that followed the values
// which it judges would change their rate of false alarms. Without a noise that is known, the
// limit is the ceiling. s is nil where nothing was recorded on this machine.
func (l NoiseLimit) derive(p *Policy, m *described, s *bench.Sample) (float64, *Derived) {
	d := &Derived{Floor: l.Floor, Ceiling: l.Ceiling, Times: timesByEvidence}
	if p.Method == MethodThreshold {
		d.Times = timesByThreshold
	}
	runs := s.LevelMedians()
	d.Runs = len(runs)
	noise, ok := detect.Own(runs)
	if !ok {
		return l.Ceiling, d
	}
	d.Noise = 100 * noise
	limit := math.Ceil(-m.Better.GainOf(math.Expm1(d.Times*noise))*limitSteps-Tolerance) / limitSteps
	return min(max(limit, l.Floor), l.Ceiling), d
}

// CellLimit is what limits one metric of a cell. A metric that no change is judged of has the
// limits 0.
type CellLimit struct {
	Cell   string `json:"cell"`
	Metric string `json:"metric"`
	// Limit is the change in percent that blocks where evidence shows it, and Threshold the one
	// where there is neither pairs nor history.
	Limit     float64  `json:"limit"`
	Threshold float64  `json:"threshold"`
	Own       bool     `json:"own"`              // both are of the metric's own configuration, and not the policy's
	Change    string   `json:"change,omitempty"` // as the configuration writes it
	Derived   *Derived `json:"derived,omitempty"`
	Min       *float64 `json:"min,omitempty"`
	Max       *float64 `json:"max,omitempty"`
	Test      string   `json:"test,omitempty"`
	Trade     *Trade   `json:"trade,omitempty"`
	// Advisory and Required are the limits with a [Force] of their own, for people.
	Advisory string `json:"advisory,omitempty"`
	Required string `json:"required,omitempty"`
}

// CellLimits lists what limits each metric of the cells of a run that changes can be judged of, or that
// has bounds, in the order of the cells and metrics. Of the run, the host, the metrics and the
// cells count. ref is nil without a reference.
func CellLimits(ref, run *bench.Run, p Policy) (list []CellLimit) {
	in, _ := newInputs("", ref, run, p)
	for _, c := range in.cells {
		for k := range in.metrics {
			m := &in.metrics[k]
			l := in.limits.of(c.id, m.Name)
			if (m.Exact || in.shows(m, c.id)) && !in.bounds(c.id, m.Name) {
				continue
			}
			min, max := l.tightest()
			one := CellLimit{Cell: c.id, Metric: m.Name,
				Derived: l.derived(), Min: min, Max: max, Test: l.test, Trade: l.trade, Change: l.written()}
			one.Advisory = in.byForce[Advisory].of(c.id, m.Name).String()
			one.Required = in.byForce[Required].of(c.id, m.Name).String()
			if change, own := in.change(seriesKey{c.id, m.Name}); own {
				one.Limit, one.Threshold, one.Own = change, change, true
			} else if !m.Exact && !m.Informational {
				one.Limit, one.Threshold = p.minEffect(), p.Threshold
			}
			list = append(list, one)
		}
	}
	return list
}
