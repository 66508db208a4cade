package formats

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// isJMH reports a benchmark of the list that JMH writes.
func isJMH(o object) bool { return o.has("benchmark", "mode", "primaryMetric") }

// jmhRun is a benchmark with one choice of its parameters in one mode.
type jmhRun struct {
	Benchmark string              `json:"benchmark"`
	Mode      string              `json:"mode"`
	Threads   float64             `json:"threads"`
	Params    map[string]string   `json:"params"`
	Primary   jmhScore            `json:"primaryMetric"`
	Secondary map[string]jmhScore `json:"secondaryMetrics"`
}

type jmhScore struct {
	Score any    `json:"score"` // a number, or "NaN"
	Unit  string `json:"scoreUnit"`
}

// jmh reads what JMH writes with -rf json: the mean over all forks and iterations.
// The name is the benchmark's with its parameters as JMH prints them,
// "org.x.Sum.total:size=10,kind=long", and ":MODE" where it was measured in several
// modes. A throughput becomes the time that -bm avgt reports, threads / throughput.
func jmh(out []byte) ([]Benchmark, error) {
	var result []jmhRun
	if err := harnessJSON(out, &result); err != nil {
		return nil, err
	}
	modes := map[string]int{}
	for _, b := range result {
		modes[b.name()]++
	}
	var all repetitions
	for _, b := range result {
		name := b.name()
		if modes[name] > 1 {
			name += ":" + b.Mode
		}
		values, err := b.values()
		if err != nil {
			return nil, fmt.Errorf("benchmark %.200q: %w", name, err)
		}
		if err := all.once(name, values...); err != nil {
			return nil, err
		}
	}
	return all.benchmarks(), nil
}

func (b *jmhRun) name() string {
	var params []string
	for _, key := range slices.Sorted(maps.Keys(b.Params)) {
		params = append(params, key+"="+b.Params[key])
	}
	if len(params) == 0 {
		return b.Benchmark
	}
	return b.Benchmark + ":" + strings.Join(params, ",")
}

// jmhUnits are nanoseconds, by the names that JMH gives them.
var jmhUnits = map[string]float64{"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "min": 60e9, "hr": 3600e9, "day": 86400e9}

func (b *jmhRun) values() (values []Value, err error) {
	score, isNumber := b.Primary.Score.(float64)
	if !isNumber || score <= 0 {
		return nil, fmt.Errorf("its score is %.40q: see in the log what JMH could not measure", fmt.Sprint(b.Primary.Score))
	}
	over, under, _ := strings.Cut(b.Primary.Unit, "/")
	switch {
	case under == "op" && jmhUnits[over] > 0:
		values = append(values, Value{"time_ns", score * jmhUnits[over]})
	case over == "ops" && jmhUnits[under] > 0:
		values = append(values, Value{"time_ns", max(b.Threads, 1) * jmhUnits[under] / score},
			Value{"items_per_s", score * 1e9 / jmhUnits[under]})
	default:
		return nil, fmt.Errorf("its unit is %.40q, which is not a time of an operation: see whether the file is of JMH -rf json",
			b.Primary.Unit)
	}
	// Older versions begin the name with a dot in the middle.
	for _, key := range []string{"gc.alloc.rate.norm", "·gc.alloc.rate.norm"} {
		if v, isNumber := b.Secondary[key].Score.(float64); isNumber && b.Secondary[key].Unit == "B/op" {
			return append(values, Value{"alloc_bytes", v}), nil
		}
	}
	return values, nil
}
