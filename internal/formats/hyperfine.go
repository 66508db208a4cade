package formats

import (
	"encoding/json"
	"fmt"
	"slices"
)

func isHyperfine(o object) bool {
	results, err := o.list("results")
	if err != nil || len(results) == 0 {
		return false
	}
	var first object
	return json.Unmarshal(results[0], &first) == nil && first.has("command", "times") || first.has("command", "median")
}

// hyperfine reads what hyperfine --export-json writes. The name of a benchmark is its
// command, or what --command-name says. A command that failed has no time.
func hyperfine(out []byte) ([]Benchmark, error) {
	var result struct {
		Results []struct {
			Command string   `json:"command"`
			Median  *float64 `json:"median"`
			User    *float64 `json:"user"`
			System  *float64 `json:"system"`
			Codes   []*int   `json:"exit_codes"`
		} `json:"results"`
	}
	if err := harnessJSON(out, &result); err != nil {
		return nil, err
	}
	var all repetitions
	for _, r := range result.Results {
		failed := func(code *int) bool { return code == nil || *code != 0 }
		var err error
		switch {
		case slices.ContainsFunc(r.Codes, failed):
			err = all.fail(r.Command, "the command failed in some of its runs")
		case r.Median == nil:
			err = fmt.Errorf("command %.200q has no median: see whether the file is of hyperfine --export-json", r.Command)
		default:
			values := []Value{{"time_ns", *r.Median * 1e9}}
			if r.User != nil && r.System != nil {
				values = append(values, Value{"cpu_time_ns", (*r.User + *r.System) * 1e9})
			}
			err = all.once(r.Command, values...)
		}
		if err != nil {
			return nil, err
		}
	}
	return all.benchmarks(), nil
}
