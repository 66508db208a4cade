package formats

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

var goLine = lazyregexp.New(`(?m)^Benchmark\S*\s+[0-9]+\s+[0-9.eE+]+ ns/op`)

func isGoBench(data []byte) bool { return len(goLine.FindSubmatch(data)) > 0 }

// goBench reads the lines of Go's benchmarks, https://go.dev/design/14313-benchmark-format:
// name, iterations, and pairs of value and unit. Lines of one name are repetitions.
// The ending "-8" of a name, GOMAXPROCS, is left out where all names have the same: with
// -cpu 1,4 they differ and stay. A name
// that occurs in several packages is PACKAGE.NAME. Benchmarks that failed or skipped
// themselves are those of lines such as "--- FAIL: NAME"; -test.v prints those of skips.
func goBench(out []byte) ([]Benchmark, error) {
	rows, err := goRows(out)
	if err != nil {
		return nil, err
	}
	procs := commonProcs(rows)
	for i := range rows {
		if r := &rows[i]; r.end == goMeasured || r.end == goFailed {
			r.name = strings.TrimSuffix(r.name, procs)
		}
	}
	packages := owners(rows, func(r goRow) (name, owner string) { return r.name, r.pkg })
	var all repetitions
	cut := ""
	for _, r := range rows {
		name, full := r.name, ""
		if r.pkg != "" {
			full = r.pkg + "." + r.name
		}
		if full != "" && packages[r.name] == "" {
			name = full
		}
		if err := r.add(&all, name); err != nil {
			return nil, err
		}
		all.full[name] = full
		if r.end == goCut {
			cut = name
		}
	}
	benchmarks := withoutParents(all.benchmarks())
	for i := range benchmarks {
		benchmarks[i].Cut = cut != "" && benchmarks[i].Name == cut
	}
	return benchmarks, nil
}

func (r *goRow) add(all *repetitions, name string) error {
	switch r.end {
	case goSkipped:
		return all.skip(name, r.why)
	case goFailed, goCut:
		return all.fail(name, cmp.Or(r.why, "the benchmark failed: see its log"))
	}
	return all.add(name, r.values...)
}

// withoutParents leaves out benchmarks that failed because one that they run failed.
func withoutParents(all []Benchmark) (left []Benchmark) {
	failed := map[string]bool{}
	for _, b := range all {
		if b.Failed == "" || b.Skipped {
			continue
		}
		for i, c := range b.Name {
			if c == '/' {
				failed[b.Name[:i]] = true
			}
		}
	}
	for _, b := range all {
		if b.Failed == "" || b.Skipped || !failed[b.Name] {
			left = append(left, b)
		}
	}
	return left
}

// GoName takes the name of a benchmark of Go apart: PACKAGE.BenchmarkNAME, or
// BenchmarkNAME, of which the package is "".
func GoName(full string) (pkg, name string) {
	if strings.HasPrefix(full, goPrefix) {
		return "", full
	}
	if pkg, name, found := strings.Cut(full, "."+goPrefix); found {
		return pkg, goPrefix + name
	}
	return "", full
}

const goPrefix = "Benchmark"

// commonProcs returns the ending "-8" that the names of all measured rows have, "" where they
// have none or different ones.
func commonProcs(rows []goRow) (common string) {
	first := true
	for _, r := range rows {
		if r.end != goMeasured {
			continue
		}
		procs := ""
		if at := strings.LastIndexByte(r.name, '-'); at > 0 {
			if _, err := strconv.ParseUint(r.name[at+1:], 10, 32); err == nil {
				procs = r.name[at:]
			}
		}
		if !first && procs != common {
			return ""
		}
		common, first = procs, false
	}
	return common
}

// goUnits are the units of package testing. Those that a benchmark reports by
// itself are left out.
var goUnits = map[string]Value{
	"ns/op":     {"time_ns", 1},
	"MB/s":      {"bytes_per_s", 1e6},
	"B/op":      {"alloc_bytes", 1},
	"allocs/op": {"allocs", 1},
}

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
