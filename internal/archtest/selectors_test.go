package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"
)

// selectors lists the "package.Name" expressions of a file.
func selectors(t *testing.T, name string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	ast.Inspect(file, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok {
				found = append(found, x.Name+"."+sel.Sel.Name)
			}
		}
		return true
	})
	return found
}
