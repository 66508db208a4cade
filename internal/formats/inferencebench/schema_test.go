package inferencebench

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/accelgate/accelgate/internal/bench"
)

// validator reads the schema as draft 2020-12, formats included.
func validator(t *testing.T) func(data []byte) error {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("envelope.json", document); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("envelope.json")
	if err != nil {
		t.Fatal(err)
	}
	return func(data []byte) error {
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			return err
		}
		return compiled.Validate(value)
	}
}

// extended has each member that this project adds to v1.
const extended = `"seed": 42, "driver_options": {"mode": "closed", "concurrency": 16},
 "x_metric_meta": {"ok_rate": {"n": 897, "ci95": [0.9, 1], "ci_method": "order-stat", "unit": "", "direction": "none", "definition": "ok / total",
  "mad": 0, "resolution": 0.1, "exact": false, "informational": true, "fallback_for": "x", "counted_by": "n_ok", "min_count": 368, "observations": 9}},
 "x_runs": [{"metrics": {"ok_rate": 1}, "estimates": {"ok_rate": {"n": 3, "low": 0.9, "high": 1, "method": "wilson"}}}],
 "x_outcome": "passed", "x_caveat": "client-limited", "x_outcomes": {"ok": 897, "timeout_idle": 0}, "x_token_source": "usage",
 "x_client_health": {"schedule_delay_p99_ms": 0.4, "cpu_share": 1.3, "gc_pause_max_ms": 0.2, "conn_reuse_rate": 1, "retries_conn": 0, "saturated": false},
 "x_energy": {"scope": ["GPU-1", "cpu-package-0"], "method": "nvidia-smi-power-draw-100ms", "idle_w": 75.2},
 "distributions": {"samples": "samples-1.jsonl#sha256=ZEROS"}, "x_tool": "t", "x_placeholders": ["seed"], "x_context": {"a": "b"},
 "x_cell": {"suite": "s", "params": [{"key": "model", "value": "m"}]}, "x_host": {"label": "h", "accelerators": [{"vendor": "nvidia", "model": "H200"}]}`

