package config

import (
	"fmt"
	"slices"
	"strings"
)

// Limit is an entry of the limits of a suite. Entries for the same cells all hold, and one for other cells replaces, value by
// value, what earlier ones limit there. A nil value limits nothing.
type Limit struct {
	Metric string `yaml:"metric,required"`
	// When selects cells: each key names an axis, a swept variable, "host", "event" or "profile", and each
	// value is a glob. Empty selects every cell on every host.
	When map[string]string `yaml:"when"`
	// Change is the change for the worse that blocks where the policy's threshold would.
	Change *Change `yaml:"change"`
	// Mean is the change for the worse of the geometric mean over the cells that blocks.
	Mean *Percent `yaml:"mean"`
	// Min and Max bound the median, in the metric's unit.
	Min *Bound `yaml:"min"`
	Max *Bound `yaml:"max"`
	// Test compares the metric by its standard errors: one of [Tests], or "" for none.
	Test string `yaml:"test"`
	// Trade lets a larger loss pass that the gain of another metric pays for; nil is none.
	Trade *Trade `yaml:"trade"`
	// Level is when the entry blocks; "" leaves that to the levels of suite and policy.
	Level string `yaml:"level" oneof:"advisory required"`
}

// Trade is a loss of the metric of a [Limit] that passes if another metric of the cell gains.
type Trade struct {
	Loss Percent `yaml:"loss,required"` // that may pass
	For  string  `yaml:"for,required"`  // the metric that pays
	Gain Percent `yaml:"gain,required"` // that it must have
}

// tests are the values of [Limit.Test].
var tests = []string{"one-sided", "two-sided"}

// limits complains about limits that cannot be meant. medians: they decide.
func (d *decoder) limits(s *Suite, medians bool) {
	for i, l := range s.Limits {
		path := fmt.Sprintf("limits[%d]", i)
		complain := func(path, format string, args ...any) {
			d.errs = append(d.errs, s.Errorf(path, format, args...))
		}
		switch {
		case l.Change == nil && l.Mean == nil && l.Min == nil && l.Max == nil && l.Test == "" && l.Trade == nil:
			complain(path, "limits nothing: add change, mean, min, max, test or trade")
		case l.Change != nil && l.Change.problem(medians) != "":
			complain(path+".change", "%s", l.Change.problem(medians))
		case l.Test != "" && !slices.Contains(tests, l.Test):
			complain(path+".test", "unknown value %q: write %s", l.Test, strings.Join(tests, " or "))
		case l.Test != "" && l.Change != nil && (l.Change.Absolute > 0 || l.Change.Floor > 0 || l.Change.Both):
			complain(path+".change", "test goes with a percentage alone, as in 1%%: test: two-sided limits both directions")
		case l.Mean != nil && *l.Mean == 0:
			complain(path+".mean", "0%% is no limit that noise allows: write a percentage above 0%%")
		case l.Min != nil && l.Max != nil && l.Min.Value > l.Max.Value:
			complain(path+".min", "%v is above max %v: swap them or correct one", l.Min.Value, l.Max.Value)
		case l.Level == "advisory" && (l.Trade != nil || l.Test != ""):
			complain(path+".level", "an advisory entry has change, mean, min or max: give trade and test an entry of their own")
		}
		if t := l.Trade; t != nil {
			switch {
			case t.Loss == 0:
				complain(path+".trade.loss", "a loss of 0%% needs no trade: write a percentage above 0%%, or remove trade")
			case t.Gain == 0:
				complain(path+".trade.gain", "a gain of 0%% pays for nothing: write a percentage above 0%%")
			case t.For == l.Metric:
				complain(path+".trade.for", "%s cannot pay for its own loss: name another metric of the suite", quote(t.For))
			case l.Change != nil && l.Change.Absolute == 0 && l.Change.Percent >= t.Loss:
				complain(path+".trade.loss", "%v passes without a trade, by change: %v; write a larger loss, or remove trade", t.Loss,
					l.Change)
			}
		}
		if event, ok := l.When["event"]; ok && !slices.Contains(events, event) {
			complain(path+".when.event", "unknown value %q: write %s", event, strings.Join(events, ", "))
		}
		if l.When != nil && len(l.When) == 0 {
			complain(path+".when", emptyWhen)
		}
	}
}

const emptyWhen = "is empty: name an axis, a swept variable or host, or remove it"
