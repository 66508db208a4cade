package inferencebench

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
)

// minimal has what v1 demands, and no more.
const minimal = `{"envelope_version": "v1", "suite_id": "llm.x", "suite_version": "1.0.0",
 "run_id": "01234567-89ab-7def-8123-456789abcdef", "timestamp": "2026-01-02T03:04:05.678901Z",
 "model": {"id": "m", "revision": "unknown00", "provider": "p", "endpoint_hash": "ZEROS"},
 "engine": {"name": "e", "version": "1.2", "config_hash": "ZEROS"},
 "hardware_fingerprint": {"fingerprint_sha256": "ZEROS", "dmi_uuid": "unknown", "cpu": {}, "memory": {}, "bios": {}, "driver": "", "cuda": ""},
 "software_provenance": {"pip_freeze_hash": "ZEROS", "git_commit": "0000000"},
 "dataset": {"id": "d", "hash": "ZEROS"}, "seed": 42, "metrics": {"ok_rate": 1.0}}`

// edited returns minimal with replacements.
func edited(replacements ...string) []byte {
	s := strings.NewReplacer(replacements...).Replace(minimal)
	return []byte(strings.ReplaceAll(s, "ZEROS", zeros))
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ old, new, want string }{
		{`"v1"`, `"v2"`, "envelope_version"},
		{`"envelope_version": "v1",`, ``, "envelope_version is missing"},
		{`"suite_id": "llm.x",`, ``, "suite_id is missing"},
		{`"llm.x"`, `""`, "suite_id"},
		{`"llm.x"`, `7`, "suite_id is a number"},
		{`"1.0.0"`, `"1.0"`, "suite_version"},
		{`01234567-89ab`, `0123`, "run_id"},
		{`2026-01-02T`, `2026-01-02 `, "timestamp"},
		{`"revision": "unknown00", `, ``, "model.revision is missing"},
		{`unknown00`, `short`, "model.revision"},
		{`"config_hash": "ZEROS"`, `"config_hash": "abc"`, "engine.config_hash"},
		{`"cpu": {}`, `"cpu": []`, "hardware_fingerprint.cpu"},
		{`"seed": 42`, `"seed": 4.5`, "seed"},
		{`"seed": 42`, `"seed": "42"`, "seed is a text"},
		{`{"ok_rate": 1.0}`, `{}`, "metrics"},
		{`{"ok_rate": 1.0}`, `{"a": true}`, "metrics.a"},
		{`{"ok_rate": 1.0}`, `{"": 1}`, "metrics"},
		{`{"ok_rate": 1.0}`, `{"a": 1, "a": 2}`, "twice"},
		{`"seed": 42`, `"seed": 42, "seed": 42`, "twice"},
		{`"seed": 42`, `"seed": 42, "warnings": [1]`, "warnings"},
		{`"seed": 42`, `"seed": 42, "driver_options": []`, "driver_options"},
		{`"seed": 42`, `"seed": 42, "x": ` + strings.Repeat("[", 70), "nested"},
		{`"seed": 42`, `"seed": ` + strings.Repeat("1", 5000), "digits"},
		{`"d"`, `"` + strings.Repeat("d", 5000) + `"`, "dataset.id"},
	} {
		_, err := Parse(edited(tt.old, tt.new))
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), ": ") {
			t.Errorf("%s -> %.60s: error is %v, want one that names %q", tt.old, tt.new, err, tt.want)
		}
	}
	many := `{"m0": 1`
	for i := range maxMetrics {
		many += `, "x` + strings.Repeat("y", i%200) + string(rune('a'+i/200)) + `": 1`
	}
	if _, err := Parse(edited(`{"ok_rate": 1.0}`, many+"}")); err == nil || !strings.Contains(err.Error(), "4097") {
		t.Errorf("%d metrics: %v", maxMetrics+1, err)
	}
	if _, err := Parse(make([]byte, maxBytes+1)); err == nil {
		t.Error("a file over the limit was read")
	}
}

