package casefile

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
	linearActions = []string{
		"DISABLED", "W8A16_STATIC", "W8A8_STATIC", "W4A8_STATIC", "W8A16_DYNAMIC", "W8A8_DYNAMIC", "W4A8_DYNAMIC", "FP8",
		"MXFP4",
	}
	attentionActions = []string{"DISABLED", "INT8", "FP8"}
	compileOptions   = []string{"enable_multistream", "enable_sequence_parallel", "enable_matmul_allreduce", "enable_dispatch_ffn_combine"}
)

// userInput lists the fields of UserInputConfig (tensor_cast/core/user_config.py).
var userInput = newTable([]field{
	{"device", str, `"TEST_DEVICE"`, nil},
	{"model_id", str, `""`, nil},
	{"num_queries", whole, `0`, nil},
	{"query_len", whole, `0`, nil},
	{"context_length", whole, `0`, nil},
	{"prefix_cache_hit_rate", number, `0.0`, nil},
	{"do_compile", flag, `false`, nil},
	{"allow_graph_break", flag, `false`, nil},
	{"enable_multistream", flag, "", nil}, // only in cases that were removed
	{"dump_input_shapes", flag, `false`, nil},
	{"chrome_trace", str | null, `null`, nil},
	{"graph_log_url", str | null, `null`, nil},
	{"log_level", str | null, `null`, nil},
	{"quantize_linear_action", str, `"W8A8_DYNAMIC"`, linearActions},
	{"quantize_lmhead", flag, `false`, nil},
	{"mxfp4_group_size", whole, `32`, nil},
	{"quantize_attention_action", str, `"DISABLED"`, attentionActions},
	{"enable_sequence_parallel", flag, `false`, nil},
	{"decode", flag, `false`, nil},
	{"num_mtp_tokens", whole, `0`, nil},
	{"mtp_acceptance_rate", number | list, `[0.9, 0.6, 0.4, 0.2]`, nil},
	{"num_hidden_layers_override", whole, `0`, nil},
	{"disable_repetition", flag, `false`, nil},
	{"reserved_memory_gb", number, `0`, nil},
	{"world_size", whole, `1`, nil},
	{"tp_size", whole, `1`, nil},
	{"pp_size", whole, `1`, nil},
	{"dp_size", whole | null, `null`, nil},
	{"o_proj_tp_size", whole | null, `null`, nil},
	{"o_proj_dp_size", whole | null, `null`, nil},
	{"mlp_tp_size", whole | null, `null`, nil},
	{"mlp_dp_size", whole | null, `null`, nil},
	{"lmhead_tp_size", whole | null, `null`, nil},
	{"lmhead_dp_size", whole | null, `null`, nil},
	{"ep_size", whole, `1`, nil},
	{"moe_dp_size", whole, `1`, nil},
	{"moe_tp_size", whole | null, `null`, nil},
	{"word_embedding_tp", str | flag | null, `null`, []string{"col", "row"}},
	{"enable_redundant_experts", flag, `false`, nil},
	{"enable_shared_expert_tp", flag, `false`, nil},
	{"enable_dispatch_ffn_combine", flag, `false`, nil},
	{"enable_external_shared_experts", flag, `false`, nil},
	{"host_external_shared_experts", flag, `false`, nil},
	{"block_size", whole, `128`, nil},
	{"remote_source", str, `"huggingface"`, []string{"huggingface", "modelscope"}},
	{"image_batch_size", whole | null, `null`, nil},
	{"image_height", whole | null, `null`, nil},
	{"image_width", whole | null, `null`, nil},
	{"performance_model", str | orList, `["analytic"]`, []string{"analytic", "profiling"}},
	{"profiling_database", str | null, `null`, nil},
}, // No case that was ever committed uses the rest.
	field{"acceptance_length", number, `5.0`, nil},
	field{"dcp_size", whole, `1`, nil},
	field{"disable_profiling_interpolation", flag, `false`, nil},
	field{"draft_model_config_path", str | null, `null`, nil},
	field{"dspark_markov_head", str, `"vanilla"`, nil},
	field{"dspark_markov_rank", whole, `256`, nil},
	field{"dump_op_bound_results", flag, "", nil},
	field{"dynamic_shapes", flag, "", nil},
	field{"enable_matmul_allreduce", flag, "", nil},
	field{"num_draft_layers", whole, `0`, nil},
	field{"num_speculative_tokens", whole, `0`, nil},
	field{"quantize_non_expert_linear_action", str, `"DISABLED"`, linearActions},
	field{"speculative_method", str | null, `null`, []string{"dflash", "dspark"}},
	field{"vision_tp_size", whole, `1`, nil},
)

// videoSettings stand beside the common keys of a video case. The original
// documents DISABLED for quantize_linear_action, but fails without the key.
var videoSettings = newTable([]field{
	{"device", str, `""`, nil},
	{"model_id", str, `""`, nil},
	{"seq_len", whole, `0`, nil},
	{"batch_size", whole, `0`, nil},
	{"height", whole, `0`, nil},
	{"width", whole, `0`, nil},
	{"frame_num", whole, `0`, nil},
	{"sample_step", whole, `0`, nil},
	{"dtype", str, `"float16"`, nil},
	{"use_cfg", flag, `false`, nil},
	{"world_size", whole, `1`, nil},
	{"ulysses_size", whole, `1`, nil},
	{"cfg_parallel", flag, `false`, nil},
	{"quantize_linear_action", str, "", linearActions},
})
