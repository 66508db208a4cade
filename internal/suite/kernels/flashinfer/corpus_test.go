package flashinfer_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// corpus returns a folder of the real data.
func corpus(t testing.TB, folder string) string {
	t.Helper()
	data := testtier.Data(t, "the real dataset was NOT read", "flashinfer/flashinfer-trace")
	return filepath.Join(data, "flashinfer", folder)
}

func load(t testing.TB, root string) *flashinfer.Dataset {
	t.Helper()
	ds, err := flashinfer.Load(root)
	if err != nil {
		t.Fatal(err)
	}
	return ds
}

func TestCorpusLoads(t *testing.T) {
	t.Parallel()
	root := corpus(t, "flashinfer-trace")
	ds := load(t, root)
	files := 0
	for _, d := range ds.Traces {
		if d.Place.Line == 1 {
			files++
		}
	}
	got := []int{len(ds.Definitions), len(ds.Workloads), len(ds.Solutions), files, len(ds.Traces), len(ds.Warnings)}
	if want := []int{156, 663, 2, 5, 78, 0}; !slices.Equal(got, want) {
		t.Errorf("definitions, workloads, solutions, trace files, traces, warnings = %v, want %v", got, want)
	}
	ops := map[string]int{}
	for _, d := range ds.Definitions {
		ops[d.OpType]++
	}
	if want := (map[string]int{"gqa_paged": 37, "gemm": 32, "sampling": 21, "moe": 19, "rmsnorm": 15, "gdn": 9, "gqa_ragged": 9, "mla_paged": 6,
		"dsa_paged": 3, "mamba_ssu": 2, "mla_ragged": 2, "rope": 1}); !maps.Equal(ops, want) {
		t.Errorf("definitions by op_type = %v, want %v", ops, want)
	}
	inputs := map[string]int{}
	for _, w := range ds.Workloads {
		for _, in := range w.Workload.Inputs {
			inputs[in.Type]++
		}
	}
	if want := (map[string]int{flashinfer.Random: 1804, flashinfer.Safetensors: 723, flashinfer.Scalar: 326}); !maps.Equal(inputs, want) {
		t.Errorf("inputs by type = %v, want %v", inputs, want)
	}
}

// TestCorpusConstraints: every constraint is understood, with names that exist,
// and holds with the workloads as far as axes say.
func TestCorpusConstraints(t *testing.T) {
	t.Parallel()
	ds := load(t, corpus(t, "flashinfer-trace"))
	forms := map[string]int{}
	for _, d := range ds.Definitions {
		for _, c := range d.Constraints {
			forms[c]++
		}
		for _, w := range ds.WorkloadsOf(d.Name) {
			shapes, err := d.Shapes(&w.Workload)
			if err != nil {
				t.Errorf("%s: %v", w.Place, err)
			}
			if err := d.CheckConstraints(w.Workload.Axes, shapes, nil); err != nil {
				t.Errorf("%s: %v", w.Place, err)
			}
		}
	}
	if len(forms) != 19 || forms["num_kv_indices == kv_indptr[-1].item()"] != 43 {
		t.Errorf("got %d forms, want 19: %v", len(forms), forms)
	}
}

func TestCorpusLint(t *testing.T) {
	t.Parallel()
	ds := load(t, corpus(t, "flashinfer-trace"))
	var order []string
	rules := map[string]int{}
	for _, f := range flashinfer.Lint(ds, nil) {
		rules[f.Rule]++
		if f.Rule == "run-order" {
			order = append(order, strings.TrimSuffix(filepath.Base(f.Path), ".json"))
		}
	}
	slices.Sort(order)
	if want := []string{
		"trtllm_fp4_block_scale_moe_topk1_e128_h5120_i8192", "trtllm_fp4_block_scale_moe_topk1_e16_h5120_i8192",
		"trtllm_fp8_per_tensor_scale_moe_topk1_e128_h5120_i8192", "trtllm_fp8_per_tensor_scale_moe_topk1_e16_h5120_i8192",
	}; !slices.Equal(order, want) {
		t.Errorf("run-order is found in %q, want %q", order, want)
	}
	for _, rule := range []string{"run-names", "run-parameters", "constraint", "inputs", "path", "trace"} {
		if rules[rule] > 0 {
			t.Errorf("%d findings of rule %s, want none: %v", rules[rule], rule, rules)
		}
	}
	// Two workloads of gqa_paged_prefill_causal_h32_kv4_d128_ps1 have no pages.
	if rules["axes"] != 2 || rules["unknown-solution"] != 4 || rules["blob"] == 0 {
		t.Errorf("findings %v, want 2 axes, 4 unknown-solution and the absent blobs", rules)
	}
}

// TestCorpusIsWrittenBack holds the writers against the readers and against
// the files.
func TestCorpusIsWrittenBack(t *testing.T) {
	t.Parallel()
	ds := load(t, corpus(t, "flashinfer-trace"))
	for _, d := range ds.Definitions {
		text, err := flashinfer.EncodeDefinition(d)
		if err != nil {
			t.Fatal(err)
		}
		back, err := flashinfer.ParseDefinition(d.Place.Path, text)
		if err != nil || !reflect.DeepEqual(back, d) {
			t.Errorf("%s comes back as\n%+v, %v\nwant\n%+v", d.Name, back, err, d)
		}
		sameJSON(t, d.Place.Path, text, "tags", "description", "constraints", "optional")
	}
	for _, traces := range [][]*flashinfer.Trace{ds.Workloads, ds.Traces} {
		for _, tr := range traces {
			line, err := flashinfer.EncodeTrace(tr)
			if err != nil {
				t.Fatal(err)
			}
			if back, err := flashinfer.ParseTrace(tr.Place, line); err != nil || !reflect.DeepEqual(back, tr) {
				t.Errorf("%s comes back as\n%+v, %v\nwant\n%+v", tr.Place, back, err, tr)
			}
		}
	}
}

