package inferencebench

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
)

func exampleRun() *bench.Run {
	return &bench.Run{
		Schema: bench.RunSchema, Tool: "accelgate test", Revision: "0123456789abcdef0123456789abcdef01234567",
		Started: time.Date(2026, 3, 4, 5, 6, 7, 8000, time.UTC),
		Host: bench.Host{Label: "h200", Fingerprint: bench.Fingerprint{OS: "linux", CPU: "some CPU", Cores: 16,
			Accelerators: []bench.Accelerator{{Vendor: "nvidia", Model: "NVIDIA H200", MemoryGiB: 141}}, Driver: "580"}},
		Context: map[string]string{"suite": "llm.x", "model": "m/é", "engine": "vllm", "engine_version": "0.22", "seed": "7", "concurrency": "16",
			"warmup": `{"requests":3}`, "mode": "closed", "rate": "1.50", "odd": "NaN", "none": "null", "hardware_fingerprint": "not a hash",
			"model_revision": "unknown00", "quantization": "", "quantization_method": "awq"},
		Metrics: []bench.Metric{
			{Name: "ttft_p99_ms", Unit: "ms", Better: bench.Lower, Resolution: 0.1, Definition: "p99 of t_first - t_send", CountedBy: "n_ok", MinCount: 368},
			{Name: "decode_tps", Unit: "tok/s", Better: bench.Higher},
			{Name: "prefill_tps", Unit: "tok/s", Better: bench.Higher, FallbackFor: "decode_tps"},
			{Name: "tokens", Better: bench.Higher, Exact: true}, {Name: "a.b", Better: bench.Lower, Informational: true},
			{Name: "never_measured", Better: bench.Lower},
		},
		Results: []bench.Result{{
			Cell:    bench.Cell{Suite: "s", Params: []bench.Param{{Key: "model", Value: "m"}, {Key: "env.A", Value: "1"}}},
			Outcome: bench.Passed, Caveat: "the client was late", Counts: map[string]int{"ok": 7, "connect": 0},
			Files: []bench.File{{Name: "samples-1.jsonl", SHA256: strings.Repeat("a1", 32)}, {Name: "b", SHA256: strings.Repeat("0f", 32)}},
			Samples: []bench.Sample{
				{Metric: "ttft_p99_ms", Values: []float64{3, 1e-7, 2, 1e300}},
				{Metric: "decode_tps", Values: []float64{0.1, 0.2}, Estimates: []bench.Estimate{{N: 40, Low: 0.05, High: 0.15, Method: "t"}, {N: 41, Low: 0.2, High: 0.2}}},
				{Metric: "prefill_tps", Summary: &bench.Summary{Median: 5, MAD: 0.5, N: 9}},
				{Metric: "tokens", Values: []float64{128}}, {Metric: "a.b", Values: []float64{-1.5}},
			},
		}},
	}
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	run := exampleRun()
	data, err := FromRun(run, Fields{})
	if err != nil {
		t.Fatal(err)
	}
	e, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ContentHash(data); err != nil {
		t.Error(err)
	}
	back := e.Run()
	if err := back.Validate(); err != nil {
		t.Fatal(err)
	}
	back.Warnings = nil
	byName := func(a, b bench.Metric) int { return strings.Compare(a.Name, b.Name) }
	slices.SortFunc(run.Metrics, byName)
	slices.SortFunc(run.Results[0].Samples, func(a, b bench.Sample) int { return strings.Compare(a.Metric, b.Metric) })
	if diff := cmp.Diff(run, back); diff != "" {
		t.Errorf("the run changed (-before +after):\n%s", diff)
	}
	again, err := FromRun(run, Fields{})
	if err != nil || string(again) != string(data) {
		t.Errorf("writing twice differs: %v", err)
	}
	for _, path := range []string{"suite_version", "dataset.hash", "hardware_fingerprint.dmi_uuid"} {
		if !strings.Contains(strings.Join(e.Warnings, "\n"), path) {
			t.Errorf("warnings do not list %s: %q", path, e.Warnings)
		}
	}
	if e.Seed != "7" || e.Model.ID != "m/é" || e.SuiteVersion != "0.0.0" || e.Dataset.Hash != zeros {
		t.Errorf("fields are %+v", e.Fields)
	}
}

