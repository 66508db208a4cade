package cli

import (
	"io"
	"strings"

	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/report"
)

// renderer returns the format that --format names.
func (c *Command) renderer(format string) (report.Renderer, error) {
	switch format {
	case "terminal":
		return report.TerminalWith(report.TerminalOptions{Color: c.color()}), nil
	case "markdown":
		return report.Markdown, nil
	case "json":
		return report.JSON, nil
	case "cases":
		return report.CasesMarkdown, nil
	case "check":
		return report.MSModelingCheck, nil
	case "test":
		return report.MSModelingTest, nil
	}
	return nil, exit.Usagef("--format: unknown format %q: use terminal, markdown or json, or for model cases: cases, check or test", format)
}

// color follows https://no-color.org and asks for a real terminal.
func (c *Command) color() bool {
	return c.Getenv("NO_COLOR") == "" && c.Getenv("TERM") != "dumb" && measure.IsTerminal(c.Stdout)
}

// render writes the report to w.
func (c *Command) render(w io.Writer, format string, j judged) error {
	r, err := c.renderer(format)
	if err != nil {
		return err
	}
	return r(w, j.report)
}

// rendered renders to a string.
func rendered(render report.Renderer, r report.Report) (string, error) {
	var b strings.Builder
	err := render(&b, r)
	return b.String(), err
}
