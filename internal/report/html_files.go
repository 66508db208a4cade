package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"sync"
)

// Files takes what an HTML page has no room for. The page loads a file when it is needed, by a script element, so that it
// works from a disk as well.
type Files struct {
	Folder string                               // beside the page: "report-cells"
	Write  func(name string, data []byte) error // called by several goroutines
}

// Cells of one file.
const (
	lineFile = 5000 // with a line each
	cellFile = 500  // with all there is of each
)

// HTMLWith is [HTML] with every cell: those that the page shows in one line, or not at all, stand in files beside it.
func HTMLWith(files Files) Renderer {
	return func(w io.Writer, r Report) error { return writeHTML(w, r, &files) }
}

// id tells reports apart, so that a page does not show the cells of another one.
func (r *Report) id() string {
	return strconv.FormatInt(r.in.Now.UnixNano(), 36) + "-" + strconv.Itoa(r.total.verdicts)
}

// cellsFile has a value for each of some cells.
type cellsFile struct {
	name  string
	cells []cellPage
	value func(c *cellPage, scratch *bytes.Buffer) any
}

// cellsFiles are those of cells that the page does not show whole, and of those that it does not show.
func cellsFiles(r *Report, all []cellPage, keys []string, whole, shown int) (list []cellsFile) {
	add := func(name string, cells []cellPage, size int, value func(*cellPage, *bytes.Buffer) any) {
		k := 0
		for some := range slices.Chunk(cells, size) {
			list = append(list, cellsFile{name + "-" + strconv.Itoa(k), some, value})
			k++
		}
	}
	add("lines", all[shown:], lineFile, func(c *cellPage, _ *bytes.Buffer) any { return c.line(r, keys) })
	add("cells", all[whole:], cellFile, func(c *cellPage, scratch *bytes.Buffer) any { return c.body(r, scratch) })
	return list
}

// write writes the files, on each processor.
func (f *Files) write(id string, list []cellsFile) error {
	errs := make([]error, runtime.GOMAXPROCS(0))
	var wait sync.WaitGroup
	for first := range errs {
		wait.Go(func() {
			var data, scratch bytes.Buffer
			for i := first; i < len(list) && errs[first] == nil; i += len(errs) {
				data.Reset()
				if errs[first] = list[i].script(&data, &scratch, id); errs[first] == nil {
					errs[first] = f.Write(list[i].name+".js", data.Bytes())
				}
			}
		})
	}
	wait.Wait()
	return errors.Join(errs...)
}

// script is a call with the values.
func (f *cellsFile) script(data, scratch *bytes.Buffer, id string) error {
	fmt.Fprintf(data, "accelgate(%q,%q,[\n", id, f.name)
	to := json.NewEncoder(data)
	to.SetEscapeHTML(false) // a file of its own ends no script element
	for i := range f.cells {
		if i > 0 {
			data.WriteByte(',')
		}
		if err := to.Encode(f.value(&f.cells[i], scratch)); err != nil {
			return err
		}
	}
	data.WriteString("]);\n")
	return nil
}

// line is what the script makes the line of a cell of.
func (c *cellPage) line(r *Report, keys []string) any {
	metric, change := "", ""
	if in := c.change(r); in != nil {
		metric, change = in[:1].String(), in[1:].String()
	}
	return []any{marks[c.verdicts[0].Standing()], name(c.verdicts[0].Cell), metric, change, c.data(keys)}
}

// body is what stands below the line of a cell, as markup. Only what stands out has charts, which take most of the space.
func (c *cellPage) body(r *Report, b *bytes.Buffer) string {
	b.Reset()
	h := htmlWriter{bufio.NewWriter(b), &counting{Writer: b}}
	h.body(r, c, marks[c.verdicts[0].Standing()] != "")
	h.Flush()
	return b.String()
}

// more leads the script to the files, and shows more cells.
func (h htmlWriter) more(r *Report, f *Files, cells, whole, shown int) {
	fmt.Fprintf(h, `<p id="more" data-id="%s" data-folder="%s" data-cells="%d" data-whole="%d" data-size="%d" data-files="%d">`+
		`<button type="button" hidden>Show more cells</button></p>`+"\n", r.id(), escapeHTML(f.Folder), cells, whole, cellFile,
		(cells-shown+lineFile-1)/lineFile)
}
