package setup

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"runtime"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// goBenchmarks finds packages with Go benchmarks: a suite for each.
func (r *repository) goBenchmarks(ctx context.Context) (all []Suite, err error) {
	tests := r.files.named(func(base string) bool { return strings.HasSuffix(base, "_test.go") })
	var folders []string
	guesses := map[string][]string{}
	for _, name := range tests {
		source := r.files.content(name)
		folder := path.Dir(name)
		if !strings.Contains(source, "func Benchmark") || r.moduleOf(folder) == "" || ignoredByGo(folder) {
			continue
		}
		if !slices.Contains(folders, folder) {
			folders = append(folders, folder)
		}
		guesses[folder] = append(guesses[folder], goNames(source)...)
	}
	r.leaveOut("Go benchmarks", folders)
	for _, folder := range folders[:min(len(folders), maxSuites)] {
		s, _, err := r.listed(ctx, r.goHarness(folder, guesses[folder]))
		if err != nil {
			return nil, err
		}
		if !r.has("go") {
			s.Missing = "install Go"
		}
		if len(folders) > 1 && folder != "." {
			s.Prefix = folder + "."
		}
		all = append(all, s)
	}
	return all, nil
}

// ignoredByGo reports whether patterns such as ./... leave a folder out.
func ignoredByGo(folder string) bool {
	return strings.HasPrefix(folder, "_") || strings.Contains(folder, "/_")
}

// goHarness compiles the tests of a package once: go test would do so for each process.
func (r *repository) goHarness(folder string, guess []string) *harness {
	name := "go"
	if folder != "." {
		name = "go-" + plain(path.Base(folder), "package")
	}
	program := path.Join(up(folder), ".accelgate", "bin", strings.ReplaceAll(folder, "/", "-")+".test")
	if folder == "." {
		program = "./.accelgate/bin/" + name + ".test"
	}
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	run := []string{program, "-test.run", "^$", "-test.bench"}
	return &harness{
		name: name, title: "Go benchmarks in " + local(folder), dir: folder, format: "gobench", guess: guess,
		program: program,
		compile: []string{"go", "test", "-c", "-o", program, "."},
		command: append(slices.Clone(run), "^{regexp}$", "-test.benchtime", "200ms", "-test.benchmem"),
		list:    append(slices.Clone(run), ".", "-test.benchtime", "1x", "-test.v"),
	}
}

// up is the way from a folder of the repository to its root.
func up(folder string) string {
	return strings.TrimSuffix(strings.Repeat("../", strings.Count(folder, "/")+1), "/")
}

// moduleOf is the folder of the module that has a package; "" for none.
func (r *repository) moduleOf(folder string) string {
	for {
		if r.files.has(path.Join(folder, "go.mod")) {
			return folder
		}
		if folder == "." {
			return ""
		}
		folder = path.Dir(folder)
	}
}

// goNames are the benchmarks of a test file.
func goNames(source string) (names []string) {
	parsed, err := parser.ParseFile(token.NewFileSet(), "", source, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	for _, d := range parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if ok && f.Recv == nil && isBenchmark(f.Name.Name) {
			names = append(names, f.Name.Name)
		}
	}
	return names
}

// isBenchmark follows the rule of package testing.
func isBenchmark(name string) bool {
	rest, ok := strings.CutPrefix(name, "Benchmark")
	first, _ := utf8.DecodeRuneInString(rest)
	return ok && (rest == "" || !unicode.IsLower(first))
}
