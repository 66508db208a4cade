package formats_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/formats"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func savedFiles(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "file", "*", "*.*"))
	files = slices.DeleteFunc(files, func(name string) bool { return strings.HasSuffix(name, ".run") })
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	return files
}

// TestRead compares every testdata/file/FORMAT/NAME.json with the run beside it in
// NAME.run.
func TestRead(t *testing.T) {
	t.Parallel()
	for _, file := range savedFiles(t) {
		want := filepath.Base(filepath.Dir(file))
		t.Run(want+"/"+filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			run, format, warnings, err := formats.ReadFile(data)
			if err != nil || format != want {
				t.Fatalf("format %q, %v", format, err)
			}
			check(t, run, warnings)
			golden(t, strings.TrimSuffix(file, filepath.Ext(file))+".run", run)
		})
	}
}

func golden(t *testing.T, file string, run *bench.Run) {
	t.Helper()
	got, err := json.MarshalIndent(run, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v: run the test with -update", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("run (-want +got):\n%s", diff)
	}
}

// check holds for every run that Read returns.
func check(t *testing.T, run *bench.Run, warnings []string) {
	t.Helper()
	if err := run.Validate(); err != nil {
		t.Error(err)
	}
	if run.Host.Label != formats.HostLabel || !slices.Equal(warnings, run.Warnings) {
		t.Errorf("host %q, warnings %q and %q", run.Host.Label, warnings, run.Warnings)
	}
	for _, w := range warnings {
		if !strings.Contains(w, ": ") {
			t.Errorf("warning %q has no next step", w)
		}
	}
	for _, r := range run.Results {
		for _, s := range r.Samples {
			m := run.Metric(s.Metric)
			if m == nil {
				t.Fatalf("metric %s is not described", s.Metric)
			}
			for _, v := range s.Values {
				if v < 0 && !strings.HasPrefix(s.Metric, "schedule_delay") && m.Quantity() != bench.Score {
					t.Errorf("%s is %v", s.Metric, v)
				}
			}
		}
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ data, want string }{
		"empty":         {"", "empty"},
		"not JSON":      {"build_commit,n_prompt,n_gen,avg_ts\n", "llama-bench what it prints with -o json"},
		"unknown":       {`{"a":1}`, "vllm"},
		"empty list":    {"[]", "known"},
		"cut off":       {`{"avg_ts":1,`, "save the result again"},
		"null":          {"null", "known"},
		"list of null":  {"[null]", "not a JSON object"},
		"two formats":   {`{"avg_ts":1,"n_prompt":1,"n_gen":0,"samples_ts":[1]} {"load_summary":{},"successes":{}}`, "a file of its own"},
		"prometheus":    {`{"load_summary":{},"successes":{"count":1,"rate":2}}`, "lifecycle_metrics.json"},
		"no test":       {`{"avg_ts":1,"n_prompt":0,"n_gen":0}`, "see whether"},
		"many objects":  {strings.Repeat(`{"avg_ts":1,"n_prompt":1,"n_gen":0}`, 1001), "split the file"},
		"many elements": {"[" + strings.Repeat("0,", 2000) + "0]", "split the file"},
		"many members":  {`{"a":[` + strings.Repeat(`{"a":1},`, 1<<20) + "{}]}", "save it without"},
		"too large":     {strings.Repeat(" ", formats.MaxFileBytes+1), "save it without"},
		"text after":    {"[{}] {}", "a file of its own"},
		"a key twice":   {`{"avg_ts":5,"n_prompt":1,"n_gen":0,"avg_ts":500}`, "print it once"},
	} {
		run, _, _, err := formats.ReadFile([]byte(c.data))
		if err == nil || run != nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), ": ") {
			t.Errorf("%s: run %v, error %v, want one with %q", name, run != nil, err, c.want)
		}
	}
}

func TestReadKeepsData(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join("testdata", "file", "sglang", "infinity.json"))
	if err != nil {
		t.Fatal(err)
	}
	before := bytes.Clone(data)
	if _, _, _, err := formats.ReadFile(data); err != nil || !bytes.Equal(before, data) {
		t.Errorf("data changed, or %v", err)
	}
}

