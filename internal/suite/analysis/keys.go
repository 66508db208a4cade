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
			Text: "`off`: numbers are shown and never gated. `fail`: deterministic numbers must equal the baseline's, rounding errors are judged with the policy's threshold, " +
				"and weights beyond the tolerance in the first of `variants` fail; coarser formats are meant to lose more, and are held against the baseline. " +
				"What cannot be computed at all, such as NaN or a checkpoint without any parameter to compare, fails at both.",
		},
		"times": {
			Absent: string(inform),
			Text: "`inform`: times are shown and never gated. `gate`: they are judged as other speeds are, at either level: by pairs with a base (`run --ab`), else by " +
				"earlier runs. Base and head are computed by the same accelgate, so a loss is one of the lengths, the algorithms or the checkpoint.",
		},
		"repeats":  {Absent: 1, Text: "Measurements of each cell, up to 1000."},
		"packing":  {Text: "Packing of batches. `packing` or `fidelity` is required."},
		"fidelity": {Text: "Error of decomposed weights."},
	},
	reflect.TypeFor[packingBody](): {
		"scenarios": {
			Text: "Globs of the 15 scenarios of [mini_trainer](https://github.com/Red-Hat-AI-Innovation-Team/mini_trainer)'s benchmark, which are all measured if neither this nor `lengths` is given.",
		},
		"lengths":    {Text: "Problems of your own."},
		"algorithms": {Text: "Of `greedy`, `lpt`, `global-lpt`, `bfd`, `karmarkar-karp`, `local-search` and `best`. If absent, all."},
		"oversize": {
			Absent: "legacy",
			Text: "What becomes of sequences that are longer than a rank's tokens, and of empty ones: `legacy` is what mini_trainer does; " +
				"`own-row`, `reject` (left out, and reported so) or `error`.",
		},
		"cost":   {Text: "Balance of `a*l + b*l^2` in place of tokens, as attention costs."},
		"rounds": {Text: "How often packing is timed, up to 10000. If absent, for some milliseconds."},
	},
	reflect.TypeFor[lengths](): {
		"file": {Text: "A JSON array of integers, JSON lines, or CSV. Required."},
		"name": {Text: "Name of the scenario in cells. If absent, the file's."},
		"field": {
			Text: "Field of JSON lines, or column of CSV by its name or its number from 1 on, that holds the lengths. If absent, the one of `length`, `len` and `num_tokens` that is there, or the only column.",
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
			Text: "Folder or file of safetensors, or an id on the Hugging Face hub, which is fetched once into `cache`, checked against the hub's digests. " +
				"If absent, a small generated checkpoint. `HF_TOKEN`, `HF_ENDPOINT` and `HF_HUB_OFFLINE` mean what they mean to the hub's own clients.",
		},
		"name":     {Text: "What cells call the checkpoint, where two would be called the same. If absent, by `model`."},
		"revision": {Text: "Branch, tag or commit on the hub."},
		"cache":    {Text: "Folder for what comes from the hub. If absent, one in the user's cache."},
		"family": {
			Text: "A name that chooses which weights are decomposed, as in `llama`. If absent, `model_type` of the model's `config.json`, or its name.",
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
