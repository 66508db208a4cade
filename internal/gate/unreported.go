package gate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
)

// unreported blocks a cell that passed without a metric that its suite gates: a
// typo in the configuration would otherwise judge nothing. The verdicts on the cell
// start at first, and the new ones follow them. TensorSharp does not look.
func (c *comparer) unreported(got *bench.Result, first int) {
	if got.Outcome != bench.Passed || c.policy.Compat == CompatTensorSharp {
		return
	}
	id := got.Cell.ID()
	for _, a := range got.Absent {
		shown := slices.ContainsFunc(c.metrics, func(m described) bool { return m.Name == a.Metric && m.Informational && m.contradiction == "" })
		if shown || got.Sample(a.Metric) != nil {
			continue
		}
		why := explainAbsent(a, got.Keys)
		verdicts := c.out.Verdicts[first:]
		if i := slices.IndexFunc(verdicts, func(v Verdict) bool { return v.Metric == a.Metric && v.Class == Missing }); i >= 0 {
			verdicts[i].Reason = joined(verdicts[i].Reason, why)
			continue
		}
		c.add(Verdict{Cell: id, Metric: a.Metric, Class: Missing, Level: Fail, Reason: why})
	}
}

// explainAbsent says where a metric was looked for, and what there is instead.
func explainAbsent(a bench.Absent, keys []string) string {
	const most = 10
	why := "no value of " + printable(a.Metric, mostName) + " in the output"
	if a.At != "" {
		why += " (" + printable(a.At, mostName) + ")"
	}
	if a.Near != "" {
		why += ", did you mean " + printable(a.Near, mostName) + "?"
	}
	switch {
	case len(keys) > most:
		why += fmt.Sprintf("; the output holds %s and %d more", printable(strings.Join(keys[:most], ", "), 2*mostLine), len(keys)-most)
	case len(keys) > 0:
		why += "; the output holds " + printable(strings.Join(keys, ", "), 2*mostLine)
	}
	return why + ": correct the metric in the configuration, or declare it with optional: true or when"
}
