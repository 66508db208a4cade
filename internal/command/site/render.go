package site

import (
	"bufio"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/accelgate/accelgate/internal/atomicfile"
	"github.com/accelgate/accelgate/internal/judge"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/text"
)

// pages holds the templates, and what of style and script reports do not have.
//
//go:embed pages
var pages embed.FS

// templates are parsed at their first use: a millisecond of each start of accelgate else.
var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"shown": shown, "short": short, "count": text.Plural, "command": rangeCommand, "date": date,
		"percent": func(x float64) string { return judge.Changed{Change: x}.String() },
		"p":       func(x float64) string { return fmt.Sprintf("%.1g", x) },
	}).ParseFS(pages, "pages/*.html"))
})

func date(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return t.UTC().Format(time.DateOnly)
}

// view is what a template gets.
type view struct {
	*Options
	Root string // from the page to the index, such as "../../"
	Body any
}

// folder is that of a host's pages, from the root.
func (h *host) folder() string { return folder(h.Label) }

// cellPage is the page of a cell, from the root.
func (h *host) cellPage(c *cell) string { return CellPath(h.Label, c.ID) }

// page writes a page of a host.
func (h *host) page(name, kind string, body any) error {
	return h.site.page(h.folder()+name, kind, body)
}

// page writes a page by the template of its kind.
func (s *site) page(name, kind string, body any) error {
	s.pages.Add(1)
	v := view{&s.Options, strings.Repeat("../", strings.Count(name, "/")), body}
	return s.file(name, func(w io.Writer) error { return templates().ExecuteTemplate(w, kind, v) })
}

// script writes a file that gives the script of the pages a value under a key. Package json makes of any text a
// literal of the script.
func (s *site) script(name, key string, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return s.file(name, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "accelgate(%q,%s);\n", key, data)
		return err
	})
}

// file writes a file below the folder, unless the building was ended. The folder becomes visible as a whole.
func (s *site) file(name string, write func(io.Writer) error) error {
	if err := s.ctx.Err(); err != nil {
		return fmt.Errorf("%w: %s is as it was before; type the command again", err, s.Out)
	}
	path := filepath.Join(s.dir, filepath.FromSlash(name))
	f, err := os.Create(path)
	if os.IsNotExist(err) {
		if err = atomicfile.MkdirAll(filepath.Dir(path)); err == nil {
			f, err = os.Create(path)
		}
	}
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 32<<10)
	err = write(w)
	if err == nil {
		err = w.Flush()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}

// assets writes style, script, the file by which the folder is recognized, and one that keeps GitHub Pages from rendering.
func (s *site) assets() error {
	own, err := pages.ReadFile("pages/site.css")
	if err != nil {
		return err
	}
	script, err := pages.ReadFile("pages/site.js")
	if err != nil {
		return err
	}
	about, err := json.Marshal(map[string]any{"tool": s.Tool, "generated": s.Now.UTC()})
	if err != nil {
		return err
	}
	for name, content := range map[string]string{"style.css": report.Style + string(own), "site.js": string(script), marker: string(about) + "\n", ".nojekyll": ""} {
		if err := s.file(name, func(w io.Writer) error { _, err := io.WriteString(w, content); return err }); err != nil {
			return err
		}
	}
	return nil
}

// between is a range of commits for a template.
type between struct{ After, Before, URL string }

// Between links a range of commits.
func (v view) Between(after, before string) between {
	return between{after, before, v.RangeURL(after, before)}
}

// linked is a commit for a template.
type linked struct{ Revision, URL string }

// Commit links a commit.
func (v view) Commit(revision string) linked { return linked{revision, v.CommitURL(revision)} }

// table is a list with the page on which it stands.
type table struct {
	View     view
	Name     string
	Moves    []levelShift
	Failures []failure
}

// Moves is a table of changes under a name for screen readers.
func (v view) Moves(name string, moves []levelShift) table {
	return table{View: v, Name: name, Moves: moves}
}

// Fails is a table of failures.
func (v view) Fails(failures []failure) table { return table{View: v, Failures: failures} }
