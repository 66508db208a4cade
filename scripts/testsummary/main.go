// Command testsummary reads the events of `go test -json` from standard input, prints packages as they end, the output
// of failed tests, and a summary: packages, tests, skips with their reasons, time, the slowest. It exits with 1 if a
// test failed or none ran.
//
//	go test -json ./... | go run ./scripts/testsummary [-out FILE]
//
// With -out it writes the top-level tests that passed, one "package test" a line. Later
//
//	go run ./scripts/testsummary -check FILE...
//
// compares these files with the tests that the packages define, and exits with 1 if one is in none of them.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

const module = "github.com/accelgate/accelgate/"

// event is one line of `go test -json`: go doc test2json.
type event struct {
	Action, Package, ImportPath, Test, Output string
	Elapsed                                   float64 // seconds
}

func main() {
	out := flag.String("out", "", "file for the top-level tests that passed")
	check := flag.Bool("check", false, "compare the files of all tiers with the tests that the packages define")
	flag.Parse()
	if *check {
		n, err := inNoTier(os.Stdout, flag.Args())
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		if n > 0 || err != nil {
			os.Exit(1)
		}
		return
	}
	s := newSummary(os.Stdout)
	s.read(os.Stdin)
	s.print(time.Since(s.start))
	if *out != "" {
		if err := os.WriteFile(*out, []byte(strings.Join(s.passedTop, "\n")+"\n"), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	if s.failed > 0 || s.passed == 0 {
		os.Exit(1)
	}
}

func (s *summary) read(r io.Reader) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			fmt.Fprintln(s.w, lines.Text())
			continue
		}
		e.Package = strings.TrimPrefix(e.Package, module)
		s.add(e)
	}
	if err := lines.Err(); err != nil {
		fmt.Fprintln(s.w, "read events:", err)
		s.failed++
	}
}
