package formats

import "fmt"

// pytestBenchmark reads what pytest --benchmark-json writes. The name of a benchmark
// is its full one, "tests/test_a.py::test_b[8]".
func pytestBenchmark(out []byte) ([]Benchmark, error) {
	var result struct {
		Benchmarks []struct {
			Name  string `json:"fullname"`
			Stats struct {
				Median *float64 `json:"median"` // in seconds
			} `json:"stats"`
		} `json:"benchmarks"`
	}
	if err := harnessJSON(out, &result); err != nil {
		return nil, err
	}
	var all repetitions
	for _, b := range result.Benchmarks {
		if b.Stats.Median == nil || b.Name == "" {
			return nil, fmt.Errorf("benchmark %.200q has no stats.median: see whether the file is of pytest --benchmark-json", b.Name)
		}
		if err := all.once(b.Name, Value{"time_ns", *b.Stats.Median * 1e9}); err != nil {
			return nil, err
		}
	}
	return all.benchmarks(), nil
}