func TestParseKeeps(t *testing.T) {
	t.Parallel()
	data := edited(`{"ok_rate": 1.0}`, `{"b": NaN, "a": 20.0, "d": "NaN and Infinity", "c": null, "e": -Infinity}`,
		`"seed": 42`, `"seed": 12345678901234567890123, "driver_options": {"b": 1.0, "a": NaN}, "x_own": {"k": 1.50}`)
	e, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	if e.Seed != "12345678901234567890123" || string(e.DriverOptions) != `{"a":NaN,"b":1.0}` || string(e.Extra["x_own"]) != `{"k":1.5}` || len(e.Extra) != 1 {
		t.Errorf("seed %s, options %s, extra %s", e.Seed, e.DriverOptions, e.Extra)
	}
	want := []Metric{{"a", 20, true, "20.0"}, {"b", math.NaN(), false, "NaN"}, {"c", math.NaN(), false, ""},
		{"d", math.NaN(), false, "NaN and Infinity"}, {"e", math.Inf(-1), true, "-Infinity"}}
	for i, m := range e.Metrics {
		w := want[i]
		if m.Name != w.Name || m.Has != w.Has || m.Text != w.Text || (m.Value != w.Value && !math.IsNaN(w.Value)) {
			t.Errorf("metric %d is %+v, want %+v", i, m, w)
		}
	}
	if run := e.Run(); run.Validate() != nil || len(run.Results[0].Samples) != 1 || len(run.Warnings) != 2 || run.Context["d"] == "" {
		t.Errorf("as a run it is %+v, %v", run, run.Validate())
	}
}

