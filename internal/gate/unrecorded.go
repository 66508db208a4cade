package gate

import (
	"fmt"

	"github.com/accelgate/accelgate/internal/bench"
)

// unrecorded is the verdict on a number that the baseline lacks. Nothing asks for one that
// no baseline records.
func unrecorded(in *inputs, m *described, c cell, new *bench.Sample) Verdict {
	v := Verdict{Finding: Untracked, New: new.Median(),
		Reason: fmt.Sprintf("the baseline does not have %s for this cell", m.Name)}
	if why := in.run.NoReference(m.Name, v.New); why != "" {
		v.Finding, v.DecidedBy, v.Reason = Incomparable, ByCorrectOutput, why
	} else if why := m.reliability(c.got); why != "" {
		v.Finding, v.DecidedBy, v.Reason = Incomparable, ByRepeats, fmt.Sprintf("no baseline records %s: %s", m.Name, why)
		if m.IsResource() { // too small to be measured
			v.Finding, v.DecidedBy = Skipped, Certain
		}
	}
	return v
}

// onlyBounded reports whether bounds judge a number that no baseline records.
func (in *inputs) onlyBounded(c cell, metric string) bool {
	l := in.limits.of(c.id, metric)
	return (l.min != nil || l.max != nil) && in.run.NoReference(metric, c.got.Sample(metric).Median()) != ""
}

// unrecordable returns why the baseline has every cell that passed and none was judged; "" if
// a new baseline can change that.
func unrecordable(in *inputs) string {
	for _, c := range in.cells {
		if c.got.Outcome != bench.Passed {
			continue
		}
		if c.ref == nil || c.ref.Outcome != bench.Passed {
			return ""
		}
		for i := range c.got.Samples {
			s := &c.got.Samples[i]
			if why := in.run.NoReference(s.Metric, s.Median()); why != "" {
				return why
			}
		}
	}
	return ""
}
