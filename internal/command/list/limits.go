package list

import (
	"fmt"
	"io"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/text/terminal"
)

// LimitsOf lists what limits the metrics of the plan's cells on its host. ref is the baseline of
// the host with its history, nil where there is none.
func LimitsOf(p *measure.Plan, ref *bench.Run) []gate.CellLimit {
	run := &bench.Run{Schema: bench.RunSchema, Host: p.Host, Metrics: p.Metrics}
	for _, s := range p.Suites {
		for _, c := range s.Cells {
			run.Results = append(run.Results, bench.Result{Cell: c, Outcome: bench.Passed})
		}
	}
	return gate.CellLimits(ref, run, p.Policy)
}

// PrintLimits writes limits as a table for a terminal of so many columns, 0 for a file.
func PrintLimits(w io.Writer, columns int, limits []gate.CellLimit) error {
	t := terminal.NewTable(w, columns)
	fmt.Fprintf(t, "cell\tmetric\tlimit\tthreshold\tfrom\tmin\tmax\tmore\n")
	for i := range limits {
		l := &limits[i]
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", text.OneLine(l.Cell), text.OneLine(l.Metric), change(l, l.Limit),
			change(l, l.Threshold), origin(l), bound(l.Min), bound(l.Max), more(l))
	}
	return t.Flush()
}

func change(l *gate.CellLimit, percent float64) string {
	if percent == 0 && !l.Own {
		return "-"
	}
	return fmt.Sprintf("%.4g %%", percent)
}

// origin returns where the limit of a change comes from.
func origin(l *gate.CellLimit) string {
	switch d := l.Derived; {
	case d != nil && d.Noise == 0:
		return fmt.Sprintf("ceiling, %s", text.Plural(d.Runs, "run"))
	case d != nil:
		return fmt.Sprintf("noise %.2g %% of %s", d.Noise, text.Plural(d.Runs, "run"))
	case strings.ContainsAny(l.Change, " +"):
		return text.OneLine(l.Change)
	case l.Own:
		return "limit"
	case l.Limit == 0:
		return "-"
	}
	return "policy"
}

func bound(x *float64) string {
	if x == nil {
		return "-"
	}
	return fmt.Sprint(*x)
}

func more(l *gate.CellLimit) string {
	var parts []string
	if l.Test != "" {
		parts = append(parts, l.Test+" test")
	}
	if t := l.Trade; t != nil {
		parts = append(parts, fmt.Sprintf("%.4g %% for %.4g %% of %s", t.Loss, t.Gain, text.OneLine(t.For)))
	}
	if l.Required != "" {
		parts = append(parts, "required: "+text.OneLine(l.Required))
	}
	if l.Advisory != "" {
		parts = append(parts, "advisory: "+text.OneLine(l.Advisory))
	}
	return or(strings.Join(parts, ", "))
}
