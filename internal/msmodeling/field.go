package msmodeling

import (
	"fmt"
	"slices"
	"strings"
)

// shape is the set of JSON values that a setting may have.
type shape uint8

const (
	text   shape = 1 << iota
	whole        // a whole number
	number       // any number
	flag         // true or false
	null
	list   // a list of the above instead of a single one
	orList // a list of the above as well
)

// field is a setting.
type field struct {
	name    string
	shape   shape
	initial string   // documented default as JSON, "" for none
	members []string // what a text may be, nil for anything
}

// The names of msmodeling's enumerations. The linear actions are the members
// of QuantizeLinearAction, by name.
var (
	linearActions    = []string{"DISABLED", "W8A16_STATIC", "W8A8_STATIC", "W4A8_STATIC", "W8A16_DYNAMIC", "W8A8_DYNAMIC", "W4A8_DYNAMIC", "FP8", "MXFP4"}
	attentionActions = []string{"DISABLED", "INT8", "FP8"}
	compileOptions   = []string{"enable_multistream", "enable_sequence_parallel", "enable_matmul_allreduce", "enable_dispatch_ffn_combine"}
)

// userInput lists the fields of UserInputConfig (tensor_cast/core/user_config.py).
var userInput = newTable(
	field{"device", text, `"TEST_DEVICE"`, nil},
	field{"model_id", text, `""`, nil},
	field{"num_queries", whole, `0`, nil},
	field{"query_len", whole, `0`, nil},
	field{"context_length", whole, `0`, nil},
	field{"prefix_cache_hit_rate", number, `0.0`, nil},
	field{"do_compile", flag, `false`, nil},
	field{"allow_graph_break", flag, `false`, nil},
	field{"dump_input_shapes", flag, `false`, nil},
	field{"chrome_trace", text | null, `null`, nil},
	field{"graph_log_url", text | null, `null`, nil},
	field{"log_level", text | null, `null`, nil},
	field{"quantize_linear_action", text, `"W8A8_DYNAMIC"`, linearActions},
	field{"quantize_lmhead", flag, `false`, nil},
	field{"mxfp4_group_size", whole, `32`, nil},
	field{"quantize_attention_action", text, `"DISABLED"`, attentionActions},
	field{"enable_sequence_parallel", flag, `false`, nil},
	field{"decode", flag, `false`, nil},
	field{"num_mtp_tokens", whole, `0`, nil},
	field{"mtp_acceptance_rate", number | list, `[0.9, 0.6, 0.4, 0.2]`, nil},
	field{"num_hidden_layers_override", whole, `0`, nil},
	field{"disable_repetition", flag, `false`, nil},
	field{"reserved_memory_gb", number, `0`, nil},
	field{"world_size", whole, `1`, nil},
	field{"tp_size", whole, `1`, nil},
	field{"pp_size", whole, `1`, nil},
	field{"dp_size", whole | null, `null`, nil},
	field{"o_proj_tp_size", whole | null, `null`, nil},
	field{"o_proj_dp_size", whole | null, `null`, nil},
	field{"mlp_tp_size", whole | null, `null`, nil},
	field{"mlp_dp_size", whole | null, `null`, nil},
	field{"lmhead_tp_size", whole | null, `null`, nil},
	field{"lmhead_dp_size", whole | null, `null`, nil},
	field{"ep_size", whole, `1`, nil},
	field{"moe_dp_size", whole, `1`, nil},
	field{"moe_tp_size", whole | null, `null`, nil},
	field{"word_embedding_tp", text | flag | null, `null`, []string{"col", "row"}},
	field{"enable_redundant_experts", flag, `false`, nil},
	field{"enable_shared_expert_tp", flag, `false`, nil},
	field{"enable_dispatch_ffn_combine", flag, `false`, nil},
	field{"enable_external_shared_experts", flag, `false`, nil},
	field{"host_external_shared_experts", flag, `false`, nil},
	field{"block_size", whole, `128`, nil},
	field{"remote_source", text, `"huggingface"`, []string{"huggingface", "modelscope"}},
	field{"image_batch_size", whole | null, `null`, nil},
	field{"image_height", whole | null, `null`, nil},
	field{"image_width", whole | null, `null`, nil},
	field{"performance_model", text | orList, `["analytic"]`, []string{"analytic", "profiling"}},
	field{"profiling_database", text | null, `null`, nil},

	// No case that was ever committed uses these.
	field{"acceptance_length", number, `5.0`, nil},
	field{"dcp_size", whole, `1`, nil},
	field{"disable_profiling_interpolation", flag, `false`, nil},
	field{"draft_model_config_path", text | null, `null`, nil},
	field{"dspark_markov_head", text, `"vanilla"`, nil},
	field{"dspark_markov_rank", whole, `256`, nil},
	field{"dump_op_bound_results", flag, "", nil},
	field{"dynamic_shapes", flag, "", nil},
	field{"enable_matmul_allreduce", flag, "", nil},
	field{"enable_multistream", flag, "", nil},
	field{"num_draft_layers", whole, `0`, nil},
	field{"num_speculative_tokens", whole, `0`, nil},
	field{"quantize_non_expert_linear_action", text, `"DISABLED"`, linearActions},
	field{"speculative_method", text | null, `null`, []string{"dflash", "dspark"}},
	field{"vision_tp_size", whole, `1`, nil},
)