func TestSchemaAccepts(t *testing.T) {
	t.Parallel()
	valid := validator(t)
	for name, data := range map[string][]byte{
		"minimal":      edited(),
		"extended":     edited(`"seed": 42`, extended),
		"unknown":      edited(`"seed": 42`, `"seed": 42, "x_other": [1], "more": null`, `"provider": "p"`, `"provider": "p", "region": "eu"`),
		"facts":        edited(`{"ok_rate": 1.0}`, `{"a": null, "b": "text", "c": -1e300, "é.b": 0}`),
		"nulls":        edited(`"seed": 42`, `"seed": 42, "quantization": null, "signature": null, "distributions": {"samples": "samples.jsonl"}`),
		"signed":       edited(`"seed": 42`, `"seed": 42, "signature": {"method": "dev-key", "certificate": "", "rekor_log_index": -1, "bundle": "eA=="}`),
		"long seed":    edited(`"seed": 42`, `"seed": -12345678901234567890123`),
		"not measured": edited(`"seed": 42`, `"seed": 42, "x_energy": {"not_measured": "the GPU was lost: replace it"}`),
	} {
		if err := valid(data); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := Parse(data); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSchemaRefuses has what the reader refuses, too, and members of ours that
// it ignores.
func TestSchemaRefuses(t *testing.T) {
	t.Parallel()
	valid := validator(t)
	for _, tt := range []struct{ old, new string }{
		{`"v1"`, `"v2"`}, {`"llm.x"`, `""`}, {`"llm.x"`, `7`}, {`"1.0.0"`, `"1.0"`}, {`01234567-89ab`, `0123`}, {`2026-01-02T`, `2026-01-02 `},
		{`unknown00`, `short`}, {`unknown00`, strings.Repeat("a", 41)}, {`"config_hash": "ZEROS"`, `"config_hash": "abc"`},
		{`"cpu": {}`, `"cpu": []`}, {`"seed": 42`, `"seed": 4.5`}, {`"seed": 42`, `"seed": "42"`}, {`{"ok_rate": 1.0}`, `{}`},
		{`{"ok_rate": 1.0}`, `{"a": true}`}, {`{"ok_rate": 1.0}`, `{"": 1}`}, {`{"ok_rate": 1.0}`, `{"a": {"b": 1}}`}, {`"seed": 42`, `"seed": 42, "warnings": [1]`},
		{`{"mode": "closed", "concurrency": 16}`, `[]`}, {`"memory": {}`, `"memory": {"channels": 0}`},
		{`"seed": 42`, `"seed": 42, "signature": {"method": "trust-me"}`},
		{`"ci95": [0.9, 1]`, `"ci95": [0.9]`}, {`"direction": "none"`, `"direction": "up"`}, {`"n": 897`, `"n": -1`}, {`"n": 897`, `"n": 1.5`},
		{`"ok": 897`, `"ok": -1`}, {`"ok": 897`, `"ok": "many"`}, {`"usage"`, `"words"`}, {`"conn_reuse_rate": 1`, `"conn_reuse_rate": 1.1`},
		{`"idle_w": 75.2`, `"idle_w": "low"`}, {`"scope": ["GPU-1", "cpu-package-0"],`, ``}, {`"scope": ["GPU-1", "cpu-package-0"]`, `"scope": []`},
		{`"idle_w": 75.2`, `"not_measured": "lost"`}, {`jsonl#sha256=ZEROS`, `jsonl#sha256=abc`}, {`[{"metrics": {"ok_rate": 1}`, `[{"m": {"ok_rate": 1}`},
		{`"low": 0.9, `, ``}, {`"x_context": {"a": "b"}`, `"x_context": {"a": 1}`}, {`"key": "model", `, ``}, {`"label": "h", `, ``},
	} {
		// extended goes in first, so that the edits reach into it.
		with := strings.Replace(minimal, `"seed": 42`, extended, 1)
		if !strings.Contains(with, tt.old) {
			t.Fatalf("%s is not in the document", tt.old)
		}
		broken := strings.ReplaceAll(strings.Replace(with, tt.old, tt.new, 1), "ZEROS", zeros)
		if err := valid([]byte(broken)); err == nil {
			t.Errorf("%s -> %.60s validates", tt.old, tt.new)
		}
	}
}

// TestSchemaAgrees: member by member of v1, the schema demands what the reader
// demands, and demands the same kinds of values.
func TestSchemaAgrees(t *testing.T) {
	t.Parallel()
	valid := validator(t)
	check := func(what string, body value) {
		data := body.canonical()
		_, err := Parse(data)
		if invalid := valid(data); (err == nil) != (invalid == nil) {
			t.Errorf("%s: the reader says %v, the schema says %v", what, err, invalid)
		}
	}
	whole := func() value { return mustRead(string(edited(`"seed": 42`, extended))) }
	for _, d := range fields {
		body := whole()
		remove(&body, d.path)
		check("without "+d.path, body)
		for _, other := range []string{`null`, `true`, `7`, `""`, `"some text"`, `[]`, `{}`, `"` + zeros + `"`} {
			if d.path == "quantization" && other == `{}` || d.path == "metrics" || d.path == "hardware_fingerprint.numa" {
				continue
			}
			body := whole()
			body.set(d.path, mustRead(other))
			check(d.path+" is "+other, body)
		}
	}
}

// remove takes a member away.
func remove(v *value, path string) {
	first, rest, nested := strings.Cut(path, ".")
	for i, key := range v.keys {
		switch {
		case key != first:
		case nested:
			remove(&v.items[i], rest)
		default:
			v.keys, v.items = append(v.keys[:i:i], v.keys[i+1:]...), append(v.items[:i:i], v.items[i+1:]...)
		}
		if key == first {
			return
		}
	}
}

// TestSchemaOfWritten: whatever a Run holds, what is written of it validates.
func TestSchemaOfWritten(t *testing.T) {
	t.Parallel()
	valid := validator(t)
	rng := rand.New(rand.NewPCG(7, 8))
	for i := range 300 {
		run, base := randomRun(rng)
		data, err := FromRun(run, base)
		if err != nil {
			t.Fatal(err)
		}
		if err := valid(data); err != nil {
			t.Fatalf("run %d: %v\n%s", i, err, data)
		}
	}
}

func randomRun(rng *rand.Rand) (*bench.Run, Fields) {
	words := []string{"", "0", "x", "1.0", "1e400", "[1,2]", `{"b":1}`, "true", "é\n\x00", zeros, "unknown", "suite", "seed", "model_revision",
		"dataset_hash", "-0", "quantization", "NaN", "1.2.3", "a#sha256=b", strings.Repeat("long", 20)}
	word := func() string { return words[rng.IntN(len(words))] }
	run, base := exampleRun(), Fields{}
	for range rng.IntN(12) {
		run.Context[word()] = word()
	}
	if rng.IntN(2) == 0 {
		run.Host = bench.Host{}
	}
	if rng.IntN(2) == 0 {
		base.Quantization.Format, base.SLOTemplate, base.Warnings = word(), word(), []string{word()}
		base.DriverOptions = []byte(`{"rate": 0.5, "list": [null, {"a": 1}]}`)
	}
	result := &run.Results[0]
	result.Outcome = []bench.Outcome{bench.Passed, bench.Failed}[rng.IntN(2)]
	if result.Outcome == bench.Failed {
		result.Reason = "because"
	}
	for i := range result.Samples {
		if s := &result.Samples[i]; s.Summary == nil {
			s.Values, s.Estimates = make([]float64, 1+rng.IntN(6)), nil
			for j := range s.Values {
				s.Values[j] = rng.NormFloat64() * 1e3
			}
		}
	}
	evidence(rng, result)
	return run, base
}

// evidence adds what a load generator records of a result.
func evidence(rng *rand.Rand, result *bench.Result) {
	if rng.IntN(2) == 0 {
		return
	}
	result.Caveat = "client-limited: use a faster client"
	result.Counts = map[string]int{"ok": rng.IntN(1000), "timeout_idle": 0}
	result.Warnings = []string{"short"}
	for i := range 1 + rng.IntN(3) {
		result.Files = append(result.Files, bench.File{Name: fmt.Sprintf("samples-%d.jsonl", i), SHA256: zeros})
	}
	for i := range result.Samples {
		s := &result.Samples[i]
		for _, v := range s.Values {
			s.Estimates = append(s.Estimates, bench.Estimate{N: 5, Low: v - 1, High: v + 1, Method: "order-stat"})
		}
	}
}

func TestSchemaOfPublished(t *testing.T) {
	t.Parallel()
	valid := validator(t)
	for name, data := range published(t) {
		if err := valid(data); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSchemaIsInTheTree: what is embedded is the file that the documentation
// links to.
func TestSchemaIsInTheTree(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join("schema", "envelope.v1.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	got := Schema()
	if !bytes.Equal(got, data) {
		t.Error("Schema is not the file")
	}
	got[0] = 'x'
	if !bytes.Equal(Schema(), data) {
		t.Error("a caller changed the schema")
	}
}
