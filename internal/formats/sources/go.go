package sources

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// GoPackage is a folder with Go benchmarks.
type GoPackage struct {
	Folder     string
	Module     string   // folder of its module
	Benchmarks []string // functions; none where the sources do not parse
}

// GoBenchmarks finds packages with benchmarks, those nearest to the root first.
func (f *Files) GoBenchmarks() (all []GoPackage) {
	var modules []string
	for _, name := range f.Named(func(base string) bool { return base == "go.mod" }) {
		modules = append(modules, path.Dir(name))
	}
	for _, name := range f.Named(func(base string) bool { return strings.HasSuffix(base, "_test.go") }) {
		folder := path.Dir(name)
		module := moduleOf(folder, modules)
		if module == "" || ignoredByGo(folder) {
			continue
		}
		names, found := goBenchmarks(f.Content(name))
		if !found {
			continue
		}
		i := slices.IndexFunc(all, func(p GoPackage) bool { return p.Folder == folder })
		if i < 0 {
			i, all = len(all), append(all, GoPackage{Folder: folder, Module: module})
		}
		all[i].Benchmarks = append(all[i].Benchmarks, names...)
	}
	return all
}

// ignoredByGo reports whether patterns such as ./... leave a folder out.
func ignoredByGo(folder string) bool {
	return strings.HasPrefix(folder, "_") || strings.Contains(folder, "/_")
}

// moduleOf is the folder of the module that has a package, among those with a go.mod; "" for none.
func moduleOf(folder string, modules []string) string {
	for !slices.Contains(modules, folder) {
		if folder == "." {
			return ""
		}
		folder = path.Dir(folder)
	}
	return folder
}

// goBenchmarks are those of a test file. One that does not parse may have some.
func goBenchmarks(source string) (names []string, found bool) {
	if !strings.Contains(source, "func Benchmark") {
		return nil, false
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), "", source, parser.SkipObjectResolution)
	if err != nil {
		return nil, true
	}
	for _, d := range parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if ok && f.Recv == nil && isBenchmark(f.Name.Name) {
			names = append(names, f.Name.Name)
		}
	}
	return names, len(names) > 0
}

// isBenchmark follows the rule of package testing.
func isBenchmark(name string) bool {
	rest, ok := strings.CutPrefix(name, "Benchmark")
	first, _ := utf8.DecodeRuneInString(rest)
	return ok && (rest == "" || !unicode.IsLower(first))
}
