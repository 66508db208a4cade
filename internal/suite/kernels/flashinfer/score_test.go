package flashinfer_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
)

// TestSummary: the baseline takes 2 and 6 ms (the better of 8 and 6), the other
// solution 4 and 2 ms, so the ratios are 0.5 and 3.
func TestSummary(t *testing.T) {
	t.Parallel()
	ds := load(t, dataset)
	got, err := flashinfer.Summarize(ds, flashinfer.BaselineAuthor)
	want := flashinfer.Summary{
		Total: 5, Passed: 5,
		Solutions: []flashinfer.Score{{Name: "scale_n4_loop", Speedup: 1.75, WinRate: 0.5, SuccessRate: 1, Definitions: 1, Workloads: 2}},
		Authors: []flashinfer.Score{{Name: "ann", Speedup: 1.75, WinRate: 0.5, SuccessRate: 1, Definitions: 1, Workloads: 2,
			Best: map[string]string{"scale_n4": "scale_n4_loop"}}},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v, %v\nwant\n%+v", got, err, want)
	}
	ds.Traces = append(ds.Traces, result("w1", flashinfer.TimedOut, ""))
	got, err = flashinfer.Summarize(ds, flashinfer.BaselineAuthor)
	if err != nil || got.Failed != 1 || got.Solutions[0].Speedup != 0 || got.Solutions[0].SuccessRate != 0 || got.Authors[0].Workloads != 2 {
		t.Errorf("with one failure: %+v, %v; want scores of 0", got, err)
	}
	got, err = flashinfer.Summarize(ds, "nemo")
	if err != nil || !reflect.DeepEqual(got.LeftOut, []string{"scale_n4"}) || got.Total != 6 || len(got.Solutions)+len(got.Authors) > 0 {
		t.Errorf("without a baseline: %+v, %v", got, err)
	}
	loop := ds.Solution("scale_n4_loop")
	author := loop.Author
	loop.Author = flashinfer.BaselineAuthor
	if got, err = flashinfer.Summarize(ds, flashinfer.BaselineAuthor); err == nil || !strings.Contains(err.Error(), `several solutions of the author "baseline", as "scale_n4_`) || got.Total != 6 {
		t.Errorf("two baselines: %+v, %v", got, err)
	}
	loop.Author = author
	ds.Traces[0].Evaluation.Performance.LatencyMS = 0
	if _, err := flashinfer.Summarize(ds, flashinfer.BaselineAuthor); err == nil || !strings.Contains(err.Error(), "scale_n4.jsonl:1: passed without a latency") {
		t.Errorf("with a latency of 0: %v", err)
	}
}

func TestToRun(t *testing.T) {
	t.Parallel()
	ds := load(t, dataset)
	failures := []*flashinfer.Trace{result("n", flashinfer.IncorrectNumerical, ""), result("s", flashinfer.IncorrectShape, ""), result("t", flashinfer.TimedOut, ""),
		result("r", flashinfer.RuntimeError, ""), result("c", flashinfer.CompileError, ""), result("x", flashinfer.Suspect, "k")}
	run, err := flashinfer.ToRun(append(ds.Traces, failures...), "", "linux-cpu", "accelgate")
	if err != nil {
		t.Fatal(err)
	}
	if want := time.Date(2026, 5, 1, 9, 0, 0, 0, time.UTC); !run.Started.Equal(want) || run.Host.Accelerators[0] != (bench.Accelerator{Vendor: "cpu", Model: "Example CPU"}) {
		t.Errorf("started %v on %+v", run.Started, run.Host)
	}
	outcomes := map[string]bench.Outcome{}
	for _, r := range run.Results {
		outcomes[r.Cell.ID()] = r.Outcome
	}
	const loop = "fib/scale_n4/scale_n4_loop/"
	if want := (map[string]bench.Outcome{"fib/scale_n4/scale_n4_plain/w1": bench.Passed, "fib/scale_n4/scale_n4_plain/w2": bench.Passed,
		loop + "w1": bench.Passed, loop + "w2": bench.Passed, loop + "n": bench.Incorrect, loop + "s": bench.Incorrect, loop + "t": bench.Timeout,
		loop + "r": bench.Failed, loop + "c": bench.Failed, loop + "x": bench.Failed}); !reflect.DeepEqual(outcomes, want) {
		t.Errorf("got %v, want %v", outcomes, want)
	}
	for _, r := range run.Results {
		if r.Cell.ID() != "fib/scale_n4/scale_n4_plain/w2" {
			continue
		}
		if r.Sample("latency_ms").Values[0] != 6 || r.Sample("reference_latency_ms").Values[0] != 8 || r.Cell.Get("workload") != "w2" {
			t.Errorf("got %+v, want the last trace of the case", r)
		}
	}
	other := result("w1", flashinfer.Passed, "")
	other.Evaluation.Environment.Hardware = "NVIDIA H100"
	mixed := append(ds.Traces, other)
	if _, err := flashinfer.ToRun(mixed, "", "h", "accelgate"); err == nil || !strings.Contains(err.Error(), `2 devices, "Example CPU", "NVIDIA H100"`) {
		t.Errorf("two devices: %v", err)
	}
	if run, err := flashinfer.ToRun(mixed, "NVIDIA H100", "h", "accelgate"); err != nil || len(run.Results) != 1 || run.Host.Accelerators[0].Vendor != "nvidia" {
		t.Errorf("one of two devices: %+v, %v", run, err)
	}
	for _, hardware := range []string{"TPU", ""} {
		if _, err := flashinfer.ToRun(mixed[:len(hardware)], hardware, "h", "accelgate"); err == nil {
			t.Errorf("%q of %d traces is a run", hardware, len(hardware))
		}
	}
}

