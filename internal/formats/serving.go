package formats

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// What follows is common to the load generators of vLLM and SGLang, of which
// the second began as a copy of the first.

// statistic is the name of a latency's member: mean_ttft_ms, p99.9_itl_ms.
var statistic = lazyregexp.New(`^(mean|median|p[0-9]{1,3}(?:\.[0-9]{1,3})?)_([a-z0-9_]+)_ms$`)

// latencies returns the means and percentiles of the families that o has, by
// the prefix of their metrics. A family whose mean is exactly 0 is absent:
// numpy's mean of no values is printed as 0, for instance of TTFTs without
// streaming and of TPOTs where every answer is one token.
func latencies(o object, families map[string]string) (values []Value, err error) {
	found := map[string]float64{}
	for _, key := range slices.Sorted(maps.Keys(o)) {
		m := statistic.FindStringSubmatch(key)
		if m == nil || families[m[2]] == "" {
			continue
		}
		if mean, ok, err := o.number("mean_" + m[2] + "_ms"); err == nil && ok && mean == 0 {
			continue
		}
		v, ok, err := o.number(key)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%w: see whether requests failed", err)
		case v < 0:
			return nil, fmt.Errorf("%s is %v, and no time is negative: measure again, and update the program if that happens again", key, v)
		case ok:
			found[families[m[2]]+suffix(m[1])+"_ms"] = v + 0 // tables print -0.00
		}
	}
	for _, metric := range slices.Sorted(maps.Keys(found)) {
		values = append(values, Value{metric, found[metric]})
	}
	return values, nil
}

// suffix of a metric that is this statistic.
func suffix(statistic string) string {
	switch statistic {
	case "mean":
		return ""
	case "median":
		return "_p50"
	}
	return "_" + statistic
}

// requests returns how many requests of a result of vLLM's or SGLang's load
// generator were answered and how many failed, -1 where it does not report it.
func requests(o object) (completed, failed int64, err error) {
	completed, ok, err := object(o).count("completed")
	if err == nil && !ok {
		err = fmt.Errorf("the result does not state how many requests were completed: see whether the output is this program's")
	}
	if err != nil {
		return -1, -1, err
	}
	failed, ok, err = object(o).count("failed")
	if err == nil && !ok {
		failed, err = unanswered(o, completed)
	}
	return completed, failed, err
}

// succeeded returns an error unless every request was answered. Load
// generators average over the others and exit with 0; where all fail they
// print zeros.
func succeeded(o object) error {
	completed, failed, err := requests(o)
	switch {
	case err != nil:
		return err
	case completed == 0:
		return fmt.Errorf(
			"no request was answered, so all numbers are zeros: see in the server's log why, and whether URL and model name are right",
		)
	case failed > 0:
		return fmt.Errorf("%d of %s failed, and the numbers are those of the others: see in the server's log why", failed,
			text.Plural(int(completed+failed), "request"))
	}
	return nil
}

// unanswered counts failures where a result does not: vLLM's before 2025 give
// the number of prompts, SGLang's the errors, if asked for details. It returns
// -1 where the result has neither.
func unanswered(o object, completed int64) (int64, error) {
	var list []string
	if err := json.Unmarshal(o["errors"], &list); err == nil {
		return int64(len(slices.DeleteFunc(list, func(s string) bool { return s == "" }))), nil
	}
	prompts, ok, err := o.count("num_prompts")
	if !ok {
		return -1, err
	}
	return max(prompts-completed, 0), err
}

// oneResult reads the only result of a benchmark: from its JSON, else from its printed tables with one of the titles, or its
// lines. readerOf returns the reader of a result, nil for one of another tool; several is the next step where there are more.
func oneResult(
	text []byte, readerOf func(object) func(object) ([]Value, error), lines func([]byte) []object, several string, titles ...string,
) (Reading, error) {
	found, broken, err := objects(text)
	if err != nil {
		return Reading{}, err
	}
	results := slices.DeleteFunc(found, func(o object) bool { return readerOf(o) == nil })
	if len(results) == 0 {
		if results, err = tables(text, titles...); err != nil {
			return Reading{}, err
		}
		results = append(results, lines(text)...)
	}
	switch len(results) {
	case 0:
		return Reading{}, broken
	case 1:
	default:
		return Reading{}, fmt.Errorf("output holds %d results: %s", len(results), several)
	}
	read := readerOf(results[0])
	if read == nil { // a table without its rows
		return Reading{}, errors.New("the table of results is not complete: see in the log why the program ended early")
	}
	values, err := read(results[0])
	if err != nil {
		return Reading{}, err
	}
	return newReading(values)
}

// tables returns the tables in text that start with a line that holds one of
// the titles and end with a line of "=". Their rows become members named as in
// the program's result file, because both have the same content, except that a
// table has two decimals only. A table without its last line has no members.
// A row that occurs twice in a table, with another value, is an error that wraps
// [bench.ErrContradiction].
func tables(text []byte, titles ...string) (found []object, err error) {
	var table object
	for line := range bytes.Lines(text) {
		row := strings.TrimSpace(string(line[:min(len(line), maxName)]))
		title := func(t string) bool { return strings.Contains(row, t) }
		switch {
		case slices.ContainsFunc(titles, title):
			table = object{}
			found = append(found, table)
		case table != nil && strings.Trim(row, "=") == "" && row != "":
			table = nil
		case table != nil:
			label, value, ok := strings.Cut(row, ":")
			if key := memberOf(strings.ToLower(label)); ok && key != "" {
				v := scalar(strings.TrimSpace(value))
				if old, twice := table[key]; twice && !bytes.Equal(old, v) && err == nil {
					err = fmt.Errorf("%w: the row %q of its table occurs twice; run one benchmark in each cell", bench.ErrContradiction,
						cut(label, 60))
				}
				table[key] = v
			}
		}
	}
	clear(table) // nil unless it is cut off
	return found, err
}

// rowOf is a label such as "Mean TTFT (ms)".
var rowOf = lazyregexp.New(`^(mean|median|p[0-9.]+) (ttft|tpot|itl|e2el|e2e latency|e2el incl\. client queue) \(ms\)$`)

func memberOf(label string) string {
	if key := rowLabels[label]; key != "" {
		return key
	}
	m := rowOf.FindStringSubmatch(label)
	if m == nil {
		return ""
	}
	family := m[2]
	switch family {
	case "e2e latency":
		family = "e2e_latency"
	case "e2el incl. client queue":
		family = "e2el_including_client_queue"
	}
	return m[1] + "_" + family + "_ms"
}

// rowLabels are the labels of both programs' tables, in lower case, because
// vLLM once wrote "Total Token throughput".
var rowLabels = map[string]string{
	"backend":                              "backend",
	"successful requests":                  "completed",
	"failed requests":                      "failed",
	"total generated tokens":               "total_output_tokens",
	"total generated tokens (retokenized)": "total_output_tokens_retokenized",
	"request throughput (req/s)":           "request_throughput",
	"request goodput (req/s)":              "request_goodput",
	"input token throughput (tok/s)":       "input_throughput",
	"output token throughput (tok/s)":      "output_throughput",
	"total token throughput (tok/s)":       "total_token_throughput",
	"accept length":                        "accept_length",
	"acceptance length":                    "spec_decode_acceptance_length",
}
