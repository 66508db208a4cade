package export

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/text"
)

// family is a metric family: a gauge, which readers of Prometheus' older text format
// know as well.
type family struct {
	name, help string
	of         func(*number) (value float64, ok bool)
}

var families = []family{
	{
		"accelgate_median",
		"Median of a metric of a cell, in the unit of the label unit.",
		func(n *number) (float64, bool) { return n.median, true },
	},
	{
		"accelgate_mad",
		"Median absolute deviation of the values, in the same unit.",
		func(n *number) (float64, bool) { return n.mad, n.count > 1 },
	},
	{"accelgate_values", "Number of values, each of one process.", func(n *number) (float64, bool) { return float64(n.count), true }},
}

// OpenMetrics writes text of OpenMetrics 1.0. Names of cells and metrics are values of
// labels, so that the names of the families are always these. Samples have no time: the
// collector's is what it stores.
func OpenMetrics(w io.Writer, run *bench.Run) error {
	if len(run.Results) == 0 {
		return ErrNothing
	}
	out := bufio.NewWriter(w)
	host := attribute("host", run.Host.Label)
	describe(out, "accelgate_run", "The run, with its commit.")
	fmt.Fprintf(out, "accelgate_run{%s,%s,%s} 1\n", host, attribute("revision", run.Revision), attribute("tool", run.Tool))
	if !run.Started.IsZero() {
		describe(out, "accelgate_run_started_timestamp_seconds", "When the run began.")
		fmt.Fprintf(out, "accelgate_run_started_timestamp_seconds{%s} %d\n", host, run.Started.Unix())
	}
	describe(out, "accelgate_cell_passed", "1 if the cell passed, else 0.")
	for i := range run.Results {
		r := &run.Results[i]
		fmt.Fprintf(out, "accelgate_cell_passed{%s,%s,%s} %d\n", host, cellLabels(&r.Cell), attribute("outcome", string(r.Outcome)),
			passed(r))
	}
	for _, f := range families {
		describe(out, f.name, f.help)
		for n := range numbers(run) {
			if value, ok := f.of(&n); ok {
				fmt.Fprintf(out, "%s{%s,%s,%s,%s,%s} %s\n", f.name, host, cellLabels(&n.result.Cell),
					attribute("metric", name(n.metric.Name, bench.MaxID)), attribute("unit", n.metric.Unit),
					attribute("better", string(n.metric.Better)), format(value))
			}
		}
	}
	out.WriteString("# EOF\n")
	return out.Flush()
}

func describe(w io.Writer, name, help string) {
	fmt.Fprintf(w, "# TYPE %s gauge\n# HELP %s %s\n", name, name, help)
}

func cellLabels(c *bench.Cell) string {
	return attribute("suite", c.Suite) + "," + attribute("cell", cellName(c))
}

var escapeLabel = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

func attribute(name, value string) string {
	return name + `="` + escapeLabel.Replace(text.Clean(value)) + `"`
}

func passed(r *bench.Result) int {
	if r.Outcome == bench.Passed {
		return 1
	}
	return 0
}
