package formats

import (
	"encoding/json"
	"fmt"
)

func isNanobench(o object) bool {
	results, err := o.list("results")
	if err != nil || len(results) == 0 {
		return false
	}
	var first object
	return json.Unmarshal(results[0], &first) == nil && first.has("name", "median(elapsed)")
}

// nanobench reads what ankerl::nanobench renders with its template json. The name of a
// benchmark is "TITLE/NAME". Its time is that of one iteration, of which a batch of
// several units is the rate.
func nanobench(out []byte) ([]Benchmark, error) {
	var result struct {
		Results []struct {
			Title  string   `json:"title"`
			Name   string   `json:"name"`
			Unit   string   `json:"unit"`
			Batch  float64  `json:"batch"`
			Median *float64 `json:"median(elapsed)"` // in seconds
		} `json:"results"`
	}
	if err := harnessJSON(out, &result); err != nil {
		return nil, err
	}
	var all repetitions
	for _, r := range result.Results {
		if r.Median == nil || r.Name == "" {
			return nil, fmt.Errorf("result %.200q has no median(elapsed): see whether the file is rendered with nanobench's template json",
				r.Name)
		}
		values := []Value{{"time_ns", *r.Median * 1e9}}
		if r.Batch > 1 && *r.Median > 0 {
			rate := Value{"items_per_s", r.Batch / *r.Median}
			if r.Unit == "byte" {
				rate.Metric = "bytes_per_s"
			}
			values = append(values, rate)
		}
		name := r.Name
		if r.Title != "" {
			name = r.Title + "/" + name
		}
		if err := all.once(name, values...); err != nil {
			return nil, err
		}
	}
	return all.benchmarks(), nil
}
