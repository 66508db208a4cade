package engine

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"strings"
	"testing"
)

// TestEveryProductIsRounded reads the package's own source. A floating-point
// product must be converted before anything else happens to it, since the
// compiler may otherwise fuse it with a sum, on some platforms only. Products
// of products cannot be fused and may share a conversion.
func TestEveryProductIsRounded(t *testing.T) {
	files := token.NewFileSet()
	var parsed []*ast.File
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".go") && !strings.HasSuffix(e.Name(), "_test.go") {
			file, err := parser.ParseFile(files, e.Name(), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			parsed = append(parsed, file)
		}
	}
	products := 0
	info := floatInfo(files, parsed)
	for _, file := range parsed {
		products += checkProducts(t, files, file, info)
	}
	if products < 100 { // the kernels alone have more
		t.Errorf("found %d floating-point products: the test looks in the wrong place", products)
	}
}

// floatInfo returns the types of expressions as far as they are known without
// reading other packages.
func floatInfo(files *token.FileSet, parsed []*ast.File) *types.Info {
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	config := types.Config{Error: func(error) {}, Importer: noImports{}}
	config.Check("engine", files, parsed, info) // what stays unknown counts as floating-point
	return info
}

type noImports struct{}

func (noImports) Import(string) (*types.Package, error) { return nil, errors.New("not needed") }

func checkProducts(t *testing.T, files *token.FileSet, file *ast.File, info *types.Info) (found int) {
	var outer []ast.Node
	ast.Inspect(file, func(n ast.Node) bool {
		if n == nil {
			outer = outer[:len(outer)-1]
			return true
		}
		if n, ok := n.(*ast.AssignStmt); ok && n.Tok == token.MUL_ASSIGN && mayBeFloat(info, n.Lhs[0]) {
			t.Errorf("%v: *= on floating-point numbers; write x = float32(x*y)", files.Position(n.Pos()))
		}
		if n, ok := n.(*ast.BinaryExpr); ok && n.Op == token.MUL && mayBeFloat(info, n, n.X, n.Y) {
			found++
			if !converted(outer) {
				t.Errorf("%v: product is not rounded; write float32(x*y)", files.Position(n.Pos()))
			}
		}
		outer = append(outer, n)
		return true
	})
	return found
}

// converted reports whether the innermost of the nodes that is more than a
// product or a parenthesis is a conversion, or a declaration of constants.
func converted(outer []ast.Node) bool {
	for i := len(outer) - 1; i >= 0; i-- {
		switch n := outer[i].(type) {
		case *ast.ParenExpr:
		case *ast.BinaryExpr:
			if n.Op != token.MUL && n.Op != token.QUO {
				return false
			}
		case *ast.ValueSpec:
			return true // constants are exact
		case *ast.CallExpr:
			name, ok := n.Fun.(*ast.Ident)
			return ok && (name.Name == "float32" || name.Name == "float64")
		default:
			return false
		}
	}
	return false
}

// mayBeFloat reports whether none of the expressions, which have one type, is
// known to be an integer.
func mayBeFloat(info *types.Info, expressions ...ast.Expr) bool {
	for _, e := range expressions {
		basic, ok := info.TypeOf(e).(*types.Basic)
		if ok && basic.Info()&types.IsInteger != 0 && basic.Info()&types.IsUntyped == 0 {
			return false
		}
	}
	return true
}