// TestRoundTripRandom: medians and conditions survive, whatever they are.
func TestRoundTripRandom(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	words := []string{"", "0", "x", "1.0", "1e400", "[1,2]", `{"b":1,"a":2}`, "true", `"q"`, "é\n", zeros, "unknown", "suite", "seed", "model", "dataset_hash", "-0"}
	for range 300 {
		run := exampleRun()
		for range rng.IntN(8) {
			run.Context[words[rng.IntN(len(words))]] = words[rng.IntN(len(words))]
		}
		for i := range run.Results[0].Samples {
			if s := &run.Results[0].Samples[i]; s.Summary == nil {
				s.Values = make([]float64, 1+rng.IntN(6))
				s.Estimates = nil
				for j := range s.Values {
					s.Values[j] = rng.NormFloat64() * 1e3
					if i == 0 {
						s.Estimates = append(s.Estimates, bench.Estimate{N: rng.IntN(900), Low: s.Values[j] - 1, High: s.Values[j] + rng.Float64(), Method: words[rng.IntN(len(words))]})
					}
				}
			}
		}
		data, err := FromRun(run, Fields{})
		if err != nil {
			t.Fatal(err)
		}
		e, err := Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		back := e.Run()
		for key, want := range run.Context {
			if got, ok := back.Context[key]; !ok || got != want {
				t.Fatalf("condition %q was %q and is %q, %t", key, want, got, ok)
			}
		}
		for _, s := range run.Results[0].Samples {
			if diff := cmp.Diff(&s, back.Results[0].Sample(s.Metric)); diff != "" {
				t.Fatal(diff)
			}
		}
	}
}

func TestFromRunBase(t *testing.T) {
	t.Parallel()
	base := Fields{SuiteID: "mine", RunID: "01234567-89ab-7def-8123-456789abcdef", DriverOptions: []byte(`{"concurrency":4}`), Warnings: []string{"hot"}}
	run := exampleRun()
	delete(run.Context, "hardware_fingerprint")
	data, err := FromRun(run, base)
	if err != nil {
		t.Fatal(err)
	}
	e, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	if e.SuiteID != "mine" || e.RunID != base.RunID || e.Warnings[0] != "hot" || e.Run().Context["concurrency"] != "4" {
		t.Errorf("fields are %+v", e.Fields)
	}
	if sum, err := FingerprintHash(data); err != nil || sum != e.Fingerprint || sum == zeros {
		t.Errorf("fingerprint is %s, recomputed %s, %v", e.Fingerprint, sum, err)
	}
}

func TestFromRunRefuses(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*bench.Run, *Fields){
		"two cells": func(r *bench.Run, _ *Fields) {
			r.Results = append(r.Results, bench.Result{Cell: bench.Cell{Raw: "b"}, Outcome: bench.Passed})
		},
		"no number": func(r *bench.Run, _ *Fields) { r.Results[0].Samples = nil },
		"schema":    func(r *bench.Run, _ *Fields) { r.Schema = 9 },
		"model.id":  func(_ *bench.Run, f *Fields) { f.Model.ID = strings.Repeat("m", 5000) },
		"seed":      func(_ *bench.Run, f *Fields) { f.Seed = "many" },
		"no object": func(_ *bench.Run, f *Fields) { f.DriverOptions = []byte("[]") },
		"long name": func(r *bench.Run, _ *Fields) { r.Metrics[0].Name = strings.Repeat("m", 300) },
		"conditions": func(r *bench.Run, _ *Fields) {
			for i := range 5000 {
				r.Context[strings.Repeat("k", i)] = ""
			}
		},
	} {
		run, base := exampleRun(), Fields{}
		spoil(run, &base)
		if _, err := FromRun(run, base); err == nil || !strings.Contains(err.Error(), ": ") {
			t.Errorf("%s: error is %v", name, err)
		}
	}
}

func TestPublishedRuns(t *testing.T) {
	t.Parallel()
	for name, data := range published(t) {
		e, err := Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		run := e.Run()
		if err := run.Validate(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if m := run.Metric("ttft_p99_ms"); m == nil || !m.Informational || m.Unit != "ms" || m.Better != bench.Lower {
			t.Errorf("%s: ttft_p99_ms is %+v, want it not gated: the number of requests is unknown", name, m)
		}
		if run.Context["suite"] != e.SuiteID || run.Context["endpoint_hash"] != "" || run.Host.Cores == 0 {
			t.Errorf("%s: context %v, host %+v", name, run.Context, run.Host)
		}
		again, err := FromRun(run, Fields{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		back, err := Parse(again)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(run.Context, back.Run().Context); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if diff := cmp.Diff(run.Results, back.Run().Results); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
