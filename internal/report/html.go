package report

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"slices"
)

// Style is the style sheet of the page, light and dark, with the classes of package chart. Other pages of ours use it as well.
//
//go:embed page_html/style.css
var Style string

// script filters, sorts and loads the cells of files.
//
//go:embed page_html/script.js
var script string

// HTML renders one file that needs no network: the parts that Markdown has, and then every cell with its values, trend,
// operators, command and log, the worst first. Of many cells the later ones have one line each, and more than a page of
// 3 MB can hold are counted. It works without script, except for filtering and sorting. A policy in the page lets
// the browser run that script alone, whatever names and logs hold.
func HTML(w io.Writer, r Report) error { return writeHTML(w, r, nil) }

func writeHTML(w io.Writer, r Report, files *Files) error {
	to := &counting{Writer: w}
	h := htmlWriter{bufio.NewWriterSize(to, 64<<10), to}
	p := r.page(caps{action: maxAction, folded: maxFolded})
	h.head(&p, r.in.Tool, files)
	h.blocks(p.lead)
	h.block(p.hosts)
	for _, s := range p.parts() {
		h.titled(s.title, s.blocks)
	}
	if err := h.cells(&r, files); err != nil {
		return err
	}
	for _, s := range p.folded {
		h.folded(s.title, s.blocks)
	}
	fmt.Fprintf(h, "<footer>%s · %s</footer>\n</main><script>%s</script></body></html>\n", escapeHTML(name(r.in.Tool)),
		escapeHTML(p.footer), script)
	return h.Flush()
}

// htmlWriter writes escaped text. Write errors are kept by its buffer.
type htmlWriter struct {
	*bufio.Writer
	to *counting
}

// counting counts the bytes that were written.
type counting struct {
	io.Writer
	n int
}

func (c *counting) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	c.n += n
	return n, err
}

// size returns the bytes of the page so far.
func (h htmlWriter) size() int { return h.to.n + h.Buffered() }

func (h htmlWriter) head(p *page, tool string, files *Files) {
	digest, also := sha256.Sum256([]byte(script)), ""
	if files != nil {
		also = " 'self'"
	}
	fmt.Fprintf(h, `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-%s'%s; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<title>%s</title><style>%s</style></head><body><main>
<h1>`, base64.StdEncoding.EncodeToString(digest[:]), also, escapeHTML(p.headline().String()+" · "+name(tool)), Style)
	h.mark(p.status.mark)
	h.WriteByte(' ')
	h.inline(p.headline())
	h.WriteString("</h1>\n")
}

func (h htmlWriter) titled(title string, blocks []block) {
	if len(blocks) > 0 {
		h.WriteString("<h2>" + title + "</h2>\n")
		h.blocks(blocks)
	}
}

func (h htmlWriter) folded(title string, blocks []block) {
	h.WriteString(`<details class="section"><summary>` + escapeHTML(title) + "</summary>\n")
	h.blocks(blocks)
	h.WriteString("</details>\n")
}

func (h htmlWriter) blocks(blocks []block) {
	for _, b := range blocks {
		h.block(b)
	}
}

func (h htmlWriter) block(b block) {
	switch b := b.(type) {
	case paragraph:
		h.WriteString("<p>")
		h.inline(inline(b))
		h.WriteString("</p>\n")
	case bullets:
		h.WriteString("<ul>")
		for _, item := range b {
			h.WriteString("<li>")
			h.inline(item)
			h.WriteString("</li>\n")
		}
		h.WriteString("</ul>\n")
	case preformatted:
		h.WriteString(`<pre tabindex="0">`)
		for _, line := range b {
			h.WriteString(escapeHTML(line) + "\n")
		}
		h.WriteString("</pre>\n")
	case *table:
		h.table(b)
	}
}

func (h htmlWriter) table(t *table) {
	if t == nil || len(t.rows) == 0 {
		return
	}
	class := func(c column) string {
		if c.right {
			return ` class="n"`
		}
		return ""
	}
	h.WriteString(`<div class="wide" tabindex="0" role="region" aria-label="` + escapeHTML(t.columns[0].name) + `"><table><thead><tr>`)
	for _, c := range t.columns {
		fmt.Fprintf(h, `<th scope="col"%s>%s</th>`, class(c), escapeHTML(c.name))
	}
	h.WriteString("</tr></thead><tbody>\n")
	for _, row := range t.rows {
		h.WriteString("<tr>")
		for i, cell := range row {
			h.WriteString("<td" + class(t.columns[i]))
			if !slices.Equal(cell, none) { // a narrow window shows only cells with a heading of their own
				h.WriteString(` data-th="` + escapeHTML(t.columns[i].name) + `"`)
			}
			h.WriteByte('>')
			h.inline(cell)
			h.WriteString("</td>")
		}
		h.WriteString("</tr>\n")
	}
	h.WriteString("</tbody></table></div>\n")
	if more := t.total - len(t.rows); more > 0 {
		fmt.Fprintf(h, "<p>… and %d more</p>\n", more)
	}
}

func (h htmlWriter) inline(in inline) {
	for _, s := range in {
		switch s.kind {
		case emphasis:
			h.WriteString("<strong>" + escapeHTML(s.text) + "</strong>")
		case verbatim, shell:
			h.link("<code>"+escapeHTML(s.text)+"</code>", s.alt)
		case address:
			h.link(escapeHTML(s.text), s.alt)
		case signal:
			h.mark(s.alt)
		default:
			h.WriteString(escapeHTML(s.text))
		}
	}
}

// mark writes a status as a word, because many systems have no font for its sign.
func (h htmlWriter) mark(word string) {
	class := map[string]string{failed.mark: " fail", passed.mark: " pass", warned.mark: " warn", undecided.mark: " warn",
		actionRequired.mark: " fail"}[word]
	fmt.Fprintf(h, `<span class="mark%s">%s</span>`, class, escapeHTML(word))
}

// link writes markup as a link, or alone if the address is not one.
func (h htmlWriter) link(markup, url string) {
	if len(url) > longestURL || !safeURL.MatchString(url) {
		h.WriteString(markup)
		return
	}
	fmt.Fprintf(h, `<a href="%s">%s</a>`, escapeHTML(url), markup)
}

// escapeHTML makes a text visible, and safe inside elements and quoted attributes.
func escapeHTML(s string) string { return html.EscapeString(visible(s)) }

// facets are the parameters that the cells of a page differ in, in their order.
func facets(r *Report) (keys []string) {
	const maximum = 40 // values of one facet; more are no choice to make
	values := map[string]map[string]bool{}
	for i := range r.hosts {
		results := r.hosts[i].Run.Results
		for k := range results {
			for _, p := range results[k].Cell.Params {
				if values[p.Key] == nil {
					values[p.Key] = map[string]bool{}
					keys = append(keys, p.Key)
				}
				if len(values[p.Key]) <= maximum {
					values[p.Key][p.Value] = true
				}
			}
		}
	}
	return slices.DeleteFunc(keys, func(k string) bool { return len(values[k]) < 2 || len(values[k]) > maximum })
}
