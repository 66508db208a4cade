package formats

import (
	"cmp"
	"fmt"
)

// googleBench reads the JSON of Google Benchmark
// (--benchmark_format=json, --benchmark_out=FILE). Aggregates count only where the
// repetitions themselves are not listed, and of those the median.
func googleBench(out []byte) ([]Benchmark, error) {
	var result struct {
		Benchmarks []googleRun `json:"benchmarks"`
	}
	if err := harnessJSON(out, &result); err != nil {
		return nil, err
	}
	repeated := map[string]bool{}
	for _, b := range result.Benchmarks {
		repeated[b.name()] = repeated[b.name()] || b.Type != "aggregate"
	}
	var all repetitions
	for _, b := range result.Benchmarks {
		if b.Type == "aggregate" && (repeated[b.name()] || b.Aggregate != "median") {
			continue
		}
		if err := b.add(&all); err != nil {
			return nil, err
		}
	}
	return all.benchmarks(), nil
}

// googleRun is a repetition, or an aggregate of them.
type googleRun struct {
	Name      string   `json:"name"`
	RunName   string   `json:"run_name"` // without what an aggregate adds
	Type      string   `json:"run_type"`
	Aggregate string   `json:"aggregate_name"`
	Unit      string   `json:"time_unit"`
	Real      *float64 `json:"real_time"`
	CPU       *float64 `json:"cpu_time"`
	Bytes     *float64 `json:"bytes_per_second"`
	Items     *float64 `json:"items_per_second"`
	Failed    bool     `json:"error_occurred"`
	Message   string   `json:"error_message"`
	Skipped   bool     `json:"skipped"` // with times of 0
	Why       string   `json:"skip_message"`
}

func (b *googleRun) name() string { return cmp.Or(b.RunName, b.Name) }

// googleUnits are nanoseconds.
var googleUnits = map[string]float64{"": 1, "ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}

func (b *googleRun) add(to *repetitions) error {
	if b.Failed {
		return to.fail(b.name(), cmp.Or(b.Message, "the harness reports an error"))
	}
	if b.Skipped {
		return to.skip(b.name(), b.Why)
	}
	scale, known := googleUnits[b.Unit]
	if !known || b.Real == nil {
		return fmt.Errorf("benchmark %.200q has no real_time in ns, us, ms or s: see whether the file is of Google Benchmark", b.name())
	}
	values := []Value{{"time_ns", *b.Real * scale}}
	for metric, v := range map[string]*float64{"cpu_time_ns": b.CPU, "bytes_per_s": b.Bytes, "items_per_s": b.Items} {
		if v != nil && metric == "cpu_time_ns" {
			values = append(values, Value{metric, *v * scale})
		} else if v != nil {
			values = append(values, Value{metric, *v})
		}
	}
	return to.add(b.name(), values...)
}
