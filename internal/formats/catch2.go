package formats

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"

	"github.com/accelgate/accelgate/internal/text"
)

func isCatch2(data []byte) bool {
	return bytes.Contains(data, []byte("<Catch name=")) || bytes.Contains(data, []byte("<Catch2TestRun "))
}

// catchCase is a benchmark with the test case that it stands in.
type catchCase struct {
	test, name string
	mean       string // in nanoseconds
	failed     string
}

// catch2 reads what Catch2 writes with -r xml. Values are means. The name is the
// benchmark's, and TEST CASE/BENCHMARK where several test cases have one of the
// name. The benchmarks of a test case that failed are failed.
func catch2(out []byte) ([]Benchmark, error) {
	if start := bytes.IndexByte(out, '<'); start > 0 {
		out = out[start:]
	}
	found, err := catchCases(xml.NewDecoder(bytes.NewReader(out)))
	if err != nil {
		return nil, err
	}
	tests := owners(found, func(c *catchCase) (name, owner string) { return c.name, c.test })
	var all repetitions
	for _, c := range found {
		if tests[c.name] == "" {
			c.name = c.test + "/" + c.name
		}
		if err := c.add(&all); err != nil {
			return nil, err
		}
	}
	return all.benchmarks(), nil
}

func (c *catchCase) add(all *repetitions) error {
	if c.failed != "" {
		return all.fail(c.name, c.failed)
	}
	mean, err := finite(c.mean)
	if err != nil {
		return fmt.Errorf("the mean of benchmark %s: %w: see whether the program ended early", text.Quote(c.name, 200), err)
	}
	return all.once(c.name, Value{"time_ns", mean})
}

// catchCases returns the benchmarks in their order.
func catchCases(d *xml.Decoder) (found []*catchCase, err error) {
	var test string
	first := 0 // benchmark of the test case
	for {
		token, err := d.Token()
		switch {
		case err == io.EOF && d.InputOffset() > 0:
			return found, nil
		case err != nil:
			return nil, fmt.Errorf(
				"the result is not the XML of Catch2 (%.200v): let it write a file with -r xml -o FILE, and give that (read.file in a suite)",
				err)
		}
		start, isStart := token.(xml.StartElement)
		if !isStart {
			continue
		}
		switch start.Name.Local {
		case "TestCase":
			test, first = attribute(start, "name"), len(found)
		case "BenchmarkResults":
			if found = append(found, &catchCase{test: test, name: attribute(start, "name")}); len(found) > maxBenchmarks {
				return nil, errors.New("the result holds too many benchmarks: measure fewer at once")
			}
		case "mean":
			last(found).mean = attribute(start, "value")
		case "failed":
			last(found).failed = cmp.Or(attribute(start, "message"), "the benchmark threw an exception")
		case "OverallResult":
			for _, c := range found[first:] {
				if attribute(start, "success") != "true" {
					c.failed = cmp.Or(c.failed, "its test case failed: see the log of the program")
				}
			}
		}
	}
}

// last is the benchmark that an element belongs to.
func last(found []*catchCase) *catchCase {
	if len(found) == 0 {
		return &catchCase{}
	}
	return found[len(found)-1]
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}
