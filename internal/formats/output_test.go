package formats_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/formats"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// TestFormats reads testdata/output/PARSER/CASE.txt as standard output and
// compares with CASE.want: a metric and its value a line, or the error.
func TestFormats(t *testing.T) {
	for name, format := range formats.Outputs {
		files := fixtures(t, name)
		for _, file := range files {
			t.Run(name+"/"+strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
				t.Parallel()
				got := describe(format(formats.Output{Stdout: readFile(t, file)}))
				golden := strings.TrimSuffix(file, ".txt") + ".want"
				if *update {
					if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				if diff := cmp.Diff(got, string(readFile(t, golden))); diff != "" {
					t.Errorf("-got +want:\n%s", diff)
				}
			})
		}
	}
}

// describe writes a reading as the golden files have it.
func describe(r formats.Reading, err error) string {
	var b strings.Builder
	for _, v := range r.Values {
		fmt.Fprintln(&b, v.Metric, strconv.FormatFloat(v.Value, 'g', -1, 64))
	}
	if r.HasAnswer {
		fmt.Fprintf(&b, "answer %q\n", r.Answer)
	}
	if err != nil {
		fmt.Fprintln(&b, "error:", err)
	}
	return b.String()
}

// fixtures are the files of a parser, of which there are some.
func fixtures(t testing.TB, parser string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "output", parser, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("parser %s has no fixtures in testdata/output: add some (%v)", parser, err)
	}
	return files
}

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// recorded reads a real output of the machine's collection.
func recorded(t *testing.T, name string) []byte {
	t.Helper()
	dir := testtier.Data(t, "real outputs were NOT read", "llm/llama-bench-small.json")
	return readFile(t, filepath.Join(dir, "llm", name))
}

// TestRecordedLlamaBenchJSON compares with what encoding/json reads, from which
// the expected metrics are made here.
func TestRecordedLlamaBenchJSON(t *testing.T) {
	type test struct {
		Prompt int     `json:"n_prompt"`
		Gen    int     `json:"n_gen"`
		Speed  float64 `json:"avg_ts"`
	}
	for _, name := range []string{"llama-bench-small.json", "llama-bench-tiny.txt", "llama-bench-small.jsonl"} {
		data := recorded(t, name)
		dec := json.NewDecoder(bytes.NewReader(data))
		var tests []test
		if strings.HasSuffix(name, ".jsonl") {
			for dec.More() {
				var one test
				if err := dec.Decode(&one); err != nil {
					t.Fatal(err)
				}
				tests = append(tests, one)
			}
		} else if err := dec.Decode(&tests); err != nil {
			t.Fatal(err)
		}
		if len(tests) != 2 || tests[0].Gen != 0 || tests[1].Prompt != 0 {
			t.Fatalf("%s: holds %+v, want one pp and one tg test", name, tests)
		}
		want := map[string]float64{
			"prefill_tps": tests[0].Speed, fmt.Sprintf("pp%d_tps", tests[0].Prompt): tests[0].Speed,
			"decode_tps": tests[1].Speed, fmt.Sprintf("tg%d_tps", tests[1].Gen): tests[1].Speed,
		}
		if diff := cmp.Diff(readings(t, "llama-bench", data), want); diff != "" {
			t.Errorf("%s: -got +want:\n%s", name, diff)
		}
	}
}

