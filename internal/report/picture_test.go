package report_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"html"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"

	"github.com/accelgate/accelgate/internal/report"
)

// TestPictureOfTheCommentIsFresh draws what a reader of a pull request sees of a comment, which README.md shows: the scenario
// "regressed" with shorter names, as Markdown, without the content of its folded sections.
func TestPictureOfTheCommentIsFresh(t *testing.T) {
	source := []byte(render(t, report.Markdown, report.New(pictured(t).input())))
	p := picture{y: 34}
	folded := false
	for n := gfm.Parse(text.NewReader(source)).FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.HTMLBlock); ok {
			name := ownHTML.FindString(strings.TrimSpace(string(h.Lines().Value(source))))
			if folded = name != "</details>"; folded {
				p.lines([]word{{"▸ " + strings.NewReplacer("<details><summary>", "", "</summary></details>", "", "</summary>", "").Replace(name), ""}}, 0)
			}
		} else if !folded {
			p.block(n, source)
		}
	}
	golden(t, "../../docs/comment.svg", p.svg())
}

func pictured(t *testing.T) *scenario {
	t.Helper()
	data, err := json.Marshal(load(t, "regressed"))
	if err != nil {
		t.Fatal(err)
	}
	short := strings.NewReplacer("gemma-4-e4b-it-q8_0", "qwen3-8b", "ggml_cuda", "cuda", "ggml_cpu", "cpu")
	var s scenario
	if err := json.NewDecoder(strings.NewReader(short.Replace(string(data)))).Decode(&s); err != nil {
		t.Fatal(err)
	}
	return &s
}

const (
	pictureWidth = 1120.0
	margin       = 20.0
	lineHeight   = 21.0
	glyph        = 6.9 // the width of a letter of code, and about that of others
)

// word is a run of text in one style: "", "b" (bold), "c" (code), "h" (the first heading) or "s" (small).
type word struct{ text, style string }

type picture struct {
	bytes.Buffer
	y float64
}

func (p *picture) block(n ast.Node, source []byte) {
	switch n := n.(type) {
	case *ast.Heading:
		p.y += 6
		style := "h"
		if n.Level > 3 {
			style = "b"
		}
		p.lines(words(n, source, style), 0)
	case *ast.List:
		for item := n.FirstChild(); item != nil; item = item.NextSibling() {
			p.lines(append([]word{{"• ", ""}}, words(item, source, "")...), 12)
		}
	case *east.Table:
		p.table(n, source)
	default:
		p.lines(words(n, source, ""), 0)
	}
	p.y += 7
}

// words returns the text of a node, each run with its style.
func words(n ast.Node, source []byte, style string) (all []word) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			all = append(all, word{html.UnescapeString(string(c.Value(source))), style})
		case *ast.CodeSpan:
			all = append(all, words(c, source, "c")...)
		case *ast.Emphasis:
			all = append(all, words(c, source, "b")...)
		case *ast.RawHTML:
			style = "s"
		default:
			all = append(all, words(c, source, style)...)
		}
	}
	return all
}

// width is an estimate: the reader's fonts decide.
func width(all []word) (w float64) {
	for _, one := range all {
		size := map[string]float64{"h": 1.2, "s": 0.85}[one.style]
		w += glyph * float64(utf8.RuneCountInString(one.text)) * cmp.Or(size, 1)
	}
	return w
}

// lines writes a paragraph, broken between words.
func (p *picture) lines(all []word, indent float64) {
	var line []word
	for _, one := range all {
		for part := range strings.SplitAfterSeq(one.text, " ") {
			if part == "" {
				continue
			}
			if next := append(line, word{part, one.style}); width(next) > pictureWidth-2*margin-indent {
				p.text(margin+indent, line)
				line = []word{{part, one.style}}
				indent = max(indent, 24)
			} else {
				line = next
			}
		}
	}
	p.text(margin+indent, line)
}

// text writes a line at x and goes to the next.
func (p *picture) text(x float64, all []word) {
	p.at(x, all)
	p.y += lineHeight
}

func (p *picture) at(x float64, all []word) {
	fmt.Fprintf(p, `<text x="%.0f" y="%.0f">`, x, p.y)
	for i, one := range all {
		if i == 0 || one.style != all[i-1].style {
			fmt.Fprintf(p, `<tspan class="%s">`, one.style)
		}
		p.WriteString(html.EscapeString(one.text))
		if i+1 == len(all) || one.style != all[i+1].style {
			p.WriteString("</tspan>")
		}
	}
	p.WriteString("</text>\n")
}

// table writes rows with columns as wide as their widest cell.
func (p *picture) table(table ast.Node, source []byte) {
	var rows [][][]word
	var columns []float64
	for r := table.FirstChild(); r != nil; r = r.NextSibling() {
		var row [][]word
		for c := r.FirstChild(); c != nil; c = c.NextSibling() {
			style := ""
			if rows == nil {
				style = "b"
			}
			cell := words(c, source, style)
			if len(columns) == len(row) {
				columns = append(columns, 0)
			}
			columns[len(row)] = max(columns[len(row)], width(cell)+14)
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	for _, row := range rows {
		x := margin
		for i, cell := range row {
			p.at(x, cell)
			x += columns[i]
		}
		fmt.Fprintf(p, `<path d="M%.0f %.0fH%.0f"/>`+"\n", margin, p.y+7, pictureWidth-margin)
		p.y += lineHeight + 3
	}
}

func (p *picture) svg() string {
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %[2]d" width="%.0[1]f" height="%[2]d" role="img" aria-label="The comment on a pull request">
<style>
text { font: 12.5px -apple-system, "Segoe UI", "Noto Sans", Helvetica, Arial, sans-serif; fill: #1f2328; white-space: pre }
.b { font-weight: 600 } .h { font-weight: 600; font-size: 15px } .s { font-size: 10.5px }
.c { font: 11.5px ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace }
rect { fill: #fff; stroke: #d1d9e0 } path { stroke: #d1d9e0 }
@media (prefers-color-scheme: dark) { text { fill: #f0f6fc } rect { fill: #0d1117; stroke: #3d444d } path { stroke: #3d444d } }
</style>
<rect x="0.5" y="0.5" width="%.0[3]f" height="%[4]d" rx="6"/>
%[5]s</svg>
`, pictureWidth, int(p.y), pictureWidth-1, int(p.y)-1, p.String())
}
