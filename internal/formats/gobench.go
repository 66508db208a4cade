package formats

import (
	"bytes"
	"strconv"
	"strings"
)

// goBench reads the lines of Go's benchmarks, https://go.dev/design/14313-benchmark-format:
// name, iterations, and pairs of value and unit. What follows the last "-" of a name
// is GOMAXPROCS where it is a number, and no part of the name.
func goBench(out []byte) ([]Benchmark, error) {
	var all repetitions
	for line := range bytes.Lines(out) {
		fields := strings.Fields(string(line))
		if len(fields) < 4 || len(fields)%2 != 0 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		if _, err := strconv.ParseUint(fields[1], 10, 64); err != nil {
			continue // a name that a program printed
		}
		values, err := goValues(fields[2:])
		if err != nil {
			return nil, err
		}
		if err := all.add(goName(fields[0]), values...); err != nil {
			return nil, err
		}
	}
	return all.benchmarks(), nil
}

func goName(name string) string {
	if i := strings.LastIndexByte(name, '-'); i > 0 {
		if _, err := strconv.ParseUint(name[i+1:], 10, 32); err == nil {
			return name[:i]
		}
	}
	return name
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
