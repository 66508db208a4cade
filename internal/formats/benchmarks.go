package formats

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/text/jsonread/jsonkey"
)

// Benchmark is one benchmark of a harness as one process measured it.
type Benchmark struct {
	Name   string
	Values []Value // of [BenchmarkMetrics], each at most once: medians of its repetitions
	Failed string  // why it has no values; "" if it has
	// Skipped means that the benchmark skipped itself, for the reason that Failed has.
	Skipped bool
	// Cut means that the program ended while the benchmark ran, so that others may be
	// unknown.
	Cut bool
	// Full is the name with the package before it, where Go's tools state one.
	Full string
	// stdErrs are the standard errors of Values, by metric.
	stdErrs map[string]float64
}

// Harnesses read what benchmark harnesses print or save, by the name that a suite of
// kind exec has for them. Repetitions in one process are not independent, so they
// become one value. The map must not be changed.
//
//	metric       unit  what                            gobench     googlebench       hyperfine  pytest-benchmark  nvbench        criterion    jmh
//	time_ns      ns    one operation, command or call  ns/op       real_time         median     median            cold GPU mean  estimate     mean
//	cpu_time_ns  ns    the processor's, or the host's  -           cpu_time          user+sys   -                 cold CPU mean  -            -
//	bytes_per_s  B/s                                   MB/s        bytes_per_second  -          -                 -              thrpt        -
//	items_per_s  1/s                                   -           items_per_second  -          -                 -              thrpt        ops/s
//	alloc_bytes  B     allocated per operation         B/op        -                 -          -                 -              -            gc.alloc.rate.norm
//	allocs       -     allocations per operation       allocs/op   -                 -          -                 -              -            -
//
// Catch2 and torch.utils.benchmark have time_ns alone: a mean, and a median. nanobench has the median, and the
// rate of batches of bytes or items. BenchmarkDotNet has the median, and alloc_bytes.
var Harnesses = harnesses()

// BenchmarkMetrics are the metrics of harnesses. The time is gated, and allocations where they
// are those of one count. The others say why the time changed.
var BenchmarkMetrics = []bench.Metric{
	{Name: "time_ns", Unit: "ns", Better: bench.Lower},
	{Name: "cpu_time_ns", Unit: "ns", Better: bench.Lower, Informational: true, Optional: true},
	{Name: "bytes_per_s", Unit: "B/s", Better: bench.Higher, Informational: true, Optional: true},
	{Name: "items_per_s", Unit: "1/s", Better: bench.Higher, Informational: true, Optional: true},
	{Name: "alloc_bytes", Unit: "B", Better: bench.Lower, Informational: true, Counted: true, Optional: true},
	{Name: "allocs", Better: bench.Lower, Kind: bench.Ratio, Informational: true, Counted: true, Optional: true},
}

func harnesses() map[string]func([]byte) ([]Benchmark, error) {
	all := map[string]func([]byte) ([]Benchmark, error){}
	for _, f := range formats {
		if f.benchmarks != nil {
			all[f.name] = f.benchmarks
		}
	}
	return all
}

// Limits on the names and counts that a harness can put into a report.
const (
	maxBenchmarks  = 10_000
	maxRepetitions = 100_000 // values of all benchmarks
)

// repetitions gathers the benchmarks of one process in their order.
type repetitions struct {
	order  []string
	values map[string]map[string][]float64 // by benchmark and metric
	failed map[string]string
	skips  map[string]bool
	full   map[string]string
	n      int
}

// add adds what one repetition measured. A value that no measurement yields is an error.
func (r *repetitions) add(name string, values ...Value) error {
	if r.values == nil {
		r.values, r.failed, r.skips, r.full = map[string]map[string][]float64{}, map[string]string{}, map[string]bool{}, map[string]string{}
	}
	if r.n += max(len(values), 1); r.n > maxRepetitions || len(r.order) > maxBenchmarks {
		return fmt.Errorf("the result holds more than %d benchmarks or %d values: measure fewer at once", maxBenchmarks, maxRepetitions)
	}
	if r.values[name] == nil {
		r.order = append(r.order, name)
		r.values[name] = map[string][]float64{}
	}
	for _, v := range values {
		if !bench.Finite(v.Value) || v.Value < 0 || v.Value == 0 && v.Metric == "time_ns" {
			return fmt.Errorf("%s of %s is %v, which no measurement yields: see the log of the program", v.Metric, text.Quote(name, 200),
				v.Value)
		}
		r.values[name][v.Metric] = append(r.values[name][v.Metric], v.Value)
	}
	return nil
}

// once adds what a harness measured that lists each benchmark once: two of one name
// are two benchmarks, and no repetitions.
func (r *repetitions) once(name string, values ...Value) error {
	if r.values[name] != nil {
		return fmt.Errorf("the benchmark %s occurs twice: give each a name of its own, or measure one of them", text.Quote(name, 200))
	}
	return r.add(name, values...)
}

// fail notes why a benchmark has no values.
func (r *repetitions) fail(name, why string) error {
	err := r.add(name)
	r.failed[name] = text.Plain(why, 500)
	return err
}

// skip notes that a benchmark skipped itself, and why.
func (r *repetitions) skip(name, why string) error {
	err := r.fail(name, strings.TrimSuffix("skipped: "+why, ": "))
	r.skips[name] = true
	return err
}

// benchmarks are the medians.
func (r *repetitions) benchmarks() (all []Benchmark) {
	for _, name := range r.order {
		b := Benchmark{Name: name, Failed: r.failed[name], Skipped: r.skips[name], Full: r.full[name]}
		for _, m := range BenchmarkMetrics {
			if values := r.values[name][m.Name]; len(values) > 0 && b.Failed == "" {
				b.Values = append(b.Values, Value{m.Name, stats.Median(values)})
			}
		}
		all = append(all, b)
	}
	return all
}

// harnessJSON decodes the JSON document that a harness saved or printed. Text before
// it, such as a log, is an error: give the file that the harness writes.
func harnessJSON(data []byte, into any) error {
	if err := jsonkey.Check(data); err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("the result is not the JSON of this harness (%w): let it write a file, and give that (read.file in a suite)", err)
	}
	return nil
}

// BenchmarkIndex finds benchmarks by the names that a configuration has for them, of Go with or without the package.
func BenchmarkIndex(all []Benchmark) map[string]int {
	at := make(map[string]int, len(all))
	for i, b := range slices.Backward(all) {
		if at[b.Name] = i; b.Full != "" {
			at[b.Full] = i
		}
	}
	return at
}

// owners returns whose each name is; "" where several have the name.
func owners[T any](all []T, of func(T) (name, owner string)) map[string]string {
	found := map[string]string{}
	for _, one := range all {
		name, owner := of(one)
		if first, known := found[name]; known && first != owner {
			found[name] = ""
		} else if !known {
			found[name] = owner
		}
	}
	return found
}
