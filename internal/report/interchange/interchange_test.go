package interchange_test

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/report/interchange"
	"github.com/accelgate/accelgate/internal/text"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// documents are the formats: the ending of the golden file, and the reader, which fails if
// a document is not of the format or does not hold what the report does.
var documents = map[string]struct {
	write report.Renderer
	read  func(testing.TB, []byte, report.Report)
}{
	"junit.xml":       {interchange.JUnit, readJUnit},
	"sarif.json":      {interchange.SARIF, readSARIF},
	"annotations.txt": {interchange.Annotations, readAnnotations},
	"badge.json":      {interchange.Badge, readBadge},
}

func written(t testing.TB, f report.Renderer, r report.Report) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := f(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestGolden(t *testing.T) {
	for name, r := range reports() {
		for ending, f := range documents {
			got := written(t, f.write, r)
			path := filepath.Join("testdata", name+"."+ending)
			if *update {
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil || !bytes.Equal(want, got) {
				t.Errorf("%s: %v; run go test ./internal/report/interchange -update (-want +got):\n%s", path, err, cmp.Diff(string(want), string(got)))
			}
			f.read(t, got, r)
		}
	}
}

var hostile = []string{"", "a b", `a"b`, "<b>&amp;", "]]>", "<![CDATA[", "--> <!--", "\x00", "\x0b", "\ufffe", "\xff", "\n", "\r\n::error::x", "::error::x", "##[error]x", "%0A", "%", ",title=x", ":", "::",
	"\u202e", "\u2028", "../", "/", "//host/", "http://x/", "C:\\", "?#", "é漢🙂", "'", "&#0;", strings.Repeat("long", 200)}

// FuzzFormats renders a report with a hostile string everywhere and reads each document again.
func FuzzFormats(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r := everything(s[:min(len(s), 1000)])
		for ending, f := range documents {
			document := written(t, f.write, r)
			for line := range strings.Lines(string(document)) {
				command := ending != "annotations.txt" && strings.HasPrefix(strings.TrimLeft(line, " "), "::")
				if line = strings.TrimSuffix(line, "\n"); !text.Printable(line) || command {
					t.Errorf("%s: the line %q is not harmless", ending, line)
				}
			}
			f.read(t, document, r)
		}
	})
}

// blocked counts the verdicts of a report that block, and the cells with one.
func blocked(r report.Report) (verdicts, cells int) {
	for c := range r.Cells() {
		n := 0
		for _, f := range c.Findings {
			if f.Blocks {
				n++
			}
		}
		verdicts, cells = verdicts+n, cells+min(n, 1)
	}
	return verdicts, cells
}

func TestEveryFindingHasARule(t *testing.T) {
	for _, found := range append(slices.Clone(gate.Findings), "decision") {
		if interchange.Rules[found] == "" {
			t.Errorf("SARIF has no description of %s", found)
		}
	}
}

type full struct{}

var errFull = errors.New("disk full")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestWriteErrors(t *testing.T) {
	for ending, f := range documents {
		if err := f.write(full{}, everything("")); !errors.Is(err, errFull) {
			t.Errorf("%s: %v, want %v", ending, err, errFull)
		}
	}
}
