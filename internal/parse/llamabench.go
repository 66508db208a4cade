package parse

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// llamaBench reads what llama-bench prints with -o json, jsonl or csv, told
// apart by content. Every test yields NAME_tps with the name that llama-bench's
// own table has, without its spaces: pp512_tps, tg128_tps, pp512+tg128_tps,
// pp512@d4096_tps. Where a test is the only one of its kind, it yields
// prefill_tps, decode_tps or combined_tps besides.
//
// The value is avg_ts, the mean speed over the repetitions of one process.
// Only the members named here are read, because the others change from build
// to build: flash_attn has been a boolean and is a number, n_gpu_layers was 99
// by default and is -1.
func llamaBench(out Output) (Reading, error) {
	found, broken, err := objects(out.Stdout)
	if err != nil {
		return Reading{}, err
	}
	rows := slices.DeleteFunc(found, func(o object) bool { return !o.has(llamaMembers...) })
	if len(rows) == 0 {
		if rows, err = llamaCSV(out.Stdout); err != nil {
			return Reading{}, err
		}
	}
	switch {
	case len(rows) > 0:
		return llamaReading(rows)
	case bytes.Contains(out.Stdout, []byte(" t/s |")), bytes.Contains(out.Stdout, []byte("INSERT INTO ")):
		return Reading{}, errors.New("llama-bench printed a table for people or for SQL: add -o json to the command")
	}
	return Reading{}, broken
}

// llamaMembers are what makes an object or a header llama-bench's.
var llamaMembers = []string{"n_prompt", "n_gen", "avg_ts"}

// llamaSettings may differ between two tests of the same name, for messages.
var llamaSettings = []string{"model_type", "model_size", "n_threads", "n_gpu_layers", "n_batch", "n_ubatch",
	"type_k", "type_v", "flash_attn", "split_mode", "devices", "backends"}

type llamaTest struct {
	name, kind string // "pp512@d4096", "prefill"
	tps        float64
	row        object
}

func llamaReading(rows []object) (Reading, error) {
	var values []Value
	kinds := map[string][]float64{}
	seen := map[string]object{}
	for _, row := range rows {
		t, err := readLlamaTest(row)
		if err != nil {
			return Reading{}, err
		}
		if first, twice := seen[t.name]; twice {
			return Reading{}, fmt.Errorf("test %s stands twice%s: run one of them in each cell", t.name, difference(first, row))
		}
		seen[t.name] = row
		kinds[t.kind] = append(kinds[t.kind], t.tps)
		values = append(values, Value{t.name + "_tps", t.tps})
	}
	for kind, speeds := range kinds {
		if len(speeds) == 1 {
			values = append(values, Value{kind + "_tps", speeds[0]})
		}
	}
	return newReading(values)
}

func readLlamaTest(row object) (t llamaTest, err error) {
	prompt, _, err1 := row.count("n_prompt")
	gen, _, err2 := row.count("n_gen")
	depth, _, err3 := row.count("n_depth") // absent before 2025
	if err := cmp.Or(err1, err2, err3); err != nil {
		return t, err
	}
	switch {
	case prompt > 0 && gen > 0:
		t.kind, t.name = "combined", fmt.Sprintf("pp%d+tg%d", prompt, gen)
	case prompt > 0:
		t.kind, t.name = "prefill", fmt.Sprintf("pp%d", prompt)
	case gen > 0:
		t.kind, t.name = "decode", fmt.Sprintf("tg%d", gen)
	default:
		return t, errors.New("a test has neither n_prompt nor n_gen: see whether the output is llama-bench's")
	}
	if depth > 0 {
		t.name += fmt.Sprintf("@d%d", depth)
	}
	tps, ok, err := row.number("avg_ts")
	switch {
	case err != nil:
		return t, fmt.Errorf("test %s: %w: run it by hand and see why it took no time", t.name, err)
	case !ok || tps <= 0:
		return t, fmt.Errorf("test %s: avg_ts is missing or not above 0: run it by hand and see why", t.name)
	}
	t.tps, t.row = tps, row
	return t, nil
}

// difference names the first setting in which two tests differ.
func difference(a, b object) string {
	for _, name := range llamaSettings {
		if !bytes.Equal(a[name], b[name]) {
			return fmt.Sprintf(", with %s %q and %q", name, plain(a[name]), plain(b[name]))
		}
	}
	return " with the same settings"
}

// plain returns a value as people write it, cut to 40 bytes.
func plain(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		s = string(raw)
	}
	return cut(s, 40)
}

// llamaCSV returns the rows below the header line, which may have log lines
// between them. llama-bench quotes every value and no name.
func llamaCSV(text []byte) (rows []object, err error) {
	var header []string
	number, buffer := 0, bufio.NewReader(nil) // one for all lines
	for line := range bytes.Lines(text) {
		number++
		line = bytes.TrimRight(line, "\r\n")
		if header == nil && !bytes.Contains(line, []byte("avg_ts")) || len(line) == 0 || bytes.Count(line, []byte{','}) > maxMetrics {
			continue
		}
		buffer.Reset(bytes.NewReader(line))
		record, err := csv.NewReader(buffer).Read()
		switch {
		case err == nil && isLlamaHeader(record):
			header = record
		case header == nil:
		case err == nil && len(record) == len(header):
			rows = append(rows, csvRow(header, record))
		case line[0] == '"':
			return nil, fmt.Errorf("the row on line %d does not fit its header: see in the log why the program ended early", number)
		}
		if len(rows) > maxMetrics {
			return nil, fmt.Errorf("output holds more than %d tests: run fewer in each cell", maxMetrics)
		}
	}
	return rows, nil
}

func isLlamaHeader(record []string) bool {
	return !slices.ContainsFunc(llamaMembers, func(name string) bool { return !slices.Contains(record, name) })
}

func csvRow(header, record []string) object {
	row := make(object, len(header))
	for i, name := range header {
		row[name] = scalar(record[i])
	}
	return row
}

// scalar makes JSON of a value that stands in a text: a number if it is one,
// else a string.
func scalar(text string) json.RawMessage {
	if c := text + " "; (c[0] == '-' || c[0] >= '0' && c[0] <= '9') && json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		return json.RawMessage("null") // no string fails to marshal
	}
	return quoted
}