// TestToRunWithSetup: what a solution prepared before its calls is in a run where a trace has it.
func TestToRunWithSetup(t *testing.T) {
	t.Parallel()
	with := func(setup, e2e float64) *flashinfer.Trace {
		text := `{"definition":"d","solution":"s","workload":{"uuid":"w","axes":{},"inputs":{}},"evaluation":{"status":"PASSED","environment":` +
			`{"hardware":"GPU","libs":{}},"timestamp":"2026-05-01T09:00:00","log":"","correctness":{"max_relative_error":0,"max_absolute_error":0},` +
			`"performance":{"latency_ms":2,"reference_latency_ms":4,"speedup_factor":2},"gate":{"setup":{"setup_ms":%g,"e2e_ms":%g,"samples_ns":[1,2]}}}}`
		trace, err := flashinfer.ParseTrace(flashinfer.Place{Path: "t.jsonl", Line: 1}, fmt.Appendf(nil, text, setup, e2e))
		if err != nil {
			t.Fatal(err)
		}
		line, err := flashinfer.EncodeTrace(trace)
		if err != nil || !strings.Contains(string(line), fmt.Sprintf(`"setup":{"setup_ms":%g,"e2e_ms":%g,"samples_ns":[1,2]}`, setup, e2e)) {
			t.Fatalf("%v: %s", err, line)
		}
		return trace
	}
	run, err := flashinfer.ToRun([]*flashinfer.Trace{with(0.5, 2.5)}, "", "h", "accelgate")
	if err != nil {
		t.Fatal(err)
	}
	r := run.Results[0]
	if s := r.Sample("setup_ms"); s == nil || s.Values[0] != 0.5 {
		t.Errorf("setup_ms: %+v", s)
	}
	if s := r.Sample("e2e_ms"); s == nil || s.Values[0] != 2.5 {
		t.Errorf("e2e_ms: %+v", s)
	}
	for _, name := range []string{"setup_ms", "e2e_ms"} {
		if i := slices.IndexFunc(run.Metrics, func(m bench.Metric) bool { return m.Name == name }); i < 0 || !run.Metrics[i].Informational {
			t.Errorf("%s is no informational metric of the run: %+v", name, run.Metrics)
		}
	}
	if run, err = flashinfer.ToRun([]*flashinfer.Trace{with(0, 2)}, "", "h", "accelgate"); err != nil || run.Results[0].Sample("setup_ms") == nil {
		t.Errorf("a setup too short for the clock: %+v, %v", run, err)
	}
	if run, err = flashinfer.ToRun([]*flashinfer.Trace{with(-1, -3)}, "", "h", "accelgate"); err != nil || run.Results[0].Sample("setup_ms") != nil {
		t.Errorf("negative times: %+v, %v", run.Results, err)
	}
	plain := with(0.5, 2.5)
	plain.Evaluation.Gate.Setup = nil
	if run, err = flashinfer.ToRun([]*flashinfer.Trace{plain}, "", "h", "accelgate"); err != nil || len(run.Metrics) != 3 || run.Results[0].Sample("e2e_ms") != nil {
		t.Errorf("without a setup: %+v, %v", run, err)
	}
}

func TestCellID(t *testing.T) {
	t.Parallel()
	for _, c := range [][4]string{
		{"d", "gpt-5__r1", "u", "fib/d/gpt-5__r1/u"},
		{"a/b", "c", "d", "fib/a%2Fb/c/d"},
		{"a", "b/c", "d", "fib/a/b%2Fc/d"},
		{"100%", "a\\b", "\x1bü\n", "fib/100%25/a%5Cb/%1Bü%0A"},
	} {
		if got := flashinfer.Cell(c[0], c[1], c[2]).ID(); got != c[3] {
			t.Errorf("Cell(%q) = %q", c, got)
		}
	}
}
