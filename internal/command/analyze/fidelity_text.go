package analyze

import (
	"fmt"
	"io"
	"strings"

	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/suite/analysis/lowrank"
	"github.com/accelgate/accelgate/internal/text"
)

// fidelityText renders what became of a checkpoint, in one format or several, as
// plain text: a table of the formats, then what is wrong, then the worst
// parameters of the last one.
func fidelityText(w io.Writer, model string, reports []lowrank.Report) error {
	var t report.Text
	last := reports[len(reports)-1]
	t.Line(report.Plain("Fidelity of "), report.Code(model),
		report.Plain(fmt.Sprintf(": %s, tolerance %g", text.Plural(last.Summary.Total, "parameter"), last.Settings.Tolerance)))
	t.Line(targets(last.Settings)...)
	fidelityTable(&t, reports)
	t.Section("Failed")
	t.List(fidelityFaults(reports))
	t.Section("Worst parameters of the last line")
	worstParameters(&t, last)
	if n := len(last.Skipped); n > 0 {
		t.Section("")
		t.Line(report.Plain(text.Plural(n, "target")+" not decomposed: "), report.Foreign(last.Skipped[0].Reason))
	}
	return t.Terminal(w, 170)
}

// targets returns which weights were looked at.
func targets(s lowrank.Settings) report.Line {
	if len(s.Patterns) > 0 {
		return report.Line{report.Plain("weights with "), report.Code(strings.Join(s.Patterns, ", "))}
	}
	family, patterns := lowrank.Family(s.Model)
	return report.Line{
		report.Plain("weights of the family "),
		report.Code(family),
		report.Plain(": "),
		report.Code(strings.Join(patterns, ", ")),
	}
}

func fidelityTable(t *report.Text, reports []lowrank.Report) {
	var rows [][]report.Line
	for _, r := range reports {
		s := r.Summary
		row := []report.Line{{report.Code(string(r.Settings.Compute))}, {report.Code(string(r.Settings.Storage))}}
		for _, text := range []string{fmt.Sprint(s.Identical), fmt.Sprint(s.Close), fmt.Sprint(s.Different),
			fmt.Sprint(s.Failed), fmt.Sprintf("%.1f %%", s.SuccessRate),
			fmt.Sprintf("%.2e", s.Relative), fmt.Sprintf("%.2e", s.Max), fmt.Sprintf("%.2e", s.Mean), fmt.Sprintf("%.2e", s.RMS),
			fmt.Sprintf("%.2e", s.LegacyAverage), fmt.Sprintf("%.1e", s.Deviation), fmt.Sprintf("%.1e", s.Degrees)} {
			row = append(row, report.Line{report.Plain(text)})
		}
		rows = append(rows, row)
	}
	t.Table(
		[]string{
			"Computed", "Stored", "Identical>", "Close>", "Different>", "Failed>", "Success>", "Rel. Frobenius>", "Max>",
			"Mean>", "RMS>", "Legacy average>", "|UtU-I|>", "Degrees>",
		},
		rows,
		len(rows),
	)
}

func fidelityFaults(reports []lowrank.Report) (items []report.Line) {
	const maximum = 20
	n := 0
	for _, r := range reports {
		formats := string(r.Settings.Compute) + "/" + string(r.Settings.Storage)
		for _, p := range r.Parameters {
			for _, f := range p.Faults {
				if n++; n <= maximum {
					items = append(items, report.Line{
						report.Code(p.Name),
						report.Plain(" in "),
						report.Code(formats),
						report.Plain(": " + string(f.Kind) + ": "),
						report.Foreign(f.Detail),
					})
				}
			}
		}
	}
	if n > maximum {
		items = append(items, report.Line{report.Plain(fmt.Sprintf("and %d more; --format json has all", n-maximum))})
	}
	return items
}

func worstParameters(t *report.Text, r lowrank.Report) {
	const maximum = 5
	worst := r.Worst()
	if len(worst) == 0 {
		return
	}
	var rows [][]report.Line
	for _, p := range worst[:min(maximum, len(worst))] {
		rows = append(rows, []report.Line{
			{report.Code(p.Name)}, {report.Plain(fmt.Sprint(p.Shape))}, {report.Plain(string(p.Status))},
			{report.Plain(fmt.Sprintf("%.2e", p.Difference.Max))},
			{report.Plain(fmt.Sprintf("%.2e", p.Difference.Relative))}, {report.Plain(fmt.Sprintf("%.2e", p.Bound))},
		})
	}
	t.Table([]string{"Parameter~", "Shape", "Status", "Max>", "Rel. Frobenius>", "Bound>"}, rows, len(worst))
}
