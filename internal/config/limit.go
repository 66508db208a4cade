package config

import (
	"fmt"
	"slices"
	"strings"
)

// Limit is an entry of the limits of a suite. Later entries win over earlier ones, value by
// value. A nil value limits nothing.
type Limit struct {
	Metric string `yaml:"metric,required"`
	// When selects cells: each key names an axis, a swept variable or "host", and each
	// value is a glob. Empty selects every cell on every host.
	When map[string]string `yaml:"when"`
	// Change is the change for the worse that blocks where the policy's threshold would.
	Change *Percent `yaml:"change"`
	// Noise derives the change that blocks from the recorded noise of each cell; nil does not.
	Noise *NoiseLimit `yaml:"noise"`
	// Min and Max bound the median, in the metric's unit.
	Min *float64 `yaml:"min"`
	Max *float64 `yaml:"max"`
	// Test compares the metric by its standard errors: one of [Tests], or "" for none.
	Test string `yaml:"test"`
	// Trade lets a larger loss pass that the gain of another metric pays for; nil is none.
	Trade *Trade `yaml:"trade"`
}

// NoiseLimit bounds a limit that is derived from noise.
type NoiseLimit struct {
	Floor   Percent `yaml:"floor,required"`
	Ceiling Percent `yaml:"ceiling,required"`
}

// Trade is a loss of the metric of a [Limit] that passes if another metric of the cell gains.
type Trade struct {
	Loss Percent `yaml:"loss,required"` // that may pass
	For  string  `yaml:"for,required"`  // the metric that pays
	Gain Percent `yaml:"gain,required"` // that it must have
}

// tests are the values of [Limit.Test].
var tests = []string{"one-sided", "two-sided"}

// limits complains about limits that cannot be meant.
func (d *decoder) limits(s *Suite) {
	for i, l := range s.Limits {
		path := fmt.Sprintf("limits[%d]", i)
		complain := func(path, format string, args ...any) {
			d.errs = append(d.errs, s.Errorf(path, format, args...))
		}
		switch {
		case l.Change == nil && l.Noise == nil && l.Min == nil && l.Max == nil && l.Test == "" && l.Trade == nil:
			complain(path, "limits nothing: add change, noise, min, max, test or trade")
		case l.Test != "" && !slices.Contains(tests, l.Test):
			complain(path+".test", "unknown value %q: write %s", l.Test, strings.Join(tests, " or "))
		case l.Change != nil && *l.Change == 0:
			complain(path+".change", "0%% is not a limit that noise allows: write a percentage above 0%%, or exact: true in the metric")
		case l.Min != nil && l.Max != nil && *l.Min > *l.Max:
			complain(path+".min", "%v is above max %v: swap them or correct one", *l.Min, *l.Max)
		}
		if n := l.Noise; n != nil {
			switch {
			case l.Change != nil:
				complain(path+".noise", "excludes change: remove one of the two")
			case n.Floor == 0:
				complain(path+".noise.floor", "0%% is not a limit that noise allows: write a percentage above 0%%")
			case n.Ceiling < n.Floor:
				complain(path+".noise.ceiling", "%v is below floor %v: swap them or correct one", n.Ceiling, n.Floor)
			}
		}
		if t := l.Trade; t != nil {
			switch {
			case t.Loss == 0:
				complain(path+".trade.loss", "a loss of 0%% needs no trade: write a percentage above 0%%, or remove trade")
			case t.Gain == 0:
				complain(path+".trade.gain", "a gain of 0%% pays for nothing: write a percentage above 0%%")
			case t.For == l.Metric:
				complain(path+".trade.for", "%s cannot pay for its own loss: name another metric of the suite", quote(t.For))
			case l.Change != nil && *l.Change >= t.Loss:
				complain(
					path+".trade.loss",
					"%v passes without a trade, by change: %v; write a larger loss, or remove trade",
					t.Loss,
					*l.Change,
				)
			}
		}
		if l.When != nil && len(l.When) == 0 {
			complain(path+".when", emptyWhen)
		}
	}
}