func TestIsEnvelope(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]bool{
		minimal: true, "\ufeff\n{\"a\":{},\"envelope_version\" : 2": true, `{"a":{"envelope_version":"v1"}}`: false,
		`{"a":"envelope_version"}`: false, `["envelope_version"]`: false, `{"a":"\"","b":"envelope_version","schema":1}`: false,
		``: false, `{"`: false, `{"\`: false, `{"envelope_version"`: false,
	} {
		if got := IsEnvelope([]byte(in)); got != want {
			t.Errorf("IsEnvelope(%.60q) = %t", in, got)
		}
	}
}

func TestUnknown(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		field, value string
		want         bool
	}{
		{"model_revision", "unknown00", true}, {"model_revision", "Unknown", true}, {"x", "", true}, {"dataset_hash", zeros, true},
		{"git_commit", zeros[:40], true}, {"pip_freeze_hash", emptySHA256, true}, {"image", "sha256:" + zeros, true},
		{"seed", "0", false}, {"seed", "00000000", false}, {"concurrency", "0", false}, {"model", "unknown-soldier", false},
		{"suite_version", "0.0.0", true}, {"engine_version", "0.0.0", false}, {"model_revision", "abc1234", false},
	} {
		if got := Unknown(tt.field, tt.value); got != tt.want {
			t.Errorf("Unknown(%q, %q) = %t", tt.field, tt.value, got)
		}
	}
}

func TestDirection(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name         string
		better       bench.Direction
		gated, known bool
		unit         string
	}{
		{"ttft_p50_ms", bench.Lower, true, true, "ms"}, {"ttft_p95_ms", bench.Lower, true, true, "ms"},
		{"schedule_delay_p99_ms", bench.Lower, false, true, "ms"}, {"input_tok_per_s", bench.Higher, true, true, "tok/s"},
		{"req_per_s_all", bench.Higher, true, true, "req/s"}, {"compliance_rate", bench.Higher, true, true, ""},
		{"ok_rate", bench.Higher, true, true, ""}, {"spec_accept_rate", bench.Higher, true, true, ""}, {"book_rate", bench.Higher, false, false, ""},
		{"timeout_rate", bench.Lower, true, true, ""}, {"http_error_rate", bench.Lower, true, true, ""}, {"retries_conn", bench.Lower, true, true, ""},
		{"power_avg_w", bench.Lower, false, true, "W"}, {"energy_joules_total", bench.Lower, false, true, "J"},
		{"joules_per_token", bench.Lower, true, true, "J/token"}, {"cost_usd_per_million_tokens", bench.Lower, true, true, "USD/1M tokens"},
		{"n_ok", bench.Higher, false, true, ""}, {"output_tokens_total", bench.Higher, false, true, ""},
		{"cached_token_rate", bench.Higher, false, true, ""}, {"duration_s", bench.Higher, false, true, "s"},
		{"pass_at_1_p05", bench.Higher, true, true, ""}, {"wer_mean", bench.Lower, true, true, ""}, {"goodput_at_slo", bench.Higher, true, true, ""},
		{"whatever", bench.Higher, false, false, ""}, {"ok_rate\n", bench.Higher, false, false, ""}, {"", bench.Higher, false, false, ""},
	} {
		d, gated, known := Direction(tt.name)
		if d != tt.better || gated != tt.gated || known != tt.known || Unit(tt.name) != tt.unit {
			t.Errorf("%s: %s, gated %t, known %t, unit %q", tt.name, d, gated, known, Unit(tt.name))
		}
	}
}

// TestDirectionsAgree: where the original has a direction, ours is the same.
func TestDirectionsAgree(t *testing.T) {
	t.Parallel()
	if len(original) != 47 {
		t.Errorf("the original's table has %d names", len(original))
	}
	for name, want := range original {
		if d, _, known := Direction(name); d != want || !known {
			t.Errorf("%s: ours is %s, known %t; the original says %s", name, d, known, want)
		}
	}
	if _, ok := OriginalDirection("ttft_p95_ms"); ok {
		t.Error("the original has no ttft_p95_ms")
	}
}

// FuzzParse checks that whatever is read makes a run that validates, and that
// the run makes an envelope again.
func FuzzParse(f *testing.F) {
	f.Add(`{"ok_rate": 1.0}`, `"z": 1`)
	f.Add(`{"ttft_p99_ms": 5, "x": NaN, "y": "z", "w": 1e999}`, `"x_runs": [{"metrics":{"ttft_p99_ms":5}}],
		"x_metric_meta":{"ttft_p99_ms":{"n":3,"mad":0.1,"fallback_for":"x"}}`)
	f.Add(`{"a": 1, "b": null}`, `"x_cell":{"id":"a"},"x_host":{"label":"h"},"x_context":{"k":"v"},"driver_options":{"concurrency":4,"w":{"n":[1]}}`)
	f.Add(`{"\ud800": 1}`, `"quantization": null, "warnings": ["w"], "x_outcome": "failed", "x_placeholders": ["seed"], "x_tool": "t"`)
	f.Fuzz(func(t *testing.T, metrics, extra string) {
		data := edited(`{"ok_rate": 1.0}`, metrics, `"seed": 42`, `"seed": 42, `+extra)
		_, _ = FingerprintHash(data)
		e, err := Parse(data)
		if err != nil {
			return
		}
		if !IsEnvelope(data) {
			t.Error("an envelope was not recognised")
		}
		run := e.Run()
		if err := run.Validate(); err != nil {
			t.Fatal(err)
		}
		if len(run.Results[0].Samples) == 0 || len(run.Context) > maxConditions {
			return
		}
		written, err := FromRun(run, Fields{})
		if err != nil {
			t.Fatal(err)
		}
		back, err := Parse(written)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range run.Results[0].Samples {
			if diff := cmp.Diff(&s, back.Run().Results[0].Sample(s.Metric)); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}

// BenchmarkParse reads an envelope of the usual size, and a hostile one.
func BenchmarkParse(b *testing.B) {
	hostile := edited(`"seed": 42`, `"seed": 42, "x": [`+strings.Repeat("{},", maxValues-100)+`0]`)
	for name, data := range map[string][]byte{"usual": edited(), "hostile": hostile} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
