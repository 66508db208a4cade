// Command benchtable reads what `go test -bench` prints from standard input, and writes a table of it between two lines of a
// page: each work beside its floor or peer, which the same benchmark measures in the same run.
//
//	go test -run '^$' -bench . ./... | go run ./scripts/benchtable docs/performance.md
package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go test -bench . | go run ./scripts/benchtable PAGE.md")
		os.Exit(2)
	}
	if err := write(os.Args[1], io.TeeReader(os.Stdin, os.Stderr)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write(page string, benchmarks io.Reader) error {
	measured, processor, err := read(benchmarks)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	where := fmt.Sprintf("%s, %d processors, %s, %s.", processor, runtime.NumCPU(), runtime.GOOS+"/"+runtime.GOARCH,
		time.Now().UTC().Format(time.DateOnly))
	changed, err := replace(string(text), "\n"+where+"\n\n"+table(measured)+"\n")
	if err != nil {
		return fmt.Errorf("%s: %w", page, err)
	}
	return os.WriteFile(page, []byte(changed), 0o644)
}

// The lines that the table stands between.
const (
	begin = "<!-- what follows is written by make bench-table -->\n"
	end   = "<!-- end of the output of make bench-table -->\n"
)

// replace puts a text between the two lines of a page.
func replace(page, text string) (string, error) {
	before, rest, found := strings.Cut(page, begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return "", fmt.Errorf("the page lacks one of its two lines: write them where the table belongs: %q and %q", begin, end)
	}
	return before + begin + text + end + after, nil
}
