package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// testName matches what go test runs, apart from TestMain: seeds of fuzz targets are tests, too.
var testName = regexp.MustCompile(`^(Test|Fuzz)([^a-z].*)?$`)

// exempt are tests that CI cannot run, with the reason.
var exempt = map[string]string{
	"internal/device/energy TestUnreadable":                               "root may read every file: run make test as another user",
	"internal/suite/cases/casefile TestLoadUnreadable":                    "root may read every file: run make test as another user",
	"internal/github TestBehindAProxy":                                    "TestThroughAProxy starts it in a process of its own",
	"internal/testing/githubtest/openapi TestCommittedDescriptionIsFresh": "it compares with GitHub's whole description, which is not in the repository",
}

// inNoTier prints the tests that the packages define and that none of the files lists as passed, except those of the
// nightly tier, and returns how many.
func inNoTier(w io.Writer, files []string) (n int, err error) {
	passed := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return 0, err
		}
		for line := range strings.Lines(string(text)) {
			passed[strings.TrimSpace(line)] = true
		}
	}
	all, err := defined()
	if err != nil {
		return 0, err
	}
	for _, test := range all {
		switch reason := exempt[test]; {
		case passed[test] || strings.HasSuffix(test, "Nightly"):
		case reason != "":
			fmt.Fprintf(w, "exempt: %s: %s\n", test, reason)
		default:
			fmt.Fprintln(w, "in no tier:", test)
			n++
		}
	}
	fmt.Fprintf(w, "%d tests are defined, %d are in no tier\n", len(all), n)
	return n, nil
}

// defined returns "package test" for each test that this system builds.
func defined() (all []string, err error) {
	out, err := exec.Command("go", "list", "-json=Dir,ImportPath,TestGoFiles,XTestGoFiles", "./...").Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	packages := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p struct {
			Dir, ImportPath           string
			TestGoFiles, XTestGoFiles []string
		}
		if err := packages.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		for _, name := range append(p.TestGoFiles, p.XTestGoFiles...) {
			tests, err := testsOf(filepath.Join(p.Dir, name))
			if err != nil {
				return nil, err
			}
			for _, test := range tests {
				all = append(all, strings.TrimPrefix(p.ImportPath, module)+" "+test)
			}
		}
	}
}

func testsOf(file string) (names []string, err error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, d := range parsed.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name != "TestMain" && testName.MatchString(f.Name.Name) {
			names = append(names, f.Name.Name)
		}
	}
	return names, nil
}
