package action

import (
	"fmt"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/github/actions"
	"github.com/accelgate/accelgate/internal/judge"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/text"
)

// show writes what the runner shows: log, summary, outputs, annotations.
func (a *action) show(g collected, j judge.Judged) error {
	if err := judge.Render(a.Env, a.Stdout, "terminal", j); err != nil {
		return err
	}
	const summaryBytes = 900_000 // of the 1 MiB that GitHub takes
	md, err := judge.Rendered(report.MarkdownLimit(summaryBytes), j.Report)
	if err != nil {
		return err
	}
	md = a.token.Hide(md)
	path, err := a.saveReport(g, "report.md", md)
	if err != nil {
		return err
	}
	if err := a.saveJSON(g, j); err != nil {
		return err
	}
	if err := a.saveHTML(g, j); err != nil {
		return err
	}
	_, err = a.gh.Summary(md)
	a.warn(err)
	a.output("report", path)
	a.output("verdict", string(j.Decision.Status))
	a.annotateFindings(j)
	return nil
}

// saveHTML writes the report as a page, with the folder of cells that it loads. Where the folder cannot be written, the page
// counts the cells that it has no room for.
func (a *action) saveHTML(g collected, j judge.Judged) error {
	path := a.in.options.OutPath(g.file, "report.html")
	cells, err := judge.WritePage(path, j.Report, a.token.Hide)
	if err != nil {
		a.warn(err)
		page, err := judge.Rendered(report.HTML, j.Report)
		if err != nil {
			return err
		}
		if _, err = a.saveReport(g, "report.html", a.token.Hide(page)); err != nil {
			return err
		}
	}
	a.output("html", path)
	if cells != "" {
		a.output("html-cells", cells)
	}
	return nil
}

// maxAnnotations of a level are shown: GitHub shows ten.
const maxAnnotations = 9

// annotateFindings puts the worst findings where GitHub shows them first, and
// the number of those that block and are not among them.
func (a *action) annotateFindings(j judge.Judged) {
	issue := map[report.Severity]func(actions.Annotation) error{
		report.Error: a.gh.Error, report.Warning: a.gh.Warning, report.Notice: a.gh.Notice}
	blocking, shown := 0, map[report.Severity]int{}
	for _, n := range j.Decision.Blocking {
		blocking += n
	}
	for _, f := range j.Report.Findings(maxAnnotations) {
		level := f.Severity()
		if shown[level]++; shown[level] > maxAnnotations {
			continue
		}
		if f.Blocks {
			blocking -= f.Verdicts
		}
		where := slices.DeleteFunc([]string{f.Host, f.Cell, f.Metric}, func(s string) bool { return s == "" })
		a.annotate(issue[level], strings.Join(where, " "), f.Message)
	}
	if blocking > 0 {
		a.annotate(a.gh.Error, fmt.Sprintf("and %d more", blocking), "the summary of this job lists the worst, the JSON report all")
	}
}

func (a *action) annotate(issue func(actions.Annotation) error, title, message string) {
	a.warn(issue(actions.Annotation{Title: a.token.Hide(title), Message: a.token.Hide(message)}))
}

// output sets an output of the step.
func (a *action) output(name, value string) { a.warn(a.gh.SetOutput(name, a.token.Hide(value))) }

// warn reports what could not be delivered; it never changes the outcome.
func (a *action) warn(err error) {
	if err != nil {
		fmt.Fprintf(a.Stderr, "accelgate: warning: %s\n", text.OneLine(err.Error()))
	}
}
