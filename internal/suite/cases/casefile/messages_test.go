package casefile_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// TestEveryMessageIsTested reads the package's own source: whatever text it
// can say must stand in what some test expects, so that a new message needs a
// test. A text is a literal with two words.
func TestEveryMessageIsTested(t *testing.T) {
	if testtier.Race {
		t.Skip("numbers of one goroutine")
	}
	t.Parallel()
	expected := expectedTexts(t)
	sentence := regexp.MustCompile(`[[:alpha:]] [[:alpha:]]|%[a-z] [[:alpha:]]`)
	found := 0
	for _, file := range sourceFiles(t, false) {
		eachText(t, file, func(text string, at token.Position) {
			if !sentence.MatchString(text) || text == "unexpected end of JSON input" || text == "after top-level value" {
				return // the last two are encoding/json's
			}
			found++
			if !anchored(text).MatchString(expected) {
				t.Errorf("%s: no test expects %q", at, text)
			}
		})
	}
	if found < 70 {
		t.Errorf("found only %d messages", found)
	}
}

// anchored returns what a message becomes: verbs stand for anything on the
// line, and it begins and ends where a message, a part or a hint does.
func anchored(format string) *regexp.Regexp {
	pattern := regexp.QuoteMeta(format)
	pattern = regexp.MustCompile(`%[#+]?[0-9]*[a-z]`).ReplaceAllString(strings.ReplaceAll(pattern, "%%", "%"), ".+")
	return regexp.MustCompile(`(?m)(^|[:;,(] |want | or |got |not |\) )` + pattern + `($|[;,:]| or |[ "])`)
}

// expectedTexts returns all goldens and all literals of the tests, one a line.
func expectedTexts(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir("testdata", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".txt" {
			return err
		}
		data, err := os.ReadFile(path)
		all.Write(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range sourceFiles(t, true) {
		eachText(t, file, func(text string, _ token.Position) { all.WriteString(text + "\n") })
	}
	return all.String()
}

func sourceFiles(t *testing.T, tests bool) []string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var chosen []string
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") == tests {
			chosen = append(chosen, file)
		}
	}
	return chosen
}

// eachText calls f for each text in a file. Texts that are added to each other
// are one; what is added to them and is no literal stands for something.
func eachText(t *testing.T, file string, f func(text string, at token.Position)) {
	t.Helper()
	files := token.NewFileSet()
	tree, err := parser.ParseFile(files, file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		if _, ok := n.(*ast.ImportSpec); ok {
			return false
		}
		e, ok := n.(ast.Expr)
		if !ok {
			return true
		}
		text, ok := textOf(e)
		if ok {
			f(text, files.Position(n.Pos()))
		}
		return !ok
	})
}

func textOf(e ast.Expr) (text string, ok bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		if e.Op != token.ADD {
			return "", false
		}
		left, okLeft := textOf(e.X)
		right, okRight := textOf(e.Y)
		if !okLeft {
			left = "%s"
		}
		if !okRight {
			right = "%s"
		}
		return left + right, okLeft || okRight
	}
	return "", false
}
