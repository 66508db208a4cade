package lowrank_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/analysis/lowrank"
	"github.com/accelgate/accelgate/internal/tensor"
)

func TestFamily(t *testing.T) {
	t.Parallel()
	for model, want := range map[string]string{
		"meta-llama/Llama-3.2-1B":       "llama",
		"Qwen/Qwen2.5-1.5B-Instruct":    "qwen",
		"Qwen/Qwen3.5-4B":               "qwen3.5", // before qwen
		"org/qwen3_5_moe":               "qwen3_5",
		"openai/gpt-oss-20b":            "gpt-oss",
		"EleutherAI/gpt-j-6b":           "gpt-j",
		"EleutherAI/gpt-neo-1.3B":       "gpt-neo",
		"openai-community/gpt2-xl":      "gpt2",
		"facebook/opt-125m":             "opt",
		"optimized-granite":             "opt", // upstream's order
		"microsoft/Phi-4-mini-instruct": "phi-4",
		"microsoft/phi3":                "phi3",
		"mistralai/Mistral-7B":          "mistral",
		"ibm-granite/granite-3.1":       "granite",
		"google/gemma-2-2b":             "gemma",
		"llama-distilled-from-mistral":  "llama",
		"a model without a name":        "default",
		"":                              "default",
	} {
		if got, patterns := lowrank.Family(model); got != want || len(patterns) < 4 {
			t.Errorf("%q is of %q with %d patterns, want %q", model, got, len(patterns), want)
		}
	}
}

func TestFamilyPatterns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		model, name string
		want        bool
	}{
		{"qwen3.5", "model.layers.0.linear_attn.out_proj.weight", true},
		{"qwen2", "model.layers.0.linear_attn.out_proj.weight", false},
		{"gpt-oss", "model.layers.0.mlp.experts.down_proj", false},
		{"gpt-oss", "model.layers.0.self_attn.o_proj.weight", true},
		{"phi-4", "model.layers.0.mlp.gate_up_proj.weight", true},
		{"phi-4", "model.layers.0.mlp.gate_proj.weight", false},
		{"gpt2", "h.0.attn.c_attn.weight", true},
		{"gpt-neo", "h.0.attn.attention.q_proj.weight", true},
		{"gpt-neo", "h.0.attn.q_proj.weight", false},
		{"gptj", "h.0.mlp.fc_in.weight", true},
		{"opt", "decoder.layers.0.fc1.weight", true},
		{"llama", "model.layers.0.mlp.down_proj.weight", true},
		{"llama", "lm_head.weight", false},
	} {
		_, patterns := lowrank.Family(c.model)
		m := memory{c.name: store(tensor.F16, make([]float64, 4), 2, 2)}
		if got := len(lowrank.Targets(m, patterns)) == 1; got != c.want {
			t.Errorf("%s of %s is a target: %v, want %v", c.name, c.model, got, c.want)
		}
	}
}

// broken cannot read one of its tensors.
type broken struct {
	memory
	name string
}

func (b broken) Tensor(name string) (tensor.Tensor, error) {
	if name == b.name {
		return tensor.Tensor{}, errors.New("the disk is gone")
	}
	return b.memory.Tensor(name)
}

// TestTargetsHaveTwoAxes: biases and stacks of experts are none; what cannot be
// read is one, so that it fails and is not forgotten.
func TestTargetsHaveTwoAxes(t *testing.T) {
	t.Parallel()
	m := model(tensor.F16)
	m["stack.up_proj"] = store(tensor.F16, make([]float64, 8), 2, 2, 2)
	want := []string{square, tall, wide}
	if got := lowrank.Targets(m, []string{"_proj"}); !slices.Equal(got, want) {
		t.Errorf("targets %q, want %q", got, want)
	}
	b := broken{m, tall}
	if got := lowrank.Targets(b, []string{"_proj"}); !slices.Equal(got, want) {
		t.Errorf("targets %q, want %q", got, want)
	}
	r := run(t, lowrank.Job{Original: b, Settings: lowrank.Defaults()})
	if p := r.Parameters[1]; r.Summary.Total != 3 || r.Summary.Failed != 1 || p.Name != tall || p.Faults[0].Kind != lowrank.Unreadable {
		t.Errorf("%+v, %+v", r.Summary, p)
	}
}
