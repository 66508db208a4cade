package lowrank

import (
	"slices"
	"strings"
)

// The parts of names that most families share.
var gated = []string{
	"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj",
	"mlp.gate_proj", "mlp.up_proj", "mlp.down_proj",
}

var (
	gptJ   = []string{"attn.q_proj", "attn.k_proj", "attn.v_proj", "attn.out_proj", "mlp.fc_in", "mlp.fc_out"}
	gptNeo = []string{
		"attn.attention.q_proj", "attn.attention.k_proj", "attn.attention.v_proj", "attn.attention.out_proj", "mlp.c_fc",
		"mlp.c_proj",
	}
	gptOSS = []string{"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj"} // not its experts
	gpt2   = []string{"attn.c_proj", "attn.c_attn", "mlp.c_fc", "mlp.c_proj"}
	opt    = []string{"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.out_proj", "fc1", "fc2"}
	phi3   = []string{"self_attn.o_proj", "self_attn.qkv_proj", "mlp.gate_up_proj", "mlp.down_proj"}
	qwen35 = append([]string{"linear_attn.out_proj"}, gated...)
)

// families are tried in this order, which is upstream's (osft_utils.py of
// mini_trainer, 2026-03): qwen3_5 is also a qwen.
var families = []struct {
	key      string
	patterns []string
}{
	{"llama", gated},
	{"gpt-j", gptJ},
	{"gptj", gptJ},
	{"gpt-neo", gptNeo},
	{"gptneo", gptNeo},
	{"gpt-oss", gptOSS},
	{"opt", opt},
	{"qwen3_5", qwen35},
	{"qwen3.5", qwen35},
	{"qwen", gated},
	{"gemma", gated},
	{"phi4", phi3},
	{"phi-4", phi3},
	{"phi3", phi3},
	{"phi-3", phi3},
	{"mistral", gated},
	{"granite", gated},
	{"gpt2", gpt2},
}

// Family returns the first family whose key is part of the model's name,
// whatever its case, and the parts of names that its targets have; "default" if
// there is none. That "opt" is part of "optimal" is upstream's choice: give
// [Settings] patterns if it is the wrong one. The patterns may not be written.
func Family(model string) (key string, patterns []string) {
	model = strings.ToLower(model)
	for _, f := range families {
		if strings.Contains(model, f.key) {
			return f.key, f.patterns
		}
	}
	return "default", gated
}

// Targets returns the names of the parameters that are decomposed, in the order
// of the source: those with two axes whose name contains one of the patterns.
// What has such a name and cannot be read is one too, so that it fails later
// and is not forgotten.
func Targets(source Source, patterns []string) []string {
	var targets []string
	for _, name := range source.Names() {
		if !matches(name, patterns) {
			continue
		}
		if t, err := source.Tensor(name); err != nil || len(t.Shape) == 2 {
			targets = append(targets, name)
		}
	}
	return targets
}

func matches(name string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return strings.Contains(name, p) })
}