// sameJSON compares what is written with the file. Keys that hold a default in
// one and are absent in the other are the same.
func sameJSON(t *testing.T, path string, written []byte, defaults ...string) {
	t.Helper()
	original, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var a, b any
	if err := json.Unmarshal(original, &a); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(written, &b); err != nil {
		t.Fatal(err)
	}
	if a, b := without(a, defaults), without(b, defaults); !reflect.DeepEqual(a, b) {
		t.Errorf("%s is written as\n%v\nwant\n%v", path, b, a)
	}
}

// without removes the keys where they hold a default.
func without(v any, keys []string) any {
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			list, isList := inner.([]any)
			if slices.Contains(keys, key) && (inner == "" || inner == true && key == "destination_passing_style" || inner == false && key == "optional" || isList && len(list) == 0) {
				delete(v, key)
				continue
			}
			without(inner, keys)
		}
	case []any:
		for _, inner := range v {
			without(inner, keys)
		}
	}
	return v
}

// TestLegacyIsRefused: the format of July 2025 is refused in words that say
// what to change.
func TestLegacyIsRefused(t *testing.T) {
	t.Parallel()
	root := corpus(t, "legacy")
	read := func(name string) []byte {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	_, err := flashinfer.ParseSolution("s.json", read("torch_gemm_n_4096_k_4096.solution.json"))
	wantProblems(t, err, `spec.language: "Python" is spelt as in the format of 2025-07, which is no longer read; write "python"`,
		"spec.build_commands: is of the format of 2025-07, which is no longer read; remove it, the binding decides how a solution is built")
	for _, name := range []string{"gemm_n_4096_k_4096.2025-07.traces.jsonl", "batch_decode.workload.jsonl"} {
		for i, line := range strings.Split(strings.TrimSpace(string(read(name))), "\n") {
			_, err := flashinfer.ParseTrace(flashinfer.Place{Path: name, Line: i + 1}, []byte(line))
			const uuid = "workload.uuid: is missing, as in the format of 2025-07, which is no longer read; add one that no other workload of the definition has"
			if strings.Contains(name, "traces") {
				wantProblems(t, err, uuid, `evaluation.log_file: is of the format of 2025-07, which is no longer read; write "log" with the text itself, or ""`,
					`evaluation.environment.device: is of the format of 2025-07, which is no longer read; rename it to "hardware"`)
			} else {
				wantProblems(t, err, uuid, `solution: "" is of the format of 2025-07, which is no longer read; write null`,
					"evaluation: {} is of the format of 2025-07, which is no longer read; write null")
			}
		}
	}
}

// wantProblems compares what is complained about, apart from places.
func wantProblems(t *testing.T, err error, want ...string) {
	t.Helper()
	problems, ok := err.(flashinfer.Problems)
	if !ok {
		t.Fatalf("got %v, want problems", err)
	}
	var got []string
	for _, p := range problems {
		if p.JSONPath == "" {
			got = append(got, p.Message)
		} else {
			got = append(got, p.JSONPath+": "+p.Message)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got the problems\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func BenchmarkLoadCorpus(b *testing.B) {
	root := corpus(b, "flashinfer-trace")
	for b.Loop() {
		load(b, root)
	}
}

// TestCorpusReports merges the real dataset with itself, and chooses from its traces:
// of five definitions with traces the dataset has the solution of one.
func TestCorpusReports(t *testing.T) {
	if testtier.Race {
		t.Skip("numbers of one goroutine")
	}
	t.Parallel()
	root := corpus(t, "flashinfer-trace")
	out := filepath.Join(t.TempDir(), "all")
	m, err := flashinfer.Merge(out, []string{root, root})
	if err != nil || m.Definitions != 156 || m.Workloads != 663 || m.Traces != 78 || m.Duplicates != 78 || m.LeftOut != 0 || len(m.Warnings) != 1 {
		t.Errorf("%+v, %v", m, err)
	}
	before, after := load(t, root), load(t, out)
	for _, d := range before.Definitions {
		if got := after.Definition(d.Name); got == nil || got.Hash() != d.Hash() {
			t.Errorf("%s is another definition", d.Name)
		}
	}
	table, err := flashinfer.Apply(after, flashinfer.ApplyLimits{})
	if err != nil || len(table.Choices) != 14 || len(table.Index) != 1 || len(table.Index["rmsnorm_h4096"]) != 14 {
		t.Errorf("%+v, %v", table, err)
	}
	strict, err := flashinfer.Apply(after, flashinfer.ApplyLimits{MaxAtol: 1e-2, MaxRtol: 1e-5}) // as upstream's apply
	if err != nil || len(strict.Choices) != 4 {
		t.Errorf("%+v, %v", strict, err)
	}
}
