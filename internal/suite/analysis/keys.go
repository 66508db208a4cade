package analysis

import (
	"reflect"

	"github.com/accelgate/accelgate/internal/config"
)

// keys describes the keys of this kind.
var keys = config.Keys{
	reflect.TypeFor[body](): {
		"level": {
			Absent: string(Off),
			Text: "`off` gates no number. With `fail`, deterministic numbers must equal the baseline's, the policy's threshold " +
				"judges rounding errors, and weights beyond the tolerance in the first of `variants` fail. NaN fails at both.",
		},
		"times": {
			Absent: string(inform),
			Text: "`gate` judges times as other speeds, `inform` shows them. The same accelgate computes base and head, so a " +
				"loss comes from lengths, algorithms or checkpoint.",
		},
		"repeats":  {Absent: 1, Text: "Measurements of each cell, up to 1000."},
		"packing":  {Text: "Packing of batches. `packing` or `fidelity` is required."},
		"fidelity": {Text: "Error of decomposed weights."},
	},
	reflect.TypeFor[packingBody](): {
		"scenarios": {
			Text: "Globs of the 15 scenarios of " +
				"[mini_trainer](https://github.com/Red-Hat-AI-Innovation-Team/mini_trainer)'s benchmark. If this and " +
				"`lengths` are absent, all.",
		},
		"lengths":    {Text: "Problems of your own."},
		"algorithms": {Text: "Of `greedy`, `lpt`, `global-lpt`, `bfd`, `karmarkar-karp`, `local-search` and `best`. If absent, all."},
		"oversize": {
			Absent: "legacy",
			Text: "Treatment of sequences that are empty or longer than a rank's tokens: `legacy` (mini_trainer's), `own-row`, " +
				"`reject` (left out and reported) or `error`.",
		},
		"cost":   {Text: "Balance of `a*l + b*l^2` in place of tokens, as attention costs."},
		"rounds": {Text: "Times that packing is timed, up to 10000. If absent, for some milliseconds."},
	},
	reflect.TypeFor[lengths](): {
		"file": {Text: "A JSON array of integers, JSON lines, or CSV. Required."},
		"name": {Text: "Name of the scenario in cells. If absent, the file's."},
		"field": {
			Text: "Field of JSON lines, or column of CSV by name or number. If absent, `length`, `len` or `num_tokens`, or the " +
				"only column.",
		},
		"max_tokens": {Text: "Tokens of a rank in a row. Required."},
		"ranks":      {Text: "Number of ranks. Required."},
	},
	reflect.TypeFor[costFactors](): {
		"a": {Text: "Factor of the length."},
		"b": {Text: "Factor of its square."},
	},
	reflect.TypeFor[fidelityBody](): {
		"model": {
			Text: "Folder or file of safetensors, or an id on the Hugging Face hub, fetched once into `cache`. If absent, a " +
				"small generated checkpoint. `HF_TOKEN`, `HF_ENDPOINT` and `HF_HUB_OFFLINE` count.",
		},
		"name":     {Text: "Name of the checkpoint in cells. If absent, by `model`."},
		"revision": {Text: "Branch, tag or commit on the hub."},
		"cache":    {Text: "Folder for downloads from the hub. If absent, one in the user's cache."},
		"family": {
			Text: "Name such as `llama`, which selects weights. If absent, `model_type` of the model's `config.json`, or its " +
				"name.",
		},
		"patterns":    {Text: "Parts of the names of the weights that are decomposed."},
		"rank_ratio":  {Absent: 0.5, Text: "Share of the singular triplets that is frozen."},
		"tolerance":   {Absent: 1e-5, Text: "Absolute and relative tolerance."},
		"max_degrees": {Absent: 1, Text: "Degrees from a right angle that are tolerated."},
		"variants":    {Text: "Formats to measure. If absent, `float64`/`float64`, `float32`/`float32` and `float32`/`bfloat16`."},
	},
	reflect.TypeFor[Variant](): {
		"compute": {Text: "Format that factors are computed in."},
		"storage": {Text: "Format that factors are stored in."},
	},
}
