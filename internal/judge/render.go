package judge

import (
	"io"
	"strings"

	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/report/interchange"
	"github.com/accelgate/accelgate/internal/text/terminal"
)

// renderers are those of reports. The last three are for model cases.
var renderers = []struct {
	name   string
	render report.Renderer // nil for the one that depends on the terminal
}{
	{"terminal", nil},
	{"markdown", report.Markdown},
	{"html", report.HTML},
	{"json", report.JSON},
	{"junit", interchange.JUnit},
	{"sarif", interchange.SARIF},
	{"annotations", interchange.Annotations},
	{"badge", interchange.Badge},
	{"cases", report.CasesMarkdown},
	{"check", report.MSModelingCheck},
	{"test", report.MSModelingTest},
}

const ofCases = 3

// Formats names the formats of every report, for help texts: "terminal, markdown or json".
func Formats() string {
	var names []string
	for _, f := range renderers[:len(renderers)-ofCases] {
		names = append(names, f.name)
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// Renderer returns the renderer of a format.
func Renderer(e *measure.Env, format string) (report.Renderer, error) {
	for _, f := range renderers {
		switch {
		case f.name != format:
		case f.render == nil:
			return report.TerminalWith(Terminal(e)), nil
		default:
			return f.render, nil
		}
	}
	return nil, exit.Usagef("--format: unknown format %q: use %s, or for model cases: cases, check or test", format, Formats())
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
