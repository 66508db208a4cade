package gate

import (
	"cmp"
	"fmt"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/text"
)

// Spread is what an amount of a [Change] is a multiple of, in place of the metric's unit.
type Spread string

// The spreads. A reported standard error that is less than what 3 or more earlier runs differ by is replaced by that.
const (
	SpreadSD     Spread = "sd"     // the standard deviation of earlier runs
	SpreadMAD    Spread = "mad"    // the median distance of earlier runs from their median
	SpreadStdErr Spread = "stderr" // the standard error that the baseline, or else the run, reports
)

// minSpread is how many earlier runs show by what runs differ.
const minSpread = 5

// amount is what a change allows in the metric's unit. unknown is why that is not known, "" if it is.
func (in *inputs) amount(of *Change, c cell, metric string, recorded *bench.Sample) (amount float64, unknown string) {
	if of.Spread == "" {
		return of.Absolute, ""
	}
	runs := recorded.LevelMedians()
	runs = runs[max(0, len(runs)-cmp.Or(in.policy.Runs, len(runs))):]
	switch {
	case of.Spread == SpreadStdErr:
		reported, ok := stdErrOf(recorded, c.got.Sample(metric))
		if !ok {
			return 0, noStdErr(metric)
		}
		if len(runs) >= minRuns {
			reported = max(reported, stats.SD(runs))
		}
		return of.Absolute * reported, ""
	case len(runs) < minSpread:
		return 0, fmt.Sprintf("%s needs %d earlier runs, and there are %d", of.Text, minSpread, len(runs))
	case of.Spread == SpreadMAD:
		return of.Absolute * stats.MAD(runs), ""
	}
	return of.Absolute * stats.SD(runs), ""
}

// stdErrOf is the first standard error that samples have.
func stdErrOf(samples ...*bench.Sample) (stderr float64, ok bool) {
	for _, s := range samples {
		if s == nil {
			continue
		}
		if stderr, ok := s.ScoreErr(); ok {
			return stderr, true
		}
	}
	return 0, false
}

func noStdErr(metric string) string {
	return "the program reports no standard error of " + text.Visible(metric, maxName) +
		": name it with stderr in the metric, or use min, max or exact"
}

// withoutLimit is the verdict on a number whose limit is not known, as without enough earlier runs; ok is false for others.
func (in *inputs) withoutLimit(m *described, c cell) (v Verdict, ok bool) {
	if !in.hasNoLimit(m, c) {
		return v, false
	}
	a := in.limits.of(c.id, m.Name).allowed
	v = Verdict{Old: in.sizeOf(c, m.Name), New: c.got.Sample(m.Name).Median()}
	if a.by.Spread == SpreadStdErr {
		v.Finding, v.Reason = Missing, a.unknown
		return v, true
	}
	v.Finding = Unchanged
	v.undecide(ByNextRun, a.unknown)
	return v, true
}

// hasNoLimit reports whether the limit of a number is not known.
func (in *inputs) hasNoLimit(m *described, c cell) bool {
	a := in.limits.of(c.id, m.Name).allowed
	return a != nil && a.unknown != ""
}
