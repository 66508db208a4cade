package cases

import (
	"reflect"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
)

// keys describes the keys of this kind.
var keys = config.Keys{
	reflect.TypeFor[body](): {
		"cases": {Text: "Folder of the case files, without subfolders and links. A case's name is its cell's id."},
		"preset": {Text: "`msmodeling`, `msmodeling-shim`, or `engine` if `commands` is absent; see " +
			"[presets](presets.md#presets-for-cases). Its keys are defaults of all other keys."},
		"commands": {Text: "Ways to run cases. The first entry of the case's type whose `when` it meets counts."},
		"dir":      {Text: "Folder in which children start. If absent, that of the configuration."},
		"vars":     {Text: "The suite's own placeholders. An unused one is an error."},
		"env":      {Text: "Variables of every child."},
		"unset":    {Text: "Variables that no child inherits, by name or glob."},
		"repeats":  {Absent: 1, Text: "Processes per cell, up to 1000."},
		"timeout":  {Absent: "15m", Text: "Limit of one process."},
		"tags":     {Text: "Lists of globs on names of cases, by tag, for `--tags`. Type, device and `model_id` are tags, too."},
		"profiles": {Text: "Lists of globs on names of cases, by profile, for `--profile`."},
		"metrics":  {Text: "Metrics besides `total_time_s` that the host's baseline gates. A plain value stands for the name."},
		"exact":    {Absent: false, Text: "`true`: totals must equal the recorded times and the baseline."},
		"references": {Absent: []string{bench.InitialReference, bench.BaselineReference}, Text: "Recorded times that " +
			"count: `initial`, `baseline`. A refresh renews them."},
		"operators": {Text: "Changed operators."},
		"no_reference": {Absent: "warn", Text: "Effect of a case without any time in its file and the baseline: `fail`, " +
			"`warn` or `off`."},
		"drift": {Absent: "fail", Text: "Effect of a case beyond the tolerance from its initial time: `fail`, `warn` or `off`."},
		"host":  {Text: "Label of the host of the recorded times. On others, the host's baseline alone judges."},
	},
	reflect.TypeFor[command](): {
		"type": {Text: "`text` or `video`."},
		"when": {Text: "Settings that the case must have, as in `{decode: \"true\"}`."},
		"command": {Text: "Program and its arguments, without a shell. `{model_id}` and so on are settings of the case, `{name}` " +
			"its name, `{NAME}` one of `vars`, `{accelgate}` this program, `{output}` a fresh folder. `\"{flags}\"` becomes " +
			"the options of the settings."},
		"flags": {Text: "Options of settings that differ from their defaults. `true` is passed as the option alone, a list as " +
			"the option and its items. An option that ends in `=` is joined with each value."},
		"defaults": {Text: "The program's defaults that differ from msmodeling's documented ones."},
		"ignored":  {Text: "Settings that change no number."},
		"env":      {Text: "Variables, as templates."},
		"read": {Text: "Places of the profile. Required. A plain value stands for the format. The first that exists " +
			"gives total and operators, the others the rest."},
		"timeout": {Text: "Limit of one process, in place of the suite's."},
	},
	reflect.TypeFor[source](): {
		"format": {Text: "`json`, `msmodeling-metrics`, `msmodeling-table`, `msmodeling-trace`, `torch-table` or " +
			"`torch-trace`, see [Presets for cases](presets.md#presets-for-cases). Required."},
		"file": {Text: "File in `{output}`. If absent, standard output."},
	},
	reflect.TypeFor[operatorKeys](): {
		"level":     {Absent: "fail", Text: "`fail`, `warn` or `off`."},
		"min_share": {Absent: "1%", Text: "Share of the total below which operators are only judged together."},
	},
	reflect.TypeFor[metric](): {
		"name":          {Text: "Name, see [Presets for cases](presets.md#presets-for-cases). Required."},
		"exact":         {Absent: false, Text: "`true`: must equal the baseline."},
		"limit":         {Text: "Change for the worse from the host's baseline that [blocks](limits.md)."},
		"informational": {Absent: false, Text: "`true`: shown and not gated."},
		"optional":      {Absent: false, Text: "`true`: some cases do not report it."},
	},
}
