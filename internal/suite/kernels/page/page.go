// Package page draws the traces of a dataset as one HTML page: how much faster
// authors are than the baseline, how often, the latency of each workload, and what
// became of each case. The page needs no network and has no script.
package page

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"

	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/report/chart"
	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
	"github.com/accelgate/accelgate/internal/text"
)

//go:embed page.html
var source string

//go:embed page.css
var style string

// The bounds of a page. Authors and solutions are the fastest, workloads the
// smallest; the page says how many more there are.
const (
	maxAuthors   = 200
	maxSolutions = 10
	maxWorkloads = 60
	maxSections  = 400
)

var layout = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"count": text.Plural, "name": text.OneLine, "percent": func(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) },
		"ratio": func(x float64) string { return fmt.Sprintf("%.3g x", x) }, "ms": func(x float64) string { return fmt.Sprintf("%.4g", x) },
	}).Parse(source))
})

// document is what the template gets.
type document struct {
	Title, Tool  string
	Style        template.CSS
	Passed       int
	Total        int
	Over         string // what ratios are relative to
	LeftOut      []string
	Statuses     []string
	Authors      []*author
	MoreAuthors  int
	Wins         template.HTML
	Sections     []*section
	MoreSections int
}

// HTML writes the page of a dataset's traces. Ratios are over the solutions of the
// author baseline; without any trace of that author they are over the definitions'
// references. The last trace of a case counts, and devices are apart.
func HTML(w io.Writer, ds *flashinfer.Dataset, baseline, tool string) error {
	b := newBoard(ds, baseline)
	d := document{
		Title:   text.OneLine(ds.Root),
		Tool:    tool,
		Style:   template.CSS(report.Style + style),
		Total:   len(ds.Traces),
		Over:    b.over(),
		LeftOut: b.leftOut,
	}
	for _, t := range ds.Traces {
		if t.Evaluation.Status == flashinfer.Passed {
			d.Passed++
		}
	}
	d.Statuses, d.Authors = b.statuses(), b.ranked()
	d.Wins = b.wins(d.Authors)
	if more := len(d.Authors) - maxAuthors; more > 0 {
		d.Authors, d.MoreAuthors = d.Authors[:maxAuthors], more
	}
	d.Sections = b.sections
	if more := len(d.Sections) - maxSections; more > 0 {
		d.Sections, d.MoreSections = d.Sections[:maxSections], more
	}
	return layout().Execute(w, d)
}

// drawing marks what package chart drew, which escapes all names, as markup.
func drawing(svg string) template.HTML { return template.HTML(svg) }

// wins draws, for each author, the share of workloads that are more than p times as
// fast as what they are compared with.
func (b *board) wins(authors []*author) template.HTML {
	c := chart.Curves{X: "p", Y: "share above p", LogX: true}
	for _, a := range authors {
		if curve := a.curve(); len(c.Curves) < chart.MaxCurves && len(curve.X) > 0 {
			c.Curves = append(c.Curves, curve)
		}
	}
	return drawing(c.SVG())
}

// Speedups draws the ratios of each solution, a dot a workload.
func (s *section) Speedups() template.HTML {
	var groups []chart.Group
	for _, column := range s.Columns {
		if len(column.ratios) > 0 {
			groups = append(groups, chart.Group{Name: column.label(), Class: "head", Values: column.ratios})
		}
	}
	return drawing(chart.Strip(groups, "x"))
}

// Latencies draws the latency of each solution over the workloads, the smallest first.
func (s *section) Latencies() template.HTML {
	c := chart.Curves{X: "workload, by size", Y: "ms", LogY: true, Dots: true}
	for i, column := range s.Columns {
		curve := chart.Curve{Name: column.label()}
		for k, row := range s.Rows {
			if v := row.Cells[i]; v.Passed {
				curve.X, curve.Y = append(curve.X, float64(k+1)), append(curve.Y, v.MS)
			}
		}
		c.Curves = append(c.Curves, curve)
	}
	return drawing(c.SVG())
}

// label is a solution and its author.
func (c *column) label() string {
	if c.Author == "" {
		return text.OneLine(c.Name)
	}
	return text.OneLine(c.Name) + ", " + text.OneLine(c.Author)
}

// Axes are the sizes of a workload in one line.
func (r *row) Axes() string {
	var parts []string
	for _, name := range r.names {
		parts = append(parts, fmt.Sprintf("%s %d", text.OneLine(name), r.trace.Workload.Axes[name]))
	}
	return strings.Join(parts, ", ")
}
