package verdict

import (
	"io"
	"strings"

	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/terminal"
)

// Renderer returns the format that --format names.
func Renderer(e *measure.Env, format string) (report.Renderer, error) {
	switch format {
	case "terminal":
		return report.TerminalWith(Terminal(e)), nil
	case "markdown":
		return report.Markdown, nil
	case "html":
		return report.HTML, nil
	case "json":
		return report.JSON, nil
	case "cases":
		return report.CasesMarkdown, nil
	case "check":
		return report.MSModelingCheck, nil
	case "test":
		return report.MSModelingTest, nil
	}
	return nil, exit.Usagef("--format: unknown format %q: use terminal, markdown, html or json, or for model cases: cases, check or test", format)
}

// Terminal says what the terminal behind standard output can show.
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
