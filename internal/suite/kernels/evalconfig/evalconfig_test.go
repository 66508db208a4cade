package evalconfig_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/suite/kernels/evalconfig"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

func parse(t testing.TB, text string) *evalconfig.File {
	t.Helper()
	f, err := evalconfig.Parse("eval.yaml", []byte(text))
	if err != nil {
		t.Fatalf("%v in:\n%s", err, text)
	}
	return f
}

func resolve(t testing.TB, f *evalconfig.File, definition, opType string, flags evalconfig.Overrides) evalconfig.Resolved {
	t.Helper()
	r, err := f.Resolve(definition, opType, flags)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// keys are what the property is about; every value is a whole number, so that
// all can be written alike.
var keys = []string{"warmup_runs", "iterations", "num_trials", "rtol", "atol", "outputs.y.rtol", "outputs.z.atol", "extra.a", "extra.b"}

// TestPrecedence writes random layers and compares with an oracle that looks
// each key up from the last layer to the first.
func TestPrecedence(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		global, op, def, flags := random(r, keys[:7]), random(r, keys), random(r, keys), random(r, keys[:5])
		others := random(r, keys) // of another op type and definition
		text := "timeout_seconds: 5\n" + yaml("", global) +
			"op_type_config:\n  op:\n    mode: fib\n" + yaml("    ", op) + "  other:\n    mode: fib\n" + yaml("    ", others) +
			"definition_config:\n  other:\n    mode: fib\n" + yaml("    ", others) + "  def:\n    mode: fib\n" + yaml("    ", def)
		got := values(resolve(t, parse(t, text), "def", "op", overrides(flags)))
		want := map[string]string{"warmup_runs": "10", "iterations": "50", "num_trials": "3", "rtol": "0.01", "atol": "0.01"}
		for _, key := range keys {
			for _, layer := range []map[string]int{flags, def, op, global} {
				if v, ok := layer[key]; ok {
					want[key] = fmt.Sprint(v)
					break
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("flags %v over\n%s\n%s", flags, text, diff)
		}
	}
}

func random(r *rand.Rand, keys []string) map[string]int {
	m := map[string]int{}
	for _, key := range keys {
		if r.IntN(2) == 0 {
			m[key] = 1 + r.IntN(10_000)
		}
	}
	return m
}

// yaml writes the keys of a layer.
func yaml(indent string, layer map[string]int) string {
	var plain, outputs, extra strings.Builder
	for key, v := range layer {
		switch parts := strings.Split(key, "."); parts[0] {
		case "outputs":
			fmt.Fprintf(&outputs, "%s  %s: {%s: %d}\n", indent, parts[1], parts[2], v)
		case "extra":
			fmt.Fprintf(&extra, "%s  %s: %d\n", indent, parts[1], v)
		default:
			fmt.Fprintf(&plain, "%s%s: %d\n", indent, key, v)
		}
	}
	for head, list := range map[string]*strings.Builder{"outputs": &outputs, "extra": &extra} {
		if list.Len() > 0 {
			fmt.Fprintf(&plain, "%s%s:\n%s", indent, head, list)
		}
	}
	return plain.String()
}

func overrides(layer map[string]int) (o evalconfig.Overrides) {
	for key, v := range layer {
		f := float64(v)
		switch key {
		case "warmup_runs":
			o.WarmupRuns = &v
		case "iterations":
			o.Iterations = &v
		case "num_trials":
			o.NumTrials = &v
		case "rtol":
			o.Rtol = &f
		case "atol":
			o.Atol = &f
		}
	}
	return o
}

func values(r evalconfig.Resolved) map[string]string {
	m := map[string]string{
		"warmup_runs": fmt.Sprint(r.WarmupRuns.V), "iterations": fmt.Sprint(r.Iterations.V), "num_trials": fmt.Sprint(r.NumTrials.V),
		"rtol": fmt.Sprint(r.Rtol.V), "atol": fmt.Sprint(r.Atol.V),
	}
	for name, o := range r.Outputs {
		for key, v := range map[string]evalconfig.Value[float64]{"rtol": o.Rtol, "atol": o.Atol, "required_matched_ratio": o.RequiredMatchedRatio} {
			if v.Origin != "" {
				m["outputs."+name+"."+key] = fmt.Sprint(v.V)
			}
		}
	}
	for key, v := range r.Extra {
		m["extra."+key] = v.V
	}
	return m
}

// TestDigest holds that the digest depends on values and on nothing else.
func TestDigest(t *testing.T) {
	t.Parallel()
	five := 5
	base := resolve(t, parse(t, "iterations: 5"), "a", "op", evalconfig.Overrides{}).Digest()
	same := resolve(t, evalconfig.Default(), "b", "", evalconfig.Overrides{Settings: evalconfig.Settings{Iterations: &five}}).Digest()
	if base != same || len(base) != 64 {
		t.Errorf("digests %s and %s of the same values", base, same)
	}
	seen := map[string]string{base: "iterations: 5"}
	for _, text := range []string{
		"iterations: 6", "warmup_runs: 5", "num_trials: 5", "mode: fib", "rtol: 0.5", "atol: 0.5", "required_matched_ratio: 0.5",
		"use_isolated_runner: true", "profile_baseline: false", "timeout_seconds: 5", "outputs: {y: {rtol: 0.5}}", "outputs: {y: {atol: 0.5}}",
		"outputs: {z: {rtol: 0.5}}", "sampling_tvd_threshold: 0.5", "sampling_validation_trials: 5", "evaluators: {a: low_bit}",
		"evaluators: {a: {command: [x, y]}}", `evaluators: {a: {command: ["x y"]}}`,
	} {
		digest := resolve(t, parse(t, text), "a", "op", evalconfig.Overrides{}).Digest()
		if other, dup := seen[digest]; dup {
			t.Errorf("%q and %q have one digest", text, other)
		}
		seen[digest] = text
	}
}

func TestSelection(t *testing.T) {
	t.Parallel()
	f := parse(t, "iterations: 5\ndefinitions: [a, b]\nsolutions: [s]")
	definitions, solutions := f.Selection(evalconfig.Overrides{Run: evalconfig.Run{Solutions: []string{"t"}}})
	got := fmt.Sprint(definitions, solutions)
	if want := "{[a b] eval.yaml:2} {[t] --solutions}"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if definitions, solutions := evalconfig.Default().Selection(evalconfig.Overrides{}); definitions.V != nil || solutions.V != nil {
		t.Errorf("got %v and %v of nothing", definitions, solutions)
	}
}

func TestSampling(t *testing.T) {
	t.Parallel()
	r := resolve(t, parse(t, "sampling_tvd_threshold: 0"), "x", "sampling", evalconfig.Overrides{})
	if v, ok := r.TVDThreshold(); v != 0 || !ok || r.SamplingTrials() != 100 {
		t.Errorf("threshold %v, %t, trials %d; want 0, true, 100", v, ok, r.SamplingTrials())
	}
	r = resolve(t, evalconfig.Default(), "x", "gemm", evalconfig.Overrides{})
	if _, ok := r.TVDThreshold(); ok || r.SamplingTrials() != 0 {
		t.Errorf("settings of sampling for gemm: %v", r.Extra)
	}
}

// TestUpstreamsFile holds that what is bundled says what upstream's file says.
func TestUpstreamsFile(t *testing.T) {
	t.Parallel()
	dir := testtier.Data(t, "upstream's file was NOT read", "flashinfer/eval_config.yaml")
	theirs, err := os.ReadFile(filepath.Join(dir, "flashinfer", "eval_config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	ours, err := os.ReadFile("bundled.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sections(t, theirs), sections(t, ours)); diff != "" {
		t.Errorf("bundled.yaml differs from upstream's file (- upstream's, + ours):\n%s", diff)
	}
}

// sections decodes a file by its own few types, which refuse everything else.
func sections(t *testing.T, text []byte) any {
	t.Helper()
	if f := parse(t, string(text)); len(f.Warnings()) > 0 {
		t.Errorf("warnings: %q", f.Warnings())
	}
	var body struct {
		OpTypes map[string]struct {
			Ratio float64           `yaml:"required_matched_ratio"`
			Extra map[string]string `yaml:"extra"`
		} `yaml:"op_type_config"`
	}
	doc, err := config.Body("eval_config.yaml", text)
	if err == nil {
		err = doc.Decode(&body)
	}
	if err != nil || len(body.OpTypes) == 0 {
		t.Fatalf("%d sections, %v", len(body.OpTypes), err)
	}
	return body.OpTypes
}

// TestHostileSize holds that a file of many sections is cheap to resolve.
func TestHostileSize(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("outputs:\n")
	for i := range 101 {
		fmt.Fprintf(&b, "  o%d: {}\n", i)
	}
	_, err := evalconfig.Parse("eval.yaml", []byte(b.String()))
	if err == nil || !strings.Contains(err.Error(), "outputs: has 101 entries: write at most 100") {
		t.Errorf("got %v", err)
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"iterations: 5", "op_type_config: {moe: {rtol: 1e-3, extra: {a: b}}}", "definition_config: {x: {outputs: {y: {atol: .5}}}}",
		"evaluators: {'*': {command: [a]}, x: low_bit}", "name: x", "{kind: }", "a: &a [*a]", "rtol: 1e400", "log_dir: x\nsampling_tvd_threshold: 0.1",
		"op_type_config: {? [a] : {}}", "timeout_seconds: 99999999999999999999", "outputs: {\"\": {rtol: 1}}", "evaluators: {'[': x}",
	} {
		f.Add([]byte(text), "x", "moe")
	}
	f.Fuzz(func(t *testing.T, text []byte, definition, opType string) {
		file, err := evalconfig.Parse("eval.yaml", text)
		if err != nil {
			var errs config.Errors
			if !errors.As(err, &errs) || len(errs) == 0 {
				t.Errorf("error without a position: %v", err)
			}
			return
		}
		file.Warnings()
		file.Notes()
		err = file.Explain(io.Discard, definition, opType, evalconfig.Overrides{})
		if err != nil && !strings.Contains(err.Error(), "evaluators") {
			t.Error(err)
		}
		if r, err := file.Resolve(definition, opType, evalconfig.Overrides{}); err == nil {
			if r.Iterations.V < 1 || r.NumTrials.V < 1 || r.WarmupRuns.V < 0 || r.TimeoutSeconds.V < 1 || !(r.Rtol.V >= 0) || !(r.Atol.V >= 0) {
				t.Errorf("out of range: %+v", r)
			}
			if r.Iterations.Origin == "" || r.Rtol.Origin == "" {
				t.Errorf("value without an origin: %+v", r)
			}
		}
	})
}
