package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// row is a line of the table: a metric of a benchmark, and what stands beside it.
type row struct {
	work, benchmark, metric  string
	floor, peer, floorMetric string  // what the floor is; benchmark and metric of it, "" for none
	scale                    float64 // from both metrics to the unit
	unit                     string
}

var rows = []row{
	{"`report` of 100,000 cells of two metrics, processor time", "Report/terminal", "cpu-s/op",
		"encoding/json decodes the run", "Report/floor", "cpu-s/op", 1, "s"},
	{"the same, most memory", "Report/terminal", "peak-MB", "", "", "", 1, "MB"},
	{"`report --format json` of it, processor time", "Report/json", "cpu-s/op",
		"encoding/json decodes the run", "Report/floor", "cpu-s/op", 1, "s"},
	{"the same, most memory", "Report/json", "peak-MB", "", "", "", 1, "MB"},
	{"`report --format html --out` of it, processor time", "Report/html--outreport.html", "cpu-s/op",
		"encoding/json decodes the run", "Report/floor", "cpu-s/op", 1, "s"},
	{"the same, most memory", "Report/html--outreport.html", "peak-MB", "", "", "", 1, "MB"},
	{"the same, the page", "Report/html--outreport.html", "page-MB", "", "", "", 1, "MB"},
	{"the baseline of it", "Report/baseline", "file-MB", "", "", "", 1, "MB"},
	{"an isolated process", "Isolated/paired", "isolated-us", "os/exec", "Isolated/paired", "bare-us", 1e-3, "ms"},
	{"a request to a persistent process", "Persistent/paired", "persistent-us",
		"its pipes alone", "Persistent/paired", "bare-us", 1e-3, "ms"},
	{"start of the command, processor time", "Start", "start-cpu-ms", "the program true", "Start", "floor-cpu-ms", 1, "ms"},
	{"watch on the host, added to 50 cells that do nothing", "Watch/many", "added-ms/run", "", "", "", 1, "ms"},
	{"a run of 712 cells that do nothing, added to each", "Matrix712/isolated", "own-us/cell",
		"the process alone", "Matrix712/isolated", "bare-us/cell", 1e-3, "ms"},
	{"5,000 rows of one process, processor time", "Rows", "own-s/run", "the program alone", "Rows", "floor-s/run", 1, "s"},
	{"a chunk of 256 streams, processor time", "Streams256", "cpu-ns/chunk",
		"net/http alone", "Streams256", "plain-cpu-ns/chunk", 1e-3, "µs"},
	{"8.4 million bfloat16 in files compared as FlashInfer-Bench does, processor time", "Files/fib", "cpu-ms/op",
		"numpy", "Files/python", "numpy-cpu-ms", 1, "ms"},
	{"the same, strictly", "Files/strict", "cpu-ms/op", "torch", "Files/python", "torch-cpu-ms", 1, "ms"},
	{"a million lengths packed, `best`", "Pack/best/1000000", "ns/op", "", "", "", 1e-9, "s"},
	{"the binary in the image", "Binary", "file-MB", "gzip, which a pull transfers", "Binary", "gzip-MB", 1, "MB"},
}

// measurements are metrics by the names of benchmarks, without the word Benchmark.
type measurements map[string]map[string]float64

// result is a line of testing.B: BenchmarkX/y-2  100  12 ns/op  3 other.
var result = regexp.MustCompile(`^Benchmark(\S+?)(?:-\d+)?\s+\d+\s+(.*)$`)

// read returns what benchmarks print, and the processor. A benchmark that failed is an error.
func read(from io.Reader) (all measurements, processor string, err error) {
	all = measurements{}
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		line := lines.Text()
		if name, ok := strings.CutPrefix(line, "cpu: "); ok {
			processor = name
		}
		if strings.HasPrefix(line, "FAIL") || strings.HasPrefix(line, "--- FAIL") {
			err = errors.New("a benchmark failed, so the page is as it was: see above")
		}
		if found := result.FindStringSubmatch(line); found != nil {
			all[found[1]] = metrics(strings.Fields(found[2]))
		}
	}
	return all, processor, errors.Join(err, lines.Err())
}

func metrics(fields []string) map[string]float64 {
	m := map[string]float64{}
	for i := 0; i+1 < len(fields); i += 2 {
		if v, err := strconv.ParseFloat(fields[i], 64); err == nil {
			m[fields[i+1]] = v
		}
	}
	return m
}

// table returns the rows of which the work was measured.
func table(all measurements) string {
	var b strings.Builder
	b.WriteString("| work | floor or peer in the same run | floor | measured |\n|---|---|--:|--:|\n")
	for _, r := range rows {
		value, ok := all[r.benchmark][r.metric]
		if !ok {
			continue
		}
		floor := "-"
		if v, ok := all[r.peer][r.floorMetric]; ok {
			floor = number(v*r.scale) + " " + r.unit
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s %s |\n", r.work, r.floorName(), floor, number(value*r.scale), r.unit)
	}
	return b.String()
}

func (r *row) floorName() string {
	if r.floor == "" {
		return "-"
	}
	return r.floor
}

// number has three digits, or all of a whole number.
func number(v float64) string {
	if v >= 100 || v <= -100 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