// TestRecorded reads what the real tools wrote; the numbers were taken from
// the files by hand.
func TestRecorded(t *testing.T) {
	t.Parallel()
	dir := testtier.Data(t, "results of real load generators were NOT read", "llm")
	for _, c := range []struct {
		file, cell, metric string
		want               []float64
	}{
		{"inference-perf/vllm_stage_0_lifecycle_metrics.json", "inference-perf__1", "ttft_p50_ms", []float64{31.026913959067315}},
		{"inference-perf/vllm_stage_0_lifecycle_metrics.json", "inference-perf__1", "schedule_delay_p99_ms", []float64{1.5012771042529482}},
		{"inference-perf/vllm_stage_0_lifecycle_metrics.json", "inference-perf__1", "throughput_tok_per_s", []float64{64.23350089997027}},
		{"inference-perf/vllm_summary_lifecycle_metrics.json", "inference-perf", "tpot_p50_ms", []float64{9.366689744412668}},
		{"inference-perf/vllm_summary_lifecycle_metrics.json", "inference-perf", "n_ok", []float64{38717}},
		{"inference-perf/vllm_summary_lifecycle_metrics.json", "inference-perf", "ok_rate", []float64{1}},
		{"llama-bench-small.json", "llama %3FB Q8_0", "prefill_tps", []float64{144.835698}},
		{"llama-bench-small.jsonl", "", "prefill_tps", []float64{102.709983}},
		{"llama-benchy/sample.json", "test__llama-benchy__pp2048+tg32__1", "ttfc_p50_ms", []float64{2078.3033748157322, 2073.782583232969}},
		{"llama-benchy/sample.json", "test__llama-benchy__pp2048+tg32__2", "decode_tok_per_s", []float64{98.29984861080491, 99.10984964044073}},
		{"llama-benchy/sample.json", "test__llama-benchy__pp2048+tg32__2", "ttft_p50_ms",
			[]float64{(2073.6519577912986 + 2083.3356250077486) / 2, (2078.0000826343894 + 2072.9116247966886) / 2}},
	} {
		run := recordedRun(t, filepath.Join(dir, "llm", c.file))
		i := slices.IndexFunc(run.Results, func(r bench.Result) bool { return r.Cell.ID() == c.cell })
		if strings.HasPrefix(c.file, "llama-bench-") {
			i = 0
		}
		if i < 0 {
			t.Errorf("%s has no cell %q: %v", c.file, c.cell, run.Results)
			continue
		}
		s := run.Results[i].Sample(c.metric)
		if s == nil || len(s.Values) != len(c.want) {
			t.Errorf("%s: %s is %v, want %v", c.file, c.metric, s, c.want)
			continue
		}
		for j, want := range c.want {
			if d := s.Values[j] - want; d > 1e-9*want || d < -1e-9*want {
				t.Errorf("%s: %s is %v, want %v", c.file, c.metric, s.Values, c.want)
			}
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "llm", "inference-perf", "*_lifecycle_metrics.json"))
	if err != nil || len(files) < 16 {
		t.Fatalf("%d files of inference-perf, %v", len(files), err)
	}
	for _, file := range files {
		recordedRun(t, file)
	}
}

func recordedRun(t *testing.T, file string) *bench.Run {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	run, _, warnings, err := formats.ReadFile(data)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	check(t, run, warnings)
	if len(warnings) > 0 {
		t.Errorf("%s: warnings %q", file, warnings)
	}
	return run
}

// FuzzRead covers each reader by both doors: every format has a saved file, or what its
// program prints.
func FuzzRead(f *testing.F) {
	for name, files := range samples(f) {
		for _, file := range files {
			f.Add(name, readFile(f, file))
		}
	}
	f.Add("", []byte(`[{"avg_ts":NaN,"n_prompt":1,"n_gen":-Infinity,"samples_ts":[1e999,null]}]`))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		for _, as := range []string{"", name} {
			run, format, warnings, err := formats.ReadFileAs(as, data)
			if err != nil {
				if run != nil || !strings.Contains(err.Error(), ": ") {
					t.Errorf("run %v with error %v", run != nil, err)
				}
				continue
			}
			if !slices.Contains(formats.FileNames(), format) {
				t.Errorf("format %q", format)
			}
			check(t, run, warnings)
		}
		if values, err := suiteDoor(name, data); err != nil && !strings.ContainsAny(err.Error(), ":;") {
			t.Errorf("values %v with error %v", values, err)
		}
	})
}
