package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/accelgate/accelgate/internal/suite/analysis/lowrank"
	"github.com/accelgate/accelgate/internal/text"
)

// Fidelity renders what became of a checkpoint, in one format or several, as
// plain text: a table of the formats, then what is wrong, then the worst
// parameters of the last one.
func Fidelity(w io.Writer, model string, reports []lowrank.Report) error {
	p := printer{w: bufio.NewWriter(w), options: TerminalOptions{Columns: 170}}
	last := reports[len(reports)-1]
	p.line(inline{plain("Fidelity of "), code(model), plain(fmt.Sprintf(": %s, tolerance %g", text.Plural(last.Summary.Total, "parameter"), last.Settings.Tolerance))}.String())
	p.line(targets(last.Settings).String())
	p.blocks([]block{fidelityTable(reports)})
	p.section("Failed", fidelityFaults(reports))
	p.section("Worst parameters of the last line", worstParameters(last))
	if n := len(last.Skipped); n > 0 {
		p.line("")
		p.line(fmt.Sprintf("%s not decomposed: %s", text.Plural(n, "target"), visible(shorten(last.Skipped[0].Reason, maxReason))))
	}
	return p.w.Flush()
}

// targets says which weights were looked at.
func targets(s lowrank.Settings) inline {
	if len(s.Patterns) > 0 {
		return inline{plain("weights with "), code(strings.Join(s.Patterns, ", "))}
	}
	family, patterns := lowrank.Family(s.Model)
	return inline{plain("weights of the family "), code(family), plain(": "), code(strings.Join(patterns, ", "))}
}

func fidelityTable(reports []lowrank.Report) block {
	t := &table{columns: columns("Computed", "Stored", "Identical>", "Close>", "Different>", "Failed>", "Success>", "Rel. Frobenius>", "Max>", "Mean>", "RMS>", "Legacy average>", "|UtU-I|>", "Degrees>")}
	for _, r := range reports {
		s := r.Summary
		row := []inline{only(code(string(r.Settings.Compute))), only(code(string(r.Settings.Storage)))}
		for _, text := range []string{fmt.Sprint(s.Identical), fmt.Sprint(s.Close), fmt.Sprint(s.Different), fmt.Sprint(s.Failed), fmt.Sprintf("%.1f %%", s.SuccessRate),
			fmt.Sprintf("%.2e", s.Relative), fmt.Sprintf("%.2e", s.Max), fmt.Sprintf("%.2e", s.Mean), fmt.Sprintf("%.2e", s.RMS), fmt.Sprintf("%.2e", s.LegacyAverage), fmt.Sprintf("%.1e", s.Deviation), fmt.Sprintf("%.1e", s.Degrees)} {
			row = append(row, only(plain(text)))
		}
		t.rows = append(t.rows, row)
	}
	t.total = len(t.rows)
	return t
}

func fidelityFaults(reports []lowrank.Report) []block {
	const most = 20
	var items bullets
	n := 0
	for _, r := range reports {
		formats := string(r.Settings.Compute) + "/" + string(r.Settings.Storage)
		for _, p := range r.Parameters {
			for _, f := range p.Faults {
				if n++; n <= most {
					items = append(items, inline{code(p.Name), plain(" in "), code(formats), plain(": " + string(f.Kind) + ": "), reason(f.Detail)})
				}
			}
		}
	}
	if n > most {
		items = append(items, only(plain(fmt.Sprintf("and %d more; --format json has all", n-most))))
	}
	if items == nil {
		return nil
	}
	return []block{items}
}

func worstParameters(r lowrank.Report) []block {
	const most = 5
	worst := r.Worst()
	if len(worst) == 0 {
		return nil
	}
	t := &table{columns: columns("Parameter~", "Shape", "Status", "Max>", "Rel. Frobenius>", "Bound>"), total: len(worst)}
	for _, p := range worst[:min(most, len(worst))] {
		t.rows = append(t.rows, []inline{only(code(p.Name)), only(plain(fmt.Sprint(p.Shape))), only(plain(string(p.Status))),
			only(plain(fmt.Sprintf("%.2e", p.Difference.Max))), only(plain(fmt.Sprintf("%.2e", p.Difference.Relative))), only(plain(fmt.Sprintf("%.2e", p.Bound)))})
	}
	return []block{t}
}
