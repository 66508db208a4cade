package flashinfer_test

import (
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
)

// applied builds a dataset of the test's definition with traces of its solutions.
type applied struct {
	ds *flashinfer.Dataset
}

func (a *applied) trace(solution, uuid string, n int, status flashinfer.Status, ms float64, edit ...func(*flashinfer.Evaluation)) {
	e := &flashinfer.Evaluation{Status: status, Timestamp: "2026-01-02T03:04:05", Environment: flashinfer.Environment{Hardware: "A"}}
	if status == flashinfer.Passed {
		e.Correctness, e.Performance = &flashinfer.Correctness{}, &flashinfer.Performance{LatencyMS: ms, SpeedupFactor: 10 / ms}
	}
	for _, f := range edit {
		f(e)
	}
	a.ds.Traces = append(a.ds.Traces, &flashinfer.Trace{Definition: "scale_n4", Solution: solution, Evaluation: e,
		Workload: flashinfer.Workload{UUID: uuid, Axes: map[string]int{"batch": n}, Inputs: map[string]flashinfer.Input{}}})
}

const (
	loop  = "scale_n4_loop"
	plain = "scale_n4_plain"
)

func TestApply(t *testing.T) {
	t.Parallel()
	a := applied{load(t, dataset)}
	a.ds.Traces = nil
	a.trace(loop, "x1", 1, flashinfer.Passed, 9)
	a.trace(loop, "x1", 1, flashinfer.Passed, 2) // the last one counts
	a.trace(plain, "x1", 1, flashinfer.Passed, 3)
	a.trace("gone", "x1", 1, flashinfer.Passed, 1) // the dataset lacks it
	a.trace(loop, "x2", 2, flashinfer.Passed, 1)   // fails another workload of these sizes
	a.trace(loop, "x3", 2, flashinfer.RuntimeError, 0)
	a.trace(plain, "x2", 2, flashinfer.Passed, 4)
	a.trace(plain, "x3", 2, flashinfer.Passed, 1)
	a.trace(loop, "x4", 4, flashinfer.Passed, 1) // fewer workloads than plain
	a.trace(plain, "x4", 4, flashinfer.Passed, 5)
	a.trace(plain, "x5", 4, flashinfer.Passed, 5, func(e *flashinfer.Evaluation) { e.Correctness.MaxRelativeError = math.NaN() })
	table, err := flashinfer.Apply(a.ds, flashinfer.ApplyLimits{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{`{"axes":[["batch",1]],"feats":[]}`: loop, `{"axes":[["batch",2]],"feats":[]}`: plain, `{"axes":[["batch",4]],"feats":[]}`: plain}
	for key, solution := range want {
		if got := table.Index["scale_n4"][key]; got != solution {
			t.Errorf("%s: %q, want %q", key, got, solution)
		}
	}
	if len(table.Index["scale_n4"]) != 3 || table.DefBest["scale_n4"] != plain || table.Hardware != "A" {
		t.Errorf("%+v", table)
	}
	if c := table.Choices[1]; len(c.Workloads) != 2 || math.Abs(c.LatencyMS-2) > 1e-12 || math.Abs(c.Speedup-5) > 1e-12 {
		t.Errorf("the mean of 4 and 1 ms: %+v", c)
	}
	text, err := json.Marshal(table)
	if err != nil || !strings.Contains(string(text), `"max_relative_error":"NaN"`) {
		t.Errorf("%s, %v", text, err)
	}
	for _, why := range []string{"1 trace: not passed", "1 trace: the dataset does not have the solution", "1 trace: the solution failed another"} {
		if !strings.Contains(table.Notes(), why) {
			t.Errorf("%q is not in %q", why, table.Notes())
		}
	}
}

// TestApplyLimits: errors, ratios, devices and other contents leave traces out.
func TestApplyLimits(t *testing.T) {
	t.Parallel()
	passed := func(limits flashinfer.ApplyLimits, edit func(*flashinfer.Evaluation)) error {
		a := applied{load(t, dataset)}
		a.ds.Traces = nil
		a.trace(loop, "x", 1, flashinfer.Passed, 2, edit)
		_, err := flashinfer.Apply(a.ds, limits)
		return err
	}
	ratio := func(text string) func(*flashinfer.Evaluation) {
		return func(e *flashinfer.Evaluation) { e.Correctness.Extra = json.RawMessage(text) }
	}
	off := func(abs, rel float64) func(*flashinfer.Evaluation) {
		return func(e *flashinfer.Evaluation) {
			e.Correctness.MaxAbsoluteError, e.Correctness.MaxRelativeError = abs, rel
		}
	}
	for _, c := range []struct {
		limits flashinfer.ApplyLimits
		edit   func(*flashinfer.Evaluation)
		want   string // "" passes
	}{
		{flashinfer.ApplyLimits{MaxAtol: 0.01}, off(0.01, 5), ""},
		{flashinfer.ApplyLimits{MaxAtol: 0.01}, off(0.02, 0), "errors above the limits"},
		{flashinfer.ApplyLimits{MaxRtol: 0.01}, off(0, math.NaN()), "errors above the limits"},
		{flashinfer.ApplyLimits{RequiredMatchedRatio: 0.9}, ratio(`{"matched_ratio":0.95}`), ""},
		{flashinfer.ApplyLimits{RequiredMatchedRatio: 0.96}, ratio(`{"matched_ratio":0.95}`), "no matched ratio"},
		{flashinfer.ApplyLimits{RequiredMatchedRatio: 0.5}, ratio(`null`), "no matched ratio"},
		{flashinfer.ApplyLimits{RequiredMatchedRatio: 0.5}, ratio(`{"matched_ratio":"1"}`), "no matched ratio"},
		{flashinfer.ApplyLimits{Hardware: "B"}, off(0, 0), "no trace is of the device"},
		{flashinfer.ApplyLimits{}, func(e *flashinfer.Evaluation) { e.Gate = &flashinfer.Gate{Key: flashinfer.Key{Solution: "old"}} }, "another content"},
		{flashinfer.ApplyLimits{}, func(e *flashinfer.Evaluation) { e.Performance.LatencyMS = 0 }, "no latency above 0"},
	} {
		err := passed(c.limits, c.edit)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.limits, err, c.want)
		}
	}
	a := applied{load(t, dataset)}
	a.trace(loop, "x", 1, flashinfer.Passed, 2, func(e *flashinfer.Evaluation) { e.Environment.Hardware = "B" })
	if _, err := flashinfer.Apply(a.ds, flashinfer.ApplyLimits{}); err == nil || !strings.Contains(err.Error(), "name the one that is wanted with --hardware") {
		t.Errorf("two devices: %v", err)
	}
}

// TestApplyFolder: the folder is a dataset that names no other solution.
func TestApplyFolder(t *testing.T) {
	t.Parallel()
	a := applied{load(t, dataset)}
	a.ds.Traces = nil
	a.trace(loop, "x1", 1, flashinfer.Passed, 2)
	a.trace(plain, "x1", 1, flashinfer.Passed, 3)
	table, err := flashinfer.Apply(a.ds, flashinfer.ApplyLimits{})
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "best")
	if err := table.Write(a.ds, out); err != nil {
		t.Fatal(err)
	}
	ds := load(t, out)
	if len(ds.Definitions) != 1 || len(ds.Solutions) != 1 || len(ds.Traces) != 1 || ds.Solutions[0].Name != loop || ds.Solutions[0].Hash() != a.ds.Solution(loop).Hash() {
		t.Errorf("%+v", ds)
	}
	again, err := flashinfer.Apply(ds, flashinfer.ApplyLimits{})
	if err != nil || again.DefBest["scale_n4"] != loop {
		t.Errorf("%+v, %v", again, err)
	}
	if err := table.Write(a.ds, out); err == nil || !strings.Contains(err.Error(), "name a new folder") {
		t.Errorf("written twice: %v", err)
	}
}
