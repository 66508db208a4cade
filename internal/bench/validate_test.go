package bench_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
)

func sampleRun() *bench.Run {
	return &bench.Run{
		Schema:  bench.RunSchema,
		Metrics: []bench.Metric{{Name: "decode_tps", Unit: "tok/s", Better: bench.Higher}},
		Results: []bench.Result{{
			Cell:    bench.Cell{Suite: "s", Params: []bench.Param{{Key: "model", Value: "m"}}},
			Outcome: bench.Passed,
			Samples: []bench.Sample{{Metric: "decode_tps", Values: []float64{1, 2}}},
		}},
	}
}

func TestDecodeRunRoundTrip(t *testing.T) {
	data, err := json.Marshal(sampleRun())
	if err != nil {
		t.Fatal(err)
	}
	got, err := bench.DecodeRun(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sampleRun(), got); diff != "" {
		t.Errorf("run (-want +got):\n%s", diff)
	}
	for _, bad := range []string{"", "null{}", string(data) + "{}", string(data) + "}", strings.Replace(string(data), `"results"`, `"resluts"`, 1)} {
		if _, err := bench.DecodeRun([]byte(bad)); err == nil {
			t.Errorf("DecodeRun(%.40q) succeeded", bad)
		}
	}
}

func TestValidateRefuses(t *testing.T) {
	check := func(want string, change func(*bench.Run)) {
		t.Helper()
		run := sampleRun()
		change(run)
		if err := run.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Validate() = %v, want an error with %q", err, want)
		}
	}
	check("schema 2", func(r *bench.Run) { r.Schema = 2 })
	check("occurs twice", func(r *bench.Run) { r.Results = append(r.Results, r.Results[0]) })
	check("occurs twice", func(r *bench.Run) { r.Results[0].Cell = bench.Cell{} })
	check("unknown outcome", func(r *bench.Run) { r.Results[0].Outcome = "fine" })
	check("better is", func(r *bench.Run) { r.Metrics[0].Better = "more" })
	check("not a finite number", func(r *bench.Run) { r.Results[0].Samples[0].Values[1] = math.NaN() })
	check("occurs twice", func(r *bench.Run) { r.Metrics = append(r.Metrics, r.Metrics[0]) })
	check("always gated", func(r *bench.Run) { r.Metrics[0].FallbackFor = "decode_tps" })
	check("always gated", func(r *bench.Run) {
		r.Metrics = append(r.Metrics, bench.Metric{Name: "x", Better: bench.Higher, Informational: true})
		r.Metrics[0].FallbackFor = "x"
	})
	check("occurs twice", func(r *bench.Run) {
		r.Results[0].Samples = append(r.Results[0].Samples, r.Results[0].Samples[0])
	})
	check("of nothing", func(r *bench.Run) {
		r.Results[0].Samples[0] = bench.Sample{Metric: "decode_tps", Summary: &bench.Summary{Median: 1, MAD: -5, N: 3}}
	})
	check("one of the two", func(r *bench.Run) { r.Results[0].Samples[0].Summary = &bench.Summary{Median: 1} })
	check("occurs twice", func(r *bench.Run) {
		r.Results[0].Samples = append(r.Results[0].Samples, r.Results[0].Samples[0])
	})
	check("of nothing", func(r *bench.Run) {
		r.Results[0].Samples[0] = bench.Sample{Metric: "decode_tps", Summary: &bench.Summary{Median: 1, MAD: -5, N: 3}}
	})
	check("one of the two", func(r *bench.Run) { r.Results[0].Samples[0].Values = nil })
	check("not finite", func(r *bench.Run) {
		r.Results[0].Samples[0].Values = nil
		r.Results[0].Samples[0].Summary = &bench.Summary{Median: math.Inf(1)}
	})
}

// TestDecodeRunIsBounded: a small file must not become large in memory.
func TestDecodeRunIsBounded(t *testing.T) {
	data := []byte(`{"schema": 1, "tool": "", "host": {"label": ""}, "started": "2026-01-01T00:00:00Z", "metrics": [], "results": [` +
		strings.Repeat("{},", 1<<18) + `{}]}`)
	allocated := testing.AllocsPerRun(1, func() {
		if _, err := bench.DecodeRun(data); err == nil || !strings.Contains(err.Error(), "result 0: has no case id") {
			t.Errorf("DecodeRun() = %v, want the first result refused", err)
		}
	})
	if allocated > 1000 {
		t.Errorf("%v allocations for a document that ends at its first result", allocated)
	}
}

func TestComparable(t *testing.T) {
	base := bench.Fingerprint{OS: "linux", CPU: "EPYC", Cores: 2, MemoryGiB: 24,
		Accelerators: []bench.Accelerator{{Vendor: "nvidia", Model: "H200"}, {Vendor: "nvidia", Model: "H100"}}}
	check := func(want bool, change func(*bench.Fingerprint)) {
		t.Helper()
		ref := base
		ref.Accelerators = append([]bench.Accelerator(nil), base.Accelerators...)
		change(&ref)
		got, why := base.Comparable(ref)
		if got != want || got == (why != "") {
			t.Errorf("Comparable(%+v) = %v %q, want %v", ref, got, why, want)
		}
	}
	check(true, func(f *bench.Fingerprint) {})
	check(true, func(f *bench.Fingerprint) { f.Driver, f.MemoryGiB = "570", 12 })
	check(true, func(f *bench.Fingerprint) {
		f.Accelerators[0], f.Accelerators[1] = f.Accelerators[1], f.Accelerators[0]
	})
	check(false, func(f *bench.Fingerprint) { f.Accelerators[0].Model = "H200 NVL" })
	check(false, func(f *bench.Fingerprint) { f.Accelerators = f.Accelerators[:1] })
	check(false, func(f *bench.Fingerprint) { f.CPU = "Xeon" })
	check(false, func(f *bench.Fingerprint) { f.Cores = 4 })
	check(false, func(f *bench.Fingerprint) { *f = bench.Fingerprint{} })
}
