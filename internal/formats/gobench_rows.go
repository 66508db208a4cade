package formats

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// goRow is one repetition of a benchmark, or how one ended without numbers.
type goRow struct {
	pkg, name string
	end       goEnd
	values    []Value
	why       string
}

type goEnd int

const (
	goMeasured goEnd = iota
	goSkipped
	goFailed
	goCut // the program ended while it ran
)

// goLines reads the output of Go's benchmarks line by line.
type goLines struct {
	rows    []goRow
	pkg     string
	started string // the benchmark whose name stands on the line before, as -test.v prints
	log     string // the last line that it logged
	open    bool   // the line before is "--- FAIL: NAME", whose log follows
}

// goRows returns the rows of benchmarks, each with the package whose name stands
// above it.
func goRows(out []byte) ([]goRow, error) {
	var l goLines
	for line := range bytes.Lines(out) {
		if err := l.line(strings.TrimRight(string(line), "\r\n")); err != nil {
			return nil, err
		}
		if len(l.rows) > maxRepetitions {
			return nil, fmt.Errorf("the output holds more than %d lines of benchmarks: measure fewer at once", maxRepetitions)
		}
	}
	if l.started != "" {
		l.end(goCut, l.started, "the program ended while it ran")
	}
	return l.rows, nil
}

// logged finds a line that testing.B logs, with the place that wrote it.
var logged = lazyregexp.New(`^    ([^ :]+\.go:[0-9]+: )?(\S.*)$`)

func (l *goLines) line(line string) error {
	if m := logged.FindStringSubmatch(line); m != nil {
		l.logs(m[1], m[2])
		return nil
	}
	l.open = false
	for end, prefix := range map[goEnd]string{goSkipped: "--- SKIP: " + goPrefix, goFailed: "--- FAIL: " + goPrefix} {
		if name, ok := strings.CutPrefix(line, prefix); ok {
			l.end(end, goPrefix+name, l.log)
			l.open = l.log == ""
			l.started, l.log = "", ""
			return nil
		}
	}
	if name, ok := strings.CutPrefix(line, "pkg: "); ok {
		l.pkg = strings.TrimSpace(name)
		return nil
	}
	fields := strings.Fields(line)
	switch {
	case len(fields) == 0:
	case fields[0] == "PASS" || fields[0] == "FAIL" || fields[0] == "ok" || fields[0] == "---":
		l.started, l.log = "", ""
	case len(fields) == 1 && strings.HasPrefix(line, goPrefix):
		l.started, l.log = line, ""
	default:
		return l.measured(fields)
	}
	return nil
}

// logs notes a line of a log: of the benchmark that runs, or of the one that ended on
// the line before.
func (l *goLines) logs(place, words string) {
	switch {
	case l.open:
		l.rows[len(l.rows)-1].log(place, words)
	case l.started != "":
		l.log = place + words
	}
}

func (l *goLines) end(how goEnd, name, log string) {
	r := goRow{pkg: l.pkg, name: name, end: how}
	if m := logged.FindStringSubmatch("    " + log); m != nil {
		r.log(m[1], m[2])
	}
	l.rows = append(l.rows, r)
}

// log makes a line of the log the reason. That of a skip needs no place.
func (r *goRow) log(place, words string) {
	if r.end == goSkipped {
		place = ""
	}
	r.why = text.Clip(place+words, maxWhy)
}

const maxWhy = 300

// measured reads a line of numbers.
func (l *goLines) measured(fields []string) error {
	if len(fields) < 4 || len(fields)%2 != 0 || !strings.HasPrefix(fields[0], goPrefix) {
		return nil
	}
	if _, err := strconv.ParseUint(fields[1], 10, 64); err != nil {
		return nil // a name that a program printed
	}
	values, err := goValues(fields[2:])
	if err != nil {
		return fmt.Errorf("%s: %w: see what the program printed in the middle of this line", text.Quote(fields[0], 200), err)
	}
	l.rows = append(l.rows, goRow{pkg: l.pkg, name: fields[0], values: values})
	l.started, l.log = "", ""
	return nil
}