// videoSettings stand beside the common keys of a video case. The original
// documents DISABLED for quantize_linear_action, but fails without the key.
var videoSettings = newTable(
	field{"device", text, `""`, nil},
	field{"model_id", text, `""`, nil},
	field{"seq_len", whole, `0`, nil},
	field{"batch_size", whole, `0`, nil},
	field{"height", whole, `0`, nil},
	field{"width", whole, `0`, nil},
	field{"frame_num", whole, `0`, nil},
	field{"sample_step", whole, `0`, nil},
	field{"dtype", text, `"float16"`, nil},
	field{"use_cfg", flag, `false`, nil},
	field{"world_size", whole, `1`, nil},
	field{"ulysses_size", whole, `1`, nil},
	field{"cfg_parallel", flag, `false`, nil},
	field{"quantize_linear_action", text, "", linearActions},
)

// table is a set of settings.
type table struct {
	names    []string
	fields   []field // in the order of names
	defaults map[string]any
}

func newTable(fields ...field) *table {
	t := &table{fields: fields, defaults: map[string]any{}}
	for _, f := range fields {
		t.names = append(t.names, f.name)
		if f.initial != "" {
			t.defaults[f.name] = decode(f.initial)
		}
	}
	return t
}

// setting reads one setting into m.
func (t *table) setting(r *reader, key, path string, v value, m map[string]any) {
	f := t.fields[slices.Index(t.names, key)]
	if r.fits(f, path, v) {
		m[key] = v.raw()
	}
}

// fits checks the type and the members of a setting.
func (r *reader) fits(f field, path string, v value) bool {
	scalar := f.shape &^ (list | orList | null)
	switch {
	case v.kind == '[' && f.shape&(list|orList) != 0:
		before := len(r.problems)
		for i, item := range v.items {
			r.fits(field{shape: scalar, members: f.members}, fmt.Sprintf("%s[%d]", path, i), item)
		}
		return len(r.problems) == before
	case f.shape&list != 0 || !f.shape.has(v):
		r.fail(v.at, path, "write "+f.shape.String(), "want %s, got %s", f.shape, v.describe())
		return false
	case v.kind == '"' && f.members != nil:
		return r.oneOf(v, path, f.members)
	}
	return true
}

// has reports whether the set contains a single value.
func (s shape) has(v value) bool {
	switch v.kind {
	case '"':
		return s&text != 0
	case 't', 'f':
		return s&flag != 0
	case 'n':
		return s&null != 0
	case '0':
		_, isWhole := v.whole()
		_, isNumber := v.number()
		return s&number != 0 && isNumber || s&whole != 0 && isWhole
	}
	return false
}

// String describes the set for a message.
func (s shape) String() string {
	var words []string
	for _, w := range []struct {
		bit  shape
		word string
	}{
		{text, "text in quotes"}, {whole, "a whole number"}, {number, "a number"},
		{flag, "true or false"}, {null, "null"}, {orList, "a list of it"},
	} {
		if s&w.bit != 0 {
			words = append(words, w.word)
		}
	}
	if s&list != 0 {
		return "a list of numbers" // there is no other
	}
	return strings.Join(words, " or ")
}
