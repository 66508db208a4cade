package formats

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/text"
)

func isASV(o object) bool { return o.has("result_columns", "results", "commit_hash") }

// asv reads a result of airspeed velocity, .asv/results/MACHINE/COMMIT-ENVIRONMENT.json of version 2. The row of a benchmark
// with parameters is NAME(VALUE, VALUE). The part behind the last dot of a name shows its kind: time_ is in seconds, mem_
// and peakmem_ in bytes; a track_ has no unit and no direction there, so it informs. null is a benchmark that failed, NaN
// one that was skipped.
func asv(data []byte) (*sheet, error) {
	var result struct {
		Commit  string                       `json:"commit_hash"`
		Columns []string                     `json:"result_columns"`
		Results map[string][]json.RawMessage `json:"results"`
	}
	if found, err := onlyResult(data, "asv", isASV, &result); err != nil || !found {
		return nil, err
	}
	at, params := slices.Index(result.Columns, "result"), slices.Index(result.Columns, "params")
	s := &sheet{key: "benchmark", revision: result.Commit, context: map[string]string{"client": "asv"}}
	for _, name := range slices.Sorted(maps.Keys(result.Results)) {
		columns := result.Results[name]
		if at < 0 || at >= len(columns) {
			return nil, unreadable("the result", name, errors.New("there is none"))
		}
		var values []json.RawMessage
		if string(columns[at]) == "null" { // of all parameters
			values = []json.RawMessage{columns[at]}
		} else if err := json.Unmarshal(columns[at], &values); err != nil {
			return nil, unreadable("the result", name, err)
		}
		names := []string{name}
		if params >= 0 && params < len(columns) && len(values) > 1 {
			var axes [][]string
			if err := json.Unmarshal(columns[params], &axes); err != nil {
				return nil, unreadable("the parameters", name, err)
			}
			names = asvRows(name, axes)
		}
		if len(names) != len(values) {
			return nil, unreadable("the result", name, fmt.Errorf("%d values for %d choices of its parameters", len(values), len(names)))
		}
		for i, v := range values {
			if err := s.asvValue(name, names[i], strings.TrimSpace(string(v))); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// asvRows are the names of a benchmark with each choice of its parameters, the last of which changes fastest.
func asvRows(name string, axes [][]string) []string {
	rows := []string{""}
	for _, axis := range axes {
		if len(rows)*len(axis) > maxBenchmarks {
			return nil
		}
		var next []string
		for _, row := range rows {
			for _, value := range axis {
				next = append(next, row+", "+value)
			}
		}
		rows = next
	}
	for i := range rows {
		rows[i] = name + "(" + strings.TrimPrefix(rows[i], ", ") + ")"
	}
	return rows
}

func (s *sheet) asvValue(benchmark, row, value string) error {
	switch strings.Trim(value, `"`) {
	case "null":
		return s.fail(row, "asv has no result of it: see the log of asv run --show-stderr")
	case "NaN":
		return s.fail(row, "it was skipped by NotImplementedError")
	}
	v, err := finite(value)
	if err != nil {
		return unreadable("the result", row, err)
	}
	own := benchmark[strings.LastIndexByte(benchmark, '.')+1:]
	switch {
	case strings.HasPrefix(strings.ToLower(own), "time"):
		return s.add(row, bench.Metric{Name: "time_ns", Unit: "ns", Better: bench.Lower}, v*1e9)
	case strings.HasPrefix(strings.ToLower(own), "mem"), strings.HasPrefix(strings.ToLower(own), "peakmem"):
		return s.add(row, bench.Metric{Name: "memory_bytes", Unit: "B", Better: bench.Lower}, v)
	}
	s.warn("%s has no direction in asv's file, so it is shown and not gated: give it one in the metrics of a suite, as in better: higher",
		text.Quote(own, 80))
	return s.add(row, bench.Metric{Name: "value", Better: bench.Lower, Kind: bench.Score, Informational: true}, v)
}
