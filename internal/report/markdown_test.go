package report_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"

	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/suite/cases"
)

var (
	gfm     = goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser()
	ownHTML = regexp.MustCompile(`^(<details><summary>[A-Za-z0-9 ,:]+</summary>|</details>)$`)
)

const (
	ownLink = "https://github.com/example/engine/actions/runs/1846"
	ownSite = "https://example.github.io/engine/"
)

// skeleton parses Markdown as GitHub does and returns its structure without
// its text: block by block, with the number of cells of each row. It fails on
// any element that a report does not make.
func skeleton(t testing.TB, markdown string) []string {
	t.Helper()
	source := []byte(markdown)
	var blocks []string
	rows, open := 0, 0
	err := ast.Walk(gfm.Parse(text.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Document, *ast.Text, *ast.TextBlock, *ast.CodeSpan, *ast.String, *ast.Emphasis, *east.TableCell:
		case *ast.Heading:
			blocks = append(blocks, fmt.Sprintf("heading %d", n.Level))
		case *ast.Paragraph, *ast.List, *ast.ListItem, *east.Table:
			blocks = append(blocks, n.Kind().String())
		case *ast.FencedCodeBlock:
			blocks = append(blocks, "fence "+string(n.Language(source)))
		case *east.TableHeader, *east.TableRow:
			rows++
			blocks = append(blocks, fmt.Sprintf("row of %d", n.ChildCount()))
		case *ast.HTMLBlock:
			html := strings.TrimSpace(string(n.Lines().Value(source)))
			if !ownHTML.MatchString(html) {
				t.Errorf("HTML block %q", html)
			}
			if open += 1; html == "</details>" {
				open -= 2
			}
			blocks = append(blocks, "html "+regexp.MustCompile(`\d+`).ReplaceAllString(html, "N"))
		case *ast.RawHTML:
			if html := string(n.Segments.Value(source)); html != "<sub>" && html != "</sub>" {
				t.Errorf("inline HTML %q", html)
			}
		case *ast.Link:
			if got := string(n.Destination); got != ownLink && !strings.HasPrefix(got, ownSite) {
				t.Errorf("link to %q", got)
			}
		default:
			t.Errorf("%s: %q", n.Kind(), n.Lines().Value(source))
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if open != 0 {
		t.Errorf("%d <details> are left open", open)
	}
	if rows == 0 && strings.Contains(markdown, "\n|") {
		t.Error("a table was not parsed as one")
	}
	return blocks
}

func TestGoldenStructure(t *testing.T) {
	for _, name := range names(t) {
		t.Run(name, func(t *testing.T) {
			skeleton(t, render(t, report.Markdown, report.New(load(t, name).input())))
		})
	}
}

// TestMarkdownLimit walks down the ladder: whatever the limit, the text keeps
// to it, is well formed, starts with the verdict and says what it lacks.
func TestMarkdownLimit(t *testing.T) {
	for _, name := range names(t) {
		r := report.New(load(t, name).input())
		full := render(t, report.MarkdownLimit(1<<20), r)
		heading := full[:strings.IndexAny(full, ":\n")]
		for limit := len(full) + 1; limit >= 1000; limit -= 397 {
			got := render(t, report.MarkdownLimit(limit), r)
			if len(got) > limit {
				t.Fatalf("%s: %d bytes, limit %d", name, len(got), limit)
			}
			if limit < len(full) && !strings.Contains(got, "Left out to keep this within its size limit: ") {
				t.Fatalf("%s at %d: does not state what was left out", name, limit)
			}
			if !strings.HasPrefix(got, heading) {
				t.Fatalf("%s at %d: does not start with %q", name, limit, heading)
			}
			skeleton(t, got)
		}
	}
}

func TestMarkdownLadderSteps(t *testing.T) {
	r := report.New(load(t, "many").input())
	full := render(t, report.MarkdownLimit(1<<20), r)
	check := func(limit, wantRows int, wantHosts bool) {
		t.Helper()
		got := render(t, report.MarkdownLimit(limit), r)
		_, action, _ := strings.Cut(got, "#### Needs action")
		action, _, _ = strings.Cut(action, "#### Next")
		if rows := strings.Count(action, "\n| `m"); rows != wantRows {
			t.Errorf("limit %d: %d rows that need action, want %d", limit, rows, wantRows)
		}
		if hosts := strings.Contains(got, "| Host |"); hosts != wantHosts {
			t.Errorf("limit %d: host table is %v, want %v", limit, hosts, wantHosts)
		}
	}
	check(len(full), 10, true)
	check(4200, 10, true)
	check(2300, 5, true)
	check(1200, 0, true)

	crowd := make([]report.HostInput, 40)
	for i := range crowd {
		crowd[i] = host(2)
	}
	r = report.New(judged(report.Input{}, crowd...))
	check(0, 0, false)
}

// FuzzEscapeReport compares the structure of a report that has a string in
// every place with that of one whose strings are harmless.
func FuzzEscapeReport(f *testing.F) {
	for _, evil := range hostile {
		f.Add(evil)
	}
	harmless := report.New(planted("harmless"))
	// A table has as many notes as there are long reasons in it.
	note := regexp.MustCompile(`(?m)^\d+\. .*\n`)
	skeleton := func(t testing.TB, markdown string) []string {
		skeleton(t, markdown)
		return skeleton(t, note.ReplaceAllString(markdown, ""))
	}
	want := skeleton(f, render(f, report.MarkdownLimit(1<<20), harmless))
	wantCases := skeleton(f, render(f, cases.MarkdownLimit(1<<20), harmless))
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 1000 {
			s = s[:1000] // longer ones are cut; this keeps the fuzzer quick
		}
		r := report.New(planted(s))
		got := skeleton(t, render(t, report.MarkdownLimit(1<<20), r))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the structure changes (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(wantCases, skeleton(t, render(t, cases.MarkdownLimit(1<<20), r))); diff != "" {
			t.Errorf("the structure of the cases changes (-want +got):\n%s", diff)
		}
		checkPlain(t, render(t, report.Terminal, r))
		for _, f := range console {
			checkPlain(t, render(t, f, r))
		}
		decode(t, r)
		for _, f := range r.Findings(9) {
			checkPlain(t, f.Host+" "+f.Cell+" "+f.Metric+" "+f.Message)
		}
		checkPlain(t, r.Title())
	})
}