// TestRecordedLlamaBenchCSV reads a run with -t 1,2 and two halves of it: in
// each half every test stands once.
func TestRecordedLlamaBenchCSV(t *testing.T) {
	data := recorded(t, "llama-bench-small.csv")
	lines := strings.SplitAfter(string(data), "\n")
	records, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil || len(records) != 7 {
		t.Fatal(len(records), err)
	}
	column := func(row int, name string) float64 {
		v, err := strconv.ParseFloat(records[row][slices.Index(records[0], name)], 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, first := range []int{1, 4} {
		want := map[string]float64{
			"prefill_tps": column(first, "avg_ts"), "pp128_tps": column(first, "avg_ts"),
			"decode_tps": column(first+1, "avg_ts"), "tg64_tps": column(first+1, "avg_ts"),
			"combined_tps": column(first+2, "avg_ts"), "pp64+tg16_tps": column(first+2, "avg_ts"),
		}
		half := lines[0] + strings.Join(lines[first:first+3], "")
		if diff := cmp.Diff(readings(t, "llama-bench", []byte(half)), want); diff != "" {
			t.Errorf("rows from %d: -got +want:\n%s", first, diff)
		}
	}
	_, err = formats.Outputs["llama-bench"](formats.Output{Stdout: data})
	if want := `test pp128 occurs twice, with n_threads "1" and "2": run one of them in each cell`; text(err) != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestRecordedTables: what llama-bench prints for people and for SQL is refused
// with what to do instead.
func TestRecordedTables(t *testing.T) {
	for _, name := range []string{"llama-bench-small.md", "llama-bench-small.sql"} {
		_, err := formats.Outputs["llama-bench"](formats.Output{Stdout: recorded(t, name)})
		if err == nil || !strings.Contains(err.Error(), "add -o json") {
			t.Errorf("%s: got %v, want a hint", name, err)
		}
	}
}

func readings(t *testing.T, parser string, stdout []byte) map[string]float64 {
	t.Helper()
	r, err := formats.Outputs[parser](formats.Output{Stdout: stdout})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, v := range r.Values {
		got[v.Metric] = v.Value
	}
	if len(got) != len(r.Values) {
		t.Errorf("a metric occurs twice in %v", r.Values)
	}
	return got
}

// TestTablesEqualFiles: what a table shows is what the result file holds, in
// two decimals.
func TestTablesEqualFiles(t *testing.T) {
	for _, pair := range [][3]string{
		{"sglang", "offline-table", "offline"}, {"vllm", "throughput-text", "throughput"}, {"vllm", "latency-text", "latency"},
		{"sglang", "one-batch-text", "one-batch"},
	} {
		table := readings(t, pair[0], readFile(t, filepath.Join("testdata", "output", pair[0], pair[1]+".txt")))
		file := readings(t, pair[0], readFile(t, filepath.Join("testdata", "output", pair[0], pair[2]+".txt")))
		shared := 0
		for metric, want := range file {
			got, ok := table[metric]
			if !ok {
				continue
			}
			shared++
			if math.Abs(got-want) > 0.5 {
				t.Errorf("%s: %s is %v in the text and %v in the file", pair[1], metric, got, want)
			}
		}
		if shared < 2 {
			t.Errorf("%s: shares %d metrics with %s", pair[1], shared, pair[2])
		}
	}
}

// TestFormatsAreBounded: an output of the size that accelgate keeps must not
// list metrics without end, and errors stay short.
func TestFormatsAreBounded(t *testing.T) {
	var jsonl, rows, percentiles strings.Builder
	rows.WriteString("n_prompt,n_gen,avg_ts\n")
	percentiles.WriteString(`{"endpoint_type":"x","completed":1,"failed":0,"request_throughput":1`)
	for i := range 2000 {
		fmt.Fprintf(&jsonl, "{\"n_prompt\":%d,\"n_gen\":0,\"avg_ts\":1}\n", i+1)
		fmt.Fprintf(&rows, "\"%d\",\"0\",\"1\"\n", i+1)
		fmt.Fprintf(&percentiles, `,"p%d.%d_ttft_ms":1`, i/1000, i%1000)
	}
	percentiles.WriteString("}")
	long := strings.Repeat("9", 1<<20)
	for _, tt := range []struct{ parser, stdout, err string }{
		{"llama-bench", jsonl.String(), "result holds 2000 metrics, more than the 1024 allowed: report fewer percentiles or tests"},
		{"llama-bench", rows.String(), "output holds more than 1024 tests: run fewer in each cell"},
		{"vllm", percentiles.String(), "result holds 2001 metrics, more than the 1024 allowed: report fewer percentiles or tests"},
		{"llama-bench", list("{}", 9, 1), "output holds no JSON result: it holds more than 2097152 values, an object counted as 8; print fewer"},
		{"llama-bench", `{"n_prompt":1,"n_gen":0,"avg_ts":` + long + "}", "is too large for a number"},
		{"sglang", `{"request_throughput":1,"input_throughput":1,"completed":"` + long + `"}`, "not a number"},
	} {
		_, err := formats.Outputs[tt.parser](formats.Output{Stdout: []byte(tt.stdout)})
		if err == nil || !strings.Contains(err.Error(), tt.err) || len(err.Error()) > 400 {
			t.Errorf("%s: got %.500v, want %s", tt.parser, err, tt.err)
		}
	}
}

// hostile makes n bytes in which finding JSON is as slow as it gets.
func hostile(n int) map[string][]byte {
	fill := func(line, end string) []byte { return []byte(strings.Repeat(line, (n-len(end))/len(line)) + end) }
	return map[string][]byte{
		"open":      fill("[\n", "x\n"),
		"unmatched": []byte(strings.Repeat("[\n", 15) + string(fill("{},\n", "x\n"))),
		"invalid":   []byte(strings.Repeat("[\n", 15) + string(fill(" \n", "0 0")) + strings.Repeat("]\n", 15)),
		"quotes":    fill("[\"\n", ""),
		"numbers":   fill("[1\n", "x\n"),
		"rows":      append([]byte("n_prompt,n_gen,avg_ts\n"), fill("1,2\n", "")...),
		"tables":    fill("Serving Benchmark Result\n", ""),
	}
}

func TestHostileOutputsHoldNothing(t *testing.T) {
	for name, stdout := range hostile(1 << 13) {
		for parser, format := range formats.Outputs {
			if r, err := format(formats.Output{Stdout: stdout}); len(r.Values) > 0 {
				t.Errorf("%s of %s: got %v, %v, want nothing", parser, name, r, err)
			}
		}
	}
}

// BenchmarkHostileOutput reads 8 MiB, what accelgate keeps of an output.
func BenchmarkHostileOutput(b *testing.B) {
	cases := hostile(8 << 20)
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(cases[name])))
			for b.Loop() {
				for _, parser := range []string{"llama-bench", "vllm"} {
					if r, err := formats.Outputs[parser](formats.Output{Stdout: cases[name]}); len(r.Values) > 0 {
						b.Fatal(r, err)
					}
				}
			}
		})
	}
}

