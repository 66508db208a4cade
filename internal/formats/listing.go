package formats

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// Listing is what a harness reports when it runs each of its benchmarks once.
type Listing struct {
	Benchmarks []Benchmark
	// Whole is false where the program ended before all of its benchmarks may have run.
	Whole bool
}

// CutAt returns the benchmark that ran when the program ended early; "" for none.
func (l Listing) CutAt() string {
	if i := slices.IndexFunc(l.Benchmarks, func(b Benchmark) bool { return b.Cut }); i >= 0 {
		return l.Benchmarks[i].Name
	}
	return ""
}

// List reads the result of a harness that ran all of its benchmarks, with the exit code
// of the program, and its standard output where that names benchmarks which the result
// does not have. A result that is nil has none.
func List(format string, result, stdout []byte, code int) (l Listing, err error) {
	if result != nil {
		if l.Benchmarks, err = Harnesses[format](result); err != nil {
			return l, err
		}
	}
	if format == pytestFormat {
		l.Benchmarks = pytestEnds(l.Benchmarks, stdout)
	}
	l.Whole = l.whole(format, stdout, code)
	if len(l.Benchmarks) > maxBenchmarks {
		return l, fmt.Errorf("the harness lists more than %d benchmarks: list fewer in one suite", maxBenchmarks)
	}
	return l, nil
}

// aborted finds what go test prints of a test program that did not end by itself.
var aborted = lazyregexp.New(`(?m)^(panic: |fatal error: |exit status ([02-9]|1\d)|signal: )`)

func (l *Listing) whole(format string, stdout []byte, code int) bool {
	failed := false
	for _, b := range l.Benchmarks {
		if b.Cut {
			return false
		}
		failed = failed || b.Failed != "" && !b.Skipped
	}
	switch {
	case code == 0:
		return true
	case format == goFormat: // 1 where a benchmark failed
		return code == 1 && failed && len(aborted.FindSubmatch(stdout)) == 0
	case format == pytestFormat: // 1 where a test failed, 5 where there is none
		return code == 1 && failed || code == 5
	}
	return false
}

const (
	goFormat     = "gobench"
	pytestFormat = "pytest-benchmark"
)

var (
	// ended finds what pytest -v prints of a test, and its percentage.
	ended   = lazyregexp.New(`^(\S.*) (SKIPPED|FAILED|ERROR)(?: \((.*)\))?\s*(?:\[ *\d+%\])?$`)
	summary = lazyregexp.New(`^(?:FAILED|ERROR) (\S.*?) - (.*)$`)
)

// notBenchmark is the reason of pytest --benchmark-only for other tests.
const notBenchmark = "non-benchmark"

// pytestEnds adds the tests that pytest skipped, and those that failed, which its plugin
// lists as measured or not at all.
func pytestEnds(all []Benchmark, stdout []byte) []Benchmark {
	at := map[string]int{}
	for i, b := range all {
		at[b.Name] = i
	}
	why := map[string]string{}
	for line := range bytes.Lines(stdout) {
		if m := summary.FindSubmatch(bytes.TrimSpace(line)); m != nil {
			why[string(m[1])] = text.Clip(string(m[2]), maxWhy)
		}
	}
	for line := range bytes.Lines(stdout) {
		m := ended.FindSubmatch(bytes.TrimSpace(line))
		if m == nil || !bytes.Contains(m[1], []byte("::")) || bytes.Contains(m[3], []byte(notBenchmark)) {
			continue
		}
		b := Benchmark{Name: string(m[1]), Failed: "the test failed"}
		if reason, known := why[b.Name]; known {
			b.Failed = reason
		}
		if b.Skipped = string(m[2]) == "SKIPPED"; b.Skipped {
			b.Failed = strings.TrimSuffix("skipped: "+text.Clip(string(m[3]), maxWhy), ": ")
		}
		if i, known := at[b.Name]; known {
			all[i] = b
		} else {
			at[b.Name] = len(all)
			all = append(all, b)
		}
	}
	return all
}
