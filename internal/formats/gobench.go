package formats

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/lazyregexp"
	"github.com/accelgate/accelgate/internal/text"
)

var goLine = lazyregexp.New(`(?m)^Benchmark\S*\s+[0-9]+\s+[0-9.eE+]+ ns/op`)

func isGoBench(data []byte) bool { return len(goLine.FindSubmatch(data)) > 0 }

// goBench reads the lines of Go's benchmarks, https://go.dev/design/14313-benchmark-format:
// name, iterations, and pairs of value and unit. Lines of one name are repetitions.
// The ending "-8" of a name, GOMAXPROCS, is left out where all names have the same: with
// -cpu 1,4 they differ and stay. A name
// that occurs in several packages is PACKAGE.NAME.
func goBench(out []byte) ([]Benchmark, error) {
	rows, err := goRows(out)
	if err != nil {
		return nil, err
	}
	procs := commonProcs(rows)
	packages := owners(rows, func(r goRow) (name, owner string) { return r.name, r.pkg })
	var all repetitions
	for _, r := range rows {
		name := strings.TrimSuffix(r.name, procs)
		if r.pkg != "" && packages[r.name] == "" {
			name = r.pkg + "." + name
		}
		if err := all.add(name, r.values...); err != nil {
			return nil, err
		}
	}
	return all.benchmarks(), nil
}

// goRow is one repetition of a benchmark.
type goRow struct {
	pkg, name string
	values    []Value
}

// goRows returns the lines of benchmarks, each with the package whose name stands
// above it.
func goRows(out []byte) (rows []goRow, err error) {
	pkg := ""
	for line := range bytes.Lines(out) {
		if name, ok := bytes.CutPrefix(line, []byte("pkg: ")); ok {
			pkg = strings.TrimSpace(string(name))
			continue
		}
		fields := strings.Fields(string(line))
		if len(fields) < 4 || len(fields)%2 != 0 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		if _, err := strconv.ParseUint(fields[1], 10, 64); err != nil {
			continue // a name that a program printed
		}
		values, err := goValues(fields[2:])
		if err != nil {
			return nil, fmt.Errorf("%s: %w: see what the program printed in the middle of this line", text.Quote(fields[0], 200), err)
		}
		if rows = append(rows, goRow{pkg, fields[0], values}); len(rows) > maxRepetitions {
			return nil, fmt.Errorf("the output holds more than %d lines of benchmarks: measure fewer at once", maxRepetitions)
		}
	}
	return rows, nil
}

// commonProcs returns the ending "-8" that the names of all rows have, "" where they
// have none or different ones.
func commonProcs(rows []goRow) (common string) {
	for i, r := range rows {
		procs := ""
		if at := strings.LastIndexByte(r.name, '-'); at > 0 {
			if _, err := strconv.ParseUint(r.name[at+1:], 10, 32); err == nil {
				procs = r.name[at:]
			}
		}
		if i > 0 && procs != common {
			return ""
		}
		common = procs
	}
	return common
}

// goUnits are the units of package testing. Those that a benchmark reports by
// itself are left out.
var goUnits = map[string]Value{"ns/op": {"time_ns", 1}, "MB/s": {"bytes_per_s", 1e6}, "B/op": {"alloc_bytes", 1}, "allocs/op": {"allocs", 1}}

func goValues(pairs []string) (values []Value, err error) {
	for i := 0; i+1 < len(pairs); i += 2 {
		unit, known := goUnits[pairs[i+1]]
		if !known {
			continue
		}
		v, err := finite(pairs[i])
		if err != nil {
			return nil, err
		}
		values = append(values, Value{unit.Metric, v * unit.Value})
	}
	return values, nil
}
