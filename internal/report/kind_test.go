package report_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/report"
)

// TestBlocksOfKindsAreEscaped: no name that a kind hands over changes the structure.
func TestBlocksOfKindsAreEscaped(t *testing.T) {
	t.Parallel()
	of := func(s string) []string {
		foreign := func(i int) report.Line {
			return report.Line{report.Code("a" + s + "z"), report.Plain(": "), report.Foreign(string(rune('a'+i)) + s + "z")}
		}
		in := matrix(1)
		in.Kinds = []report.Kind{{Blocks: func([]report.HostInput) (b report.Blocks) {
			b.Notes.Line(foreign(0)...)
			b.Folded.Section("Details")
			b.Folded.Line(foreign(1)...)
			b.Folded.List([]report.Line{foreign(2), foreign(3)})
			b.Folded.Table([]string{"Name~", "Number>"}, [][]report.Line{{foreign(4), report.None()}, {foreign(5), foreign(6)}}, 2)
			b.Folded.Excerpt("a"+s+"z", 8)
			return b
		}}}
		return skeleton(t, render(t, report.Markdown, report.New(in)))
	}
	want := of("harmless")
	for _, evil := range hostile {
		if strings.ContainsAny(evil, "\r\n") {
			continue // an excerpt has as many lines as the log
		}
		if got := of(evil); !slices.Equal(got, want) {
			t.Errorf("%q: structure %v, want %v", evil, got, want)
		}
	}
}

// TestTablesOfKindsAreCut: a table of a kind has as many rows as others that are folded, and a section without content
// is left out.
func TestTablesOfKindsAreCut(t *testing.T) {
	t.Parallel()
	in := matrix(1)
	in.Kinds = []report.Kind{{}, {Blocks: func([]report.HostInput) (b report.Blocks) {
		b.Folded.Section("Nothing")
		b.Folded.Section("Much")
		b.Folded.Table([]string{"Row"}, slices.Repeat([][]report.Line{{report.Only(report.Plain("one row"))}}, 150), 150)
		return b
	}}}
	got := render(t, report.Markdown, report.New(in))
	if n := strings.Count(got, "one row"); n != 100 || !strings.Contains(got, "… and 50 more\n") {
		t.Errorf("%d rows, want 100 and 50 more:\n%s", n, got)
	}
	if strings.Contains(got, "Nothing") {
		t.Errorf("an empty section is shown:\n%s", got)
	}
}
