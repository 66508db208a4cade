package evaluator_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/suite/kernels/evaluator"
	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
)

func TestFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, op, want string }{
		{"rmsnorm_h128", "rmsnorm", evaluator.NameElementwise},
		{"anything", "sampling", evaluator.NameSampling},
		{"moe_fp8_block_scale_x", "moe", evaluator.NameLowBit},
		{"a_moe_fp8_block_scale", "moe", evaluator.NameLowBit},
		{"dsa_sparse_attention_h16_ckv512_kpe64_topk2048_ps1", "dsa_paged", evaluator.NameSparseAttention},
		{"dsa_sparse_attention_h16_ckv512_kpe64_topk2048_ps64", "dsa_paged", evaluator.NameSparseAttention},
		{"dsa_sparse_attention_h16_ckv512_kpe64_topk2048_ps16", "dsa_paged", evaluator.NameElementwise},
		{"dsa_topk_indexer", "dsa_paged", evaluator.NameIndexer},
	} {
		if got, err := evaluator.For(flashinfer.Definition{Name: c.name, OpType: c.op}); err != nil || got != c.want {
			t.Errorf("%s: %s %v, want %s", c.name, got, err, c.want)
		}
	}
	if got, err := evaluator.For(flashinfer.Definition{Name: "moe_fp8_block_scale", OpType: "sampling"}); err == nil || !strings.Contains(err.Error(), "two evaluators") {
		t.Errorf("two claims gave %s, %v", got, err)
	}
}

func TestChoose(t *testing.T) {
	t.Parallel()
	command := []string{"python3", "judge.py"}
	definition := flashinfer.Definition{Name: "moe_fp8_block_scale", OpType: "moe"}
	for _, c := range []struct {
		rules   []evaluator.Rule
		want    string
		command []string
		problem string
	}{
		{nil, evaluator.NameLowBit, nil, ""},
		{[]evaluator.Rule{{"gemm_*", "sampling", nil}}, evaluator.NameLowBit, nil, ""},
		{[]evaluator.Rule{{"moe_*", "elementwise", nil}}, evaluator.NameElementwise, nil, ""},
		{[]evaluator.Rule{{"moe_*", "", command}}, evaluator.NameExternal, command, ""},
		{[]evaluator.Rule{{"moe_*", "", command}, {"*", "sampling", nil}}, "", nil, `"moe_*" and "*" both match`},
		{[]evaluator.Rule{{"x", "sample", nil}}, "", nil, `has the evaluator "sample": write one of elementwise, low_bit, sampling`},
		{[]evaluator.Rule{{"x", "external", nil}}, "", nil, `has the evaluator "external"`},
		{[]evaluator.Rule{{"x", "sampling", command}}, "", nil, `has the evaluator "sampling"`},
		{[]evaluator.Rule{{"[", "sampling", nil}}, "", nil, `"[" is not a pattern`},
		{[]evaluator.Rule{{"", "sampling", nil}}, "", nil, `"" is not a pattern`},
	} {
		name, run, err := evaluator.Choose(definition, c.rules)
		if c.problem != "" {
			if err == nil || !strings.Contains(err.Error(), c.problem) {
				t.Errorf("%v: got %v, want %q", c.rules, err, c.problem)
			}
			continue
		}
		if err != nil || name != c.want || !slices.Equal(run, c.command) {
			t.Errorf("%v: %s %q %v, want %s %q", c.rules, name, run, err, c.want, c.command)
		}
	}
}

// TestForAllDefinitions counts the evaluators of the dataset's definitions.
func TestForAllDefinitions(t *testing.T) {
	t.Parallel()
	dataset, err := flashinfer.Load(filepath.Join(filepath.Dir(golden(t)), "flashinfer-trace"))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, d := range dataset.Definitions {
		name, err := evaluator.For(*d)
		if err != nil {
			t.Error(err)
		}
		got[name]++
	}
	want := map[string]int{evaluator.NameElementwise: 126, evaluator.NameLowBit: 6, evaluator.NameSampling: 21, evaluator.NameSparseAttention: 2, evaluator.NameIndexer: 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
