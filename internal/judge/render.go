package judge

import (
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/report/interchange"
	"github.com/accelgate/accelgate/internal/text/terminal"
)

// renderers are the formats of every report.
var renderers = []report.Format{
	{Name: "terminal"}, // which depends on the terminal
	{Name: "markdown", Render: report.Markdown},
	{Name: "html", Render: report.HTML},
	{Name: "json", Render: report.JSON},
	{Name: "junit", Render: interchange.JUnit},
	{Name: "sarif", Render: interchange.SARIF},
	{Name: "annotations", Render: interchange.Annotations},
	{Name: "badge", Render: interchange.Badge},
}

// Formats names the formats of every report, for help texts: "terminal, markdown or json".
func Formats() string { return names(renderers) }

func names(formats []report.Format) string {
	var names []string
	for _, f := range formats {
		names = append(names, f.Name)
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// Renderer returns the renderer of a format, which may be one of a kind of suite.
func Renderer(e *measure.Env, format string) (report.Renderer, error) {
	if format == renderers[0].Name {
		return report.TerminalWith(Terminal(e)), nil
	}
	all, others := renderers, ""
	for _, name := range slices.Sorted(maps.Keys(e.Kinds)) {
		if own := e.Kinds[name].Report.Formats; len(own) > 0 {
			all = slices.Concat(all, own)
			others += ", or for kind " + name + ": " + names(own)
		}
	}
	for _, f := range all {
		if f.Name == format {
			return f.Render, nil
		}
	}
	return nil, exit.Usagef("--format: unknown format %q: use %s%s", format, Formats(), others)
}

// Terminal returns what the terminal behind standard output can show.
func Terminal(e *measure.Env) report.TerminalOptions {
	t := terminal.Of(e.Stdout, e.Getenv)
	return report.TerminalOptions{Columns: t.Columns, Color: t.Color, Links: t.Links}
}

// Render writes the report to w.
func Render(e *measure.Env, w io.Writer, format string, j Judged) error {
	r, err := Renderer(e, format)
	if err != nil {
		return err
	}
	return r(w, j.Report)
}

// Rendered renders to a string.
func Rendered(render report.Renderer, r report.Report) (string, error) {
	var b strings.Builder
	err := render(&b, r)
	return b.String(), err
}
