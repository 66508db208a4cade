package kernels

import (
	"fmt"
	"io"
	"strings"

	"github.com/accelgate/accelgate/internal/suite/kernels/evaluator"
	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/text/terminal"
)

// Judged is a verdict on saved outputs as JSON.
type Judged struct {
	Status  evaluator.Status `json:"status"`
	Outputs []judgedOutput   `json:"outputs"`
}

// judgedOutput has null for the errors of an output that could not be
// compared, and for the worst index of one that is equal.
type judgedOutput struct {
	Name             string              `json:"name"`
	MaxAbsoluteError *evaluator.Number   `json:"max_absolute_error"`
	MaxRelativeError *evaluator.Number   `json:"max_relative_error"`
	MatchedRatio     float64             `json:"matched_ratio"`
	WorstIndex       []int               `json:"worst_index"`
	NonFinite        evaluator.NonFinite `json:"nonfinite"`
}

// JudgedJSON returns the document of a verdict.
func JudgedJSON(r evaluator.Result) Judged {
	all := Judged{Status: r.Status, Outputs: []judgedOutput{}}
	for _, o := range r.Outputs {
		out := judgedOutput{Name: o.Name, MatchedRatio: o.MatchedRatio, WorstIndex: o.WorstIndex, NonFinite: o.NonFinite}
		if wasCompared(o) {
			out.MaxAbsoluteError, out.MaxRelativeError = &o.MaxAbsoluteError, &o.MaxRelativeError
		}
		all.Outputs = append(all.Outputs, out)
	}
	return all
}

// wasCompared reports whether an output has the shape and format that make it comparable.
func wasCompared(o evaluator.OutputResult) bool {
	return o.Status == evaluator.Passed || o.Status == evaluator.IncorrectNumerical
}

// PrintJudged writes a line with the verdict, a table of the outputs, and why it is not PASSED.
func PrintJudged(w io.Writer, columns int, verdict string, r evaluator.Result) error {
	t := terminal.NewTable(w, columns)
	fmt.Fprintf(t, "%s\noutput\tstatus\tmatched\tmax abs error\tmax rel error\tworst index\tNaN, inf: reference\tcandidate\n",
		text.Clean(verdict))
	for _, o := range r.Outputs {
		errs := "-\t-"
		if wasCompared(o) {
			errs = fmt.Sprintf("%.4g\t%.4g", float64(o.MaxAbsoluteError), float64(o.MaxRelativeError))
		}
		worst := "-"
		if o.WorstIndex != nil {
			worst = fmt.Sprint(o.WorstIndex)
		}
		n := o.NonFinite
		fmt.Fprintf(t, "%s\t%s\t%.6g %%\t%s\t%s\t%d, %d\t%d, %d\n", text.OneLine(o.Name), o.Status, 100*o.MatchedRatio, errs, worst,
			n.ReferenceNaN, n.ReferenceInf, n.CandidateNaN, n.CandidateInf)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for line := range strings.Lines(r.Log) {
		if _, err := fmt.Fprintln(w, text.Clean(strings.TrimSuffix(line, "\n"))); err != nil {
			return err
		}
	}
	return nil
}

// LeftOut returns which definitions have no solution of the baseline's author.
func LeftOut(definitions []string, author string) string {
	const maximum = 8
	var names []string
	for _, d := range definitions[:min(len(definitions), maximum)] {
		names = append(names, text.OneLine(d))
	}
	more := ""
	if len(definitions) > maximum {
		more = fmt.Sprintf(" and %d more", len(definitions)-maximum)
	}
	return fmt.Sprintf("note: without a solution of the author %s, left out: %s%s", text.OneLine(author), strings.Join(names, ", "), more)
}

// PrintScores prints authors with the fastest first, and solutions in the dataset's
// order.
func PrintScores(w io.Writer, columns int, ds *flashinfer.Dataset, s flashinfer.Summary) error {
	t := terminal.NewTable(w, columns)
	fmt.Fprintf(t, "\nauthor\tspeedup\twin rate\tsuccess rate\tdefinitions\tworkloads\n")
	for _, a := range s.Authors {
		fmt.Fprintf(t, "%s\t%.3f\t%.1f %%\t%.1f %%\t%d\t%d\n", text.OneLine(a.Name), a.Speedup, 100*a.WinRate, 100*a.SuccessRate,
			a.Definitions, a.Workloads)
	}
	fmt.Fprintf(t, "\nsolution\tauthor\tdefinition\tspeedup\twin rate\tworkloads\n")
	for _, x := range s.Solutions {
		of := ds.Solution(x.Name)
		failed := ""
		if x.SuccessRate == 0 {
			failed = "\thas failed traces"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%.3f\t%.1f %%\t%d%s\n",
			text.OneLine(x.Name), text.OneLine(of.Author), text.OneLine(of.Definition), x.Speedup, 100*x.WinRate, x.Workloads, failed)
	}
	return t.Flush()
}
