package judge

import (
	"fmt"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/detect"
)

// Changed is by how much a metric changed: new/old - 1 in its own sign, and
// whether that is better, nil for no change.
type Changed struct {
	Change float64 `json:"change"`
	Better *bool   `json:"better"`
}

// ChangeOf turns a slow-down, as package detect finds it, into the change of a
// metric: 0.25 more time is 0.2 less of a rate.
func ChangeOf(slower float64, better bench.Direction) Changed {
	return Changed{metricChange(slower, better), BetterOf(-slower)}
}

func metricChange(slower float64, better bench.Direction) float64 {
	if better == bench.Lower {
		return slower
	}
	const fastest = 1e-12 // of the time before, which keeps the quotient finite
	return 1/max(1+slower, fastest) - 1
}

// IntervalOf is the interval of 95 % of [changeOf].
func IntervalOf(e *detect.Evidence, better bench.Direction) [2]float64 {
	low, high := metricChange(e.Low, better), metricChange(e.High, better)
	return [2]float64{min(low, high), max(low, high)}
}

// BetterOf reports whether a gain is one, nil for no change.
func BetterOf(gain float64) *bool {
	if gain == 0 {
		return nil
	}
	better := gain > 0
	return &better
}

// String is "+31.0 % (worse)".
func (c Changed) String() string {
	s := fmt.Sprintf("%+.1f %%", 100*c.Change)
	switch {
	case s == "+0.0 %" || s == "-0.0 %":
		return "0.0 %"
	case c.Better == nil:
		return s
	case *c.Better:
		return s + " (better)"
	}
	return s + " (worse)"
}

// NewestRun is the last run of a series against those before it.
type NewestRun struct {
	Changed
	Interval [2]float64 `json:"interval"` // of 95 %
	P        float64    `json:"p"`
	Q        float64    `json:"q,omitempty"`
	N        int        `json:"n"`
	K        int        `json:"k"` // earlier runs
	// NoiseFloor and MDE are relative, of the time that the same work takes.
	NoiseFloor float64        `json:"noise_floor"`
	MDE        float64        `json:"mde"`
	Verdict    detect.Verdict `json:"verdict"`
	Reason     string         `json:"reason,omitempty"`
}

// NewestOf turns evidence about the last run into what is printed.
func NewestOf(e *detect.Evidence, better bench.Direction) *NewestRun {
	return &NewestRun{Changed: ChangeOf(e.Estimate, better), Interval: IntervalOf(e, better), P: e.P, Q: e.Q, N: e.N, K: e.K,
		NoiseFloor: e.NoiseFloor, MDE: e.MDE, Verdict: e.Verdict, Reason: e.Reason}
}
