package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestTiersAreInNames: make thorough chooses tests by name, and make test leaves them out by what they call. A test
// that does one of the two would run in neither tier or in both.
func TestTiersAreInNames(t *testing.T) {
	for _, root := range []string{"cmd", "e2e", "internal", "scripts"} {
		err := filepath.WalkDir(filepath.Join("..", "..", root), func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(name, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, decl := range file.Decls {
				if f, ok := decl.(*ast.FuncDecl); ok && f.Body != nil {
					checkTier(t, name, f)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func checkTier(t *testing.T, file string, f *ast.FuncDecl) {
	t.Helper()
	for _, tier := range []string{"Thorough", "Nightly"} {
		named := strings.HasPrefix(f.Name.Name, "Test") && strings.HasSuffix(f.Name.Name, tier)
		if called := calls(f, "testtier", tier); named != called && f.Recv == nil {
			t.Errorf("%s: %s: is the name for %s: %t; does it call require.%[3]s: %t; make both true", file, f.Name.Name, tier, named, called)
		}
	}
	if calls(f, "testing", "Short") {
		t.Errorf("%s: %s calls testing.Short: no tier sets -short; use require.Thorough", file, f.Name.Name)
	}
}

func calls(f *ast.FuncDecl, pkg, name string) (found bool) {
	ast.Inspect(f.Body, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == name {
			x, ok := s.X.(*ast.Ident)
			found = found || ok && x.Name == pkg
		}
		return true
	})
	return found
}
