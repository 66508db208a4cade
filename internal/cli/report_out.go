package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/accelgate/accelgate/internal/atomicfile"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/judge"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// writeReport writes a report to a file, an HTML page with the folder that it loads cells from.
func (c *Command) writeReport(out, format string, j judge.Judged) error {
	var err error
	switch format {
	case "html":
		err = writePage(out, j.Report)
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
	return atomicfile.WriteFrom(out, func(w io.Writer) error { return render(w, r) })
}

// writePage writes first the folder, then the page: with files of another report, a page says so.
func writePage(out string, r report.Report) error {
	folder := strings.TrimSuffix(out, filepath.Ext(out)) + "-cells"
	if err := ofCells(folder); err != nil {
		return err
	}
	var page bytes.Buffer
	err := atomicfile.Replace(folder, func(dir string) error {
		write := func(name string, data []byte) error { return os.WriteFile(filepath.Join(dir, name), data, 0o644) }
		return report.HTMLWith(report.Files{Folder: filepath.Base(folder), Write: write})(&page, r)
	})
	if err != nil {
		return err
	}
	_ = os.Remove(folder) // which fails where it is not empty
	return atomicfile.Write(out, page.Bytes())
}

var cellFile = lazyregexp.New(`^(lines|cells)-[0-9]+\.js$`)

// ofCells refuses a folder that holds other files than a report writes.
func ofCells(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil && !os.IsNotExist(err) {
		return exit.Usagef("--out: %w: name another file", err)
	}
	for _, e := range entries {
		if !cellFile.MatchString(e.Name()) {
			return exit.Usagef("--out: %s holds %s, which accelgate report did not write: name another file", folder, text.OneLine(e.Name()))
		}
	}
	return nil
}
