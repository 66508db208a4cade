package cli

import (
	"fmt"
	"io"

	"github.com/accelgate/accelgate/internal/atomicfile"
	"github.com/accelgate/accelgate/internal/judge"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/text"
)

// writeReport writes a report to a file, an HTML page with the folder that it loads cells from.
func (c *Command) writeReport(out, format string, j judge.Judged) error {
	var err error
	switch format {
	case "html":
		_, err = judge.WritePage(out, j.Report, func(s string) string { return s })
	case "terminal":
		err = writeRendered(out, report.TerminalWith(report.TerminalOptions{}), j.Report) // without the colours and the width of this one
	default:
		var render report.Renderer
		if render, err = judge.Renderer(c.env(), format); err == nil {
			err = writeRendered(out, render, j.Report)
		}
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.Stdout, "%s: %s\nNext: open %[1]s\n", text.Clean(out), j.Report.Title())
	return err
}

func writeRendered(out string, render report.Renderer, r report.Report) error {
	return atomicfile.Elsewhere(atomicfile.WriteFrom(out, func(w io.Writer) error { return render(w, r) }), "--out")
}
