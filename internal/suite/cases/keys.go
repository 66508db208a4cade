package cases

import (
	"reflect"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
)

// keys describes the keys of this kind.
var keys = config.Keys{
	reflect.TypeFor[body](): {
		"cases": {
			Text: "Folder of the case files; subfolders and links are not read. A case's name is its cell's id, so names are unique over all suites of a configuration, " +
				"also over those for different hosts.",
		},
		"preset": {
			Text: "Name of a [preset](presets.md#presets-for-cases): `msmodeling`, `msmodeling-shim`, or `engine`, which is the default where there are no `commands`. " +
				"Its keys are defaults for all other keys. Lists are replaced as a whole, maps key by key.",
		},
		"commands": {Text: "How cases are run. The first entry that has the case's type and whose `when` it meets is used."},
		"dir": {
			Text: "Folder in which children start. If absent, that of the configuration. It must be there where cases are run, and need not where runs are only judged.",
		},
		"vars":    {Text: "The suite's own placeholders. One that no template uses is an error."},
		"env":     {Text: "Variables of every child."},
		"unset":   {Text: "Variables that no child inherits, by name or glob (letter case counts)."},
		"repeats": {Absent: 1, Text: "Processes per cell, up to 1000; the simulator is deterministic."},
		"timeout": {Absent: "15m", Text: "Bound for one process."},
		"tags": {
			Text: "Lists of globs on names of cases, by tag, for `--tags`. Cases also have as tags their type, `decode` or `prefill`, " +
				"their device and their `model_id`.",
		},
		"profiles": {Text: "Lists of globs on names of cases, by profile, for `--profile`."},
		"metrics": {Text: "Further metrics that the host's baseline gates. A plain value stands for the name. " +
			"If absent, only `total_time_s` is gated and the others are shown."},
		"exact": {
			Absent: false,
			Text:   "`true`: totals must equal the recorded times and the baseline. For deterministic programs that print in full precision.",
		},
		"references": {
			Absent: []string{bench.InitialReference, bench.BaselineReference},
			Text:   "Which of the recorded times count, at least one: `initial`, `baseline`. A refresh renews one that counts.",
		},
		"operators": {Text: "How changed operators count."},
		"no_reference": {
			Absent: "warn",
			Text:   "What a case means that neither its file nor the baseline has a time for: `fail`, `warn` or `off`.",
		},
		"drift": {
			Absent: "fail",
			Text:   "What it means that a case left its initial time beyond the tolerance, beside its baseline time: `fail`, `warn` or `off`.",
		},
		"host": {
			Text: "Label of the host that the recorded times are of. On others, cases are still expected, and judged by the host's baseline alone. " +
				"Two hosts cannot have a suite each with the same cases: record the times of one, and let the other's baseline judge there.",
		},
	},
	reflect.TypeFor[command](): {
		"type": {Text: "`text` or `video`."},
		"when": {Text: "Settings that the case must have, as in `{decode: \"true\"}`."},
		"command": {
			Text: "Program and its arguments, which no shell interprets. `{model_id}` and so on are settings of the case, `{name}` is its name, `{NAME}` one of `vars`, " +
				"`{accelgate}` this program, `{output}` a fresh folder that is removed afterwards. The item `\"{flags}\"` becomes the options of the settings.",
		},
		"flags": {
			Text: "Map from a setting to its option, `compilation_config` among them. A setting is passed on if it differs from its default: `true` as the option alone, " +
				"a list as the option and its items. An option that ends in `=` is joined with its value, once for each item.",
		},
		"defaults": {Text: "The program's own defaults that differ from msmodeling's documented ones."},
		"ignored":  {Text: "Settings that change no number."},
		"env":      {Text: "Variables; templates as in `command`."},
		"read": {
			Text: "Where the profile may stand, in order of preference. Required. A plain value stands for the format. The first that is there gives total and operators, " +
				"the others what it lacks, such as the critical path. One that is there and broken fails the cell, also a file that is empty or holds something else; " +
				"standard output that holds nothing of the format counts as not there.",
		},
		"timeout": {Text: "Bound for one process, in place of the suite's."},
	},
	reflect.TypeFor[source](): {
		"format": {
			Text: "Format of the profile: `json`, `msmodeling-metrics`, `msmodeling-table`, `msmodeling-trace`, `torch-table` or `torch-trace`, see [Presets for cases](presets.md#presets-for-cases). Required.",
		},
		"file": {Text: "File in `{output}`. If absent, standard output."},
	},
	reflect.TypeFor[operatorKeys](): {
		"level":     {Absent: "fail", Text: "What a changed operator means: `fail`, `warn` or `off`."},
		"min_share": {Absent: "1%", Text: "Share of the total below which operators are only judged together."},
	},
	reflect.TypeFor[metric](): {
		"name":  {Text: "Name of the metric, see [Presets for cases](presets.md#presets-for-cases). Required."},
		"exact": {Absent: false, Text: "`true`: must equal the baseline."},
		"limit": {
			Text: "Change for the worse that blocks against the host's baseline, in place of `policy.threshold` and `policy.min_effect`. See [Limits of single metrics](limits.md).",
		},
		"informational": {Absent: false, Text: "`true`: shown and not gated."},
		"optional":      {Absent: false, Text: "`true`: some cases do not report it."},
	},
}
