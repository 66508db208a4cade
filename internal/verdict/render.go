package verdict

import (
	"io"
	"strings"

	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/report"
)

// Renderer returns the format that --format names.
func Renderer(e *measure.Env, format string) (report.Renderer, error) {
	switch format {
	case "terminal":
		return report.TerminalWith(report.TerminalOptions{Color: color(e)}), nil
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

// color follows https://no-color.org and asks for a real terminal.
func color(e *measure.Env) bool {
	return e.Getenv("NO_COLOR") == "" && e.Getenv("TERM") != "dumb" && measure.IsTerminal(e.Stdout)
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
