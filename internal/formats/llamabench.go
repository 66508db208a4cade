package formats

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
)

// llamaBench reads what llama-bench prints with -o json, jsonl or csv, told
// apart by content. Every test yields NAME_tps with the name that llama-bench's
// own table has, without its spaces: pp512_tps, tg128_tps, pp512+tg128_tps,
// pp512@d4096_tps. Where a test is the only one of its kind, it yields
// prefill_tps, decode_tps or combined_tps besides.
//
// The value is that of [LlamaSpeed].
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

func llamaReading(rows []object) (Reading, error) {
	var values []Value
	kinds := map[string][]float64{}
	seen := map[string]object{}
	for _, row := range rows {
		name, kind, err := llamaTest(row)
		if err != nil {
			return Reading{}, err
		}
		tps, err := llamaSpeed(row)
		if err != nil {
			return Reading{}, fmt.Errorf("test %s: %w", name, err)
		}
		if first, twice := seen[name]; twice {
			return Reading{}, fmt.Errorf("test %s occurs twice%s: run one of them in each cell", name, difference(first, row))
		}
		seen[name] = row
		kinds[kind] = append(kinds[kind], tps)
		values = append(values, Value{name + "_tps", tps})
	}
	for kind, speeds := range kinds {
		if len(speeds) == 1 {
			values = append(values, Value{kind + "_tps", speeds[0]})
		}
	}
	return newReading(values)
}

// llamaTest returns the name that llama-bench's own table has for the test of a
// row, such as "pp512@d4096", and its kind: "prefill", "decode" or "combined".
func llamaTest(row object) (name, kind string, err error) {
	o := object(row)
	prompt, _, err1 := o.count("n_prompt")
	gen, _, err2 := o.count("n_gen")
	depth, _, err3 := o.count("n_depth") // absent before 2025
	if err := cmp.Or(err1, err2, err3); err != nil {
		return "", "", err
	}
	switch {
	case prompt > 0 && gen > 0:
		kind, name = "combined", fmt.Sprintf("pp%d+tg%d", prompt, gen)
	case prompt > 0:
		kind, name = "prefill", fmt.Sprintf("pp%d", prompt)
	case gen > 0:
		kind, name = "decode", fmt.Sprintf("tg%d", gen)
	default:
		return "", "", errors.New("a test has neither n_prompt nor n_gen: see whether the output is llama-bench's")
	}
	if depth > 0 {
		name += fmt.Sprintf("@d%d", depth)
	}
	return name, kind, nil
}

// llamaSpeed returns the speed of a row in tokens per second: avg_ts, the mean
// over the repetitions of one process, as llama-bench's own table prints it. The
// median of samples_ts would be another number, and CSV has no samples. An
// avg_ts that is not the mean of samples_ts is an error that wraps
// [bench.ErrContradiction].
func llamaSpeed(row object) (float64, error) {
	tps, ok, err := object(row).number("avg_ts")
	switch {
	case err != nil:
		return 0, fmt.Errorf("%w: run it by hand and see why it took no time", err)
	case !ok || tps <= 0:
		return 0, errors.New("avg_ts is missing or not above 0: run it by hand and see why")
	}
	if mean, ok := mean(row["samples_ts"]); ok && math.Abs(mean-tps) > sameMean*tps {
		return 0, fmt.Errorf("%w: avg_ts is %v and the mean of samples_ts %v; run it by hand and see which is right",
			bench.ErrContradiction, tps, mean)
	}
	return tps, nil
}

// sameMean is the relative difference up to which two means are taken for one.
// llama-bench prints six digits of each sample.
const sameMean = 1e-3

// mean returns the mean of a list of numbers; ok is false where it is none.
func mean(list json.RawMessage) (v float64, ok bool) {
	var samples []float64
	if json.Unmarshal(list, &samples) != nil || len(samples) == 0 {
		return 0, false
	}
	for _, s := range samples {
		v += s / float64(len(samples))
	}
	return v, true
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
			if header = record; len(slices.Compact(slices.Sorted(slices.Values(record)))) < len(record) {
				return nil, fmt.Errorf("%w: a column of the CSV occurs twice; print it once", bench.ErrContradiction)
			}
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

// llamaConditions are conditions of a llama-bench test: build and settings
// change their form from version to version, so no other members are read.
var llamaConditions = []string{"n_threads", "n_batch", "n_ubatch", "n_gpu_layers", "n_cpu_moe", "type_k", "type_v", "flash_attn",
	"split_mode", "devices", "model_size", "model_n_params", "cpu_info", "gpu_info", "no_kv_offload", "use_mmap"}

// readLlamaBench reads one test. Its name and its speed are those of package
// parse, so that a file is read alike by a suite and by an import.
func readLlamaBench(b *builder, o object) error {
	name, kind, err := llamaTest(o)
	if err != nil {
		return err
	}
	conditions := map[string]string{"model": o.text("model_type"),
		"model_file": path.Base("/" + o.text("model_filename")), "engine": "llama.cpp",
		"backend": o.text("backends"), "test": name, "client": client("llama-bench", o.text("build_commit"))}
	for _, key := range llamaConditions {
		conditions[key] = o.text(key)
		if s := string(o[key]); s == "true" || s == "false" {
			conditions[key] = s
		}
	}
	c := b.cell(conditions)
	c.ok = enoughForP99 // there is no percentile
	tps, err := llamaSpeed(o)
	if err != nil {
		c.refuse(fmt.Errorf("test %s: %w", name, err))
		return nil
	}
	c.put(kind+"_tps", tps)
	return nil
}