// FuzzFormats demands of every format that its numbers are finite, its metrics
// are names that occur once, its errors say what to do, and that a log before
// the result changes nothing but line numbers.
func FuzzFormats(f *testing.F) {
	names := slices.Sorted(maps.Keys(formats.Outputs))
	for i, name := range names {
		for _, file := range fixtures(f, name) {
			f.Add(i, readFile(f, file))
		}
	}
	f.Fuzz(func(t *testing.T, i int, stdout []byte) {
		if i < 0 || i >= len(names) {
			return
		}
		format := formats.Outputs[names[i]]
		r, err := format(formats.Output{Stdout: slices.Clone(stdout)})
		if err != nil && (len(r.Values) > 0 || !strings.ContainsAny(err.Error(), ":;") || !utf8.ValidString(err.Error())) {
			t.Errorf("got %v with error %q", r, err)
		}
		for k, v := range r.Values {
			if math.IsNaN(v.Value) || math.IsInf(v.Value, 0) || v.Metric == "" || !utf8.ValidString(v.Metric) || k > 0 && r.Values[k-1].Metric >= v.Metric {
				t.Errorf("value %d is %+v after %v", k, v, r.Values[:k])
			}
		}
		if r.HasAnswer || bytes.HasPrefix(stdout, []byte("\ufeff")) {
			return // a log is part of an answer, and a mark is one at the beginning only
		}
		again, err2 := format(formats.Output{Stdout: append([]byte("INFO: loading, 10%\n"), stdout...)})
		if diff := cmp.Diff(r, again); diff != "" || (err == nil) != (err2 == nil) {
			t.Errorf("after a log line: %v, %v\n%s", err, err2, diff)
		}
	})
}
