package models

import (
	"reflect"

	"github.com/accelgate/accelgate/internal/config"
)

// keys describes the keys of this kind.
var keys = config.Keys{
	reflect.TypeFor[body](): {
		"preset": {
			Text: "Name of a [preset](presets.md). Its keys are defaults for all other keys. Lists are replaced as a whole, maps key by key.",
		},
		"command": {
			Text: "Program and its arguments, which no shell interprets. `{model}`, `{backend}`, `{feature}` are the cell's values, " +
				"`{model.NAME}` a variable of the value, `{NAME}` one of `vars`, `{accelgate}` this program, `{output}` a fresh path to which the program writes its result, `{rows}` the selected [rows](steps.md#rows). " +
				"An argument that is exactly `{model.args}`, `{backend.args}` and so on becomes that list, in whose items `{NAME}` is a placeholder too and all other braces are themselves. " +
				"In `command`, `{{` and `}}` are braces. Required, here or in the preset.",
		},
		"base_command": {
			Text: "Command in place of `command` where the suite is the base of [pairs](configuration.md#how-speed-is-judged), for a program that a checkout does not bring along.",
		},
		"vars": {Text: "The suite's own placeholders. One that no template uses is an error."},
		"models": {
			Text: "Values of the axis `model`. A plain value stands for its `id`. A model here replaces the one with the same id, or of the same file, that `discover` finds.",
		},
		"backends": {Text: "Values of the axis `backend`. A plain value stands for its `id`."},
		"features": {Text: "Values of the axis `feature`. A plain value stands for its `id`."},
		"axes":     {Text: "Further dimensions, after the three."},
		"discover": {
			Text: "Models from the files of a folder, see the [TensorSharp preset](../internal/suite/models/preset/tensorsharp.yaml).",
		},
		"files": {Text: "Files that must exist when a cell runs; templates as in `command`. One that does not *fails* the cell, " +
			"because a program might skip what it cannot open and report a success."},
		"artifacts": {
			Text: "Globs, with templates as in `command`, of the files that are what is measured: programs, models, scripts; of a folder all files count. " +
				"One that matches nothing is an error. A cell of which none has changed in name or content since its baseline entry was recorded, " +
				"with the same command, environment, way to read its numbers and machine (with its driver), is measured once, for its answer, " +
				"and its speed is unchanged without a comparison of numbers, unless `--repeats` asks for more. What is not declared is not seen, such as libraries of the system: " +
				"declare all that can make the cell slower. A container's image must be named by its digest.",
		},
		"env":   {Text: "Variables of every child."},
		"unset": {Text: "Variables that no child inherits, by name or glob (letter case counts)."},
		"sweeps": {
			Text: "Environment variables that take several values. A swept variable of accelgate's own environment never reaches the other cells.",
		},
		"sweep_mode": {
			Absent: "one-at-a-time",
			Text: "`one-at-a-time`: each value of a sweep is a cell of its own beside the plain cell. " +
				"`product`: each combination of values is one.",
		},
		"noise_pairs": {
			Absent: false,
			Text: "Whether a value that equals its sweep's `default` is kept. It runs what the plain cell runs. " +
				"`true` keeps it as an A/A pair, whose difference is noise and is reported as such.",
		},
		"when": {Text: "A [predicate](models.md#predicates-and-paths) that selects combinations."},
		"exclude": {
			Text: "Maps from an axis, `env` (`baseline` for plain cells) or a swept variable to a glob (`*`, `?`). A cell that matches all keys of an entry is dropped. " +
				"An entry for a value that does not exist is an error.",
		},
		"include": {Text: "Maps that name a value of each axis, and swept variables. Each adds one cell."},
		"select": {
			Text: "The values of the lists above that exist, in this order; useful over a preset. A pattern that matches nothing is an error. An absent list selects all.",
		},
		"profiles": {
			Text: "Selections by name, for `--profile`. Their patterns must match something. Cells outside of a profile are declared as not selected.",
		},
		"repeats": {Absent: 1, Text: "Processes per cell, up to 1000. Every value is kept; the median is judged."},
		"timeout": {Absent: "15m", Text: "Bound for one process. The longest `timeout` of the cell's values counts in place of it."},
		"worker": {
			Text: "How cells run, see [Workers](models.md#workers). If absent, each measurement is one process. `persistent` and `container` exclude each other.",
		},
		"parser": {
			Text: "A program whose output is understood as a whole, see [parsers](presets.md#parsers). `metrics` then have neither `json` nor `regexp`.",
		},
		"metrics": {
			Text: "Numbers to read, at least one, here or in the preset. Every cell must print every gated metric, in each of its processes; " +
				"see [Metrics](models.md#metrics).",
		},
		"answer": {
			Text: "Where the answer stands, by one of the keys. If absent, the answer is the one that `parser` finds, else all of standard output, or of the file.",
		},
		"tokens":    {Text: "[JSON path](models.md#predicates-and-paths) of the list of token ids."},
		"operators": {Text: "[JSON path](models.md#predicates-and-paths) of a list of `{name, total_ms, calls}`."},
		"expect":    {Text: "What the cells must answer."},
		"failures":  {Text: "Causes of failures: a match in the output of a failed program gives the cause."},
	},
	reflect.TypeFor[value](): {
		"id":   {Text: "Name of the value in ids of cells. Required."},
		"args": {Text: "Arguments that `{model.args}`, `{backend.args}` and so on stand for in `command`."},
		"vars": {Text: "Variables of the value, `{model.NAME}` and so on in `command`."},
		"env":  {Text: "Variables for the cells of the value."},
		"needs": {
			Text: "What the host must have: `nvidia`, `amd`, `apple`, `ascend`, `intel`, `vulkan`, `linux`, `macos`, `windows`. A combination whose host lacks it is *skipped* with the reason.",
		},
		"provides": {Text: "Words that the value provides for `requires` of others."},
		"requires": {
			Text: "Words that another value of the cell must provide, such as a model that takes images for a feature with an image. A combination without it is skipped, and a word that nothing provides is an error.",
		},
		"files":   {Text: "Files that must exist when a cell of the value runs, as in `files` of the suite."},
		"tags":    {Text: "Tags of the cells, for `--tags` and predicates."},
		"timeout": {Text: "Bound for one process of the value's cells, in place of the suite's."},
		"expect":  {Text: "What every cell of the value must answer. It has no `when`."},
	},
	reflect.TypeFor[expectation](): {
		"when":          {Text: "Cells that must answer so, as in `exclude`; all cells if absent. The `expect` of a value has no `when`."},
		"contains":      {Text: "Substrings that the answer must contain; letter case is ignored."},
		"text":          {Text: "Text that the whole answer must equal."},
		"tokens":        {Text: "Token ids that those of the answer must equal. The suite's `tokens` says where they are printed."},
		"matches":       {Text: "Regular expressions (RE2, 1,000 bytes at most), one or a list: each must match somewhere in the answer."},
		"edit_distance": {Text: "Share of the characters of `text` that may be inserted, deleted or replaced in the answer, such as `5%`."},
		"json": {
			Text: "[JSON path](#predicates-and-paths) of a value of the answer, which must be `equals`, or a number within `tolerance` of it.",
		},
		"equals": {Text: "What the value at `json` must be: a text, a number or a truth value. Numbers are compared as numbers, within `tolerance`."},
		"tolerance": {
			Text: "How far the number at `json` may be from `equals`: a difference such as `0.01`, or a share such as `0.5%`. If absent, it must be equal.",
		},
		"tokens_prefix": {Text: "How many of the first token ids count: they must be the first of `tokens`."},
	},
	reflect.TypeFor[axis](): {
		"name":   {Text: "Name of the axis in templates and predicates."},
		"values": {Text: "Values of the axis. A plain value stands for its `id`."},
	},
	reflect.TypeFor[sweep](): {
		"env":     {Text: "The variable."},
		"values":  {Text: "Its values."},
		"default": {Text: "The value that the plain cell runs with. What `env` sets must agree with it."},
		"when":    {Text: "A [predicate](models.md#predicates-and-paths) that selects the combinations that the sweep is for."},
		"tags":    {Text: "Tags of the sweep's cells."},
	},
	reflect.TypeFor[selection](): {
		"models":   {Text: "Ids or globs of models."},
		"backends": {Text: "Ids or globs of backends."},
		"features": {Text: "Ids or globs of features."},
		"sweeps":   {Text: "Names or globs of swept variables."},
	},
	reflect.TypeFor[discover](): {
		"dir":       {Text: "The folder. Flag `--model-dir` replaces it. If absent, no models are looked for."},
		"glob":      {Text: "Glob of file names, such as `*.gguf`; folders below are not read."},
		"companion": {Text: "Part of the name of files that are no models but belong to one, such as `mmproj`."},
		"families":  {Text: "What models can do, by parts of their files' names. The first family that matches a name counts."},
		"args": {
			Text: "The model's `args`, with `{path}` and `{companion}`. A model without a companion has none if they hold `{companion}`.",
		},
		"provides": {Text: "Words that a model with a companion provides besides."},
	},
	reflect.TypeFor[family](): {
		"name":       {Text: "Name of the family, `{model.family}`."},
		"contains":   {Text: "Parts of which the name has at least one; every name matches if absent. Letter case is ignored."},
		"with":       {Text: "Parts that the name has as well, all of them."},
		"without":    {Text: "Parts of which the name has none."},
		"provides":   {Text: "Words that a model of the family provides."},
		"companions": {Text: "Parts of the companion's name, tried in order."},
	},
	reflect.TypeFor[workerConfig](): {
		"persistent": {Text: "One process for consecutive cells with the same command and environment."},
		"container":  {Text: "A container for each cell, beside accelgate, through the Docker Engine's socket."},
	},
	reflect.TypeFor[persistent](): {
		"params": {
			Text: "Parameters of each request; templates as in `command`. One that reads like a number or a truth value is passed as such.",
		},
		"start_timeout": {Absent: "5m", Text: "Bound for the answer to the first ping."},
	},
	reflect.TypeFor[container](): {
		"image":   {Text: "The image. Name it by its digest: `--resume` does not look into images. Required."},
		"pull":    {Absent: false, Text: "`true` pulls the image. Nothing is pulled otherwise."},
		"gpus":    {Text: "GPUs of the container: `all`, a number, or `device=0,1`."},
		"devices": {Text: "Device files such as `/dev/kfd`, as `HOST[:CONTAINER[:rwm]]`."},
		"mounts":  {Text: "Further mounts, as `HOST:CONTAINER[:ro]`."},
		"root":    {Text: "Folder that is mounted at the same path. If absent, that of the configuration."},
		"env":     {Text: "Variables of the container."},
		"inherit": {
			Text: "Names of variables that the container gets from accelgate's environment. It gets no others but those that the configuration sets.",
		},
		"user":       {Text: "User that the container runs as."},
		"network":    {Absent: "none", Text: "Network of the container."},
		"memory_mib": {Text: "Bound for memory, in MiB."},
		"shm_mib":    {Text: "Bound for `/dev/shm`, in MiB."},
		"socket": {
			Text: "Socket of the engine, as in `unix:///run/docker.sock`. If absent, `DOCKER_HOST` or the usual place; podman's works too.",
		},
		"same_paths": {
			Absent: false,
			Text:   "accelgate may itself run in a container that the socket is mounted into: host paths are found from its own mounts. `true` stands for nothing to find.",
		},
	},
	reflect.TypeFor[metric](): {
		"name": {Text: "Name of the metric. Required."},
		"json": {
			Text: "[JSON path](models.md#predicates-and-paths) of the number. A metric has `json` or `regexp`, unless the suite has a `parser`. " +
				"A path to several values makes a [cell of each](steps.md#rows), unless there is `steps`.",
		},
		"regexp": {Text: "[Regular expression](models.md#predicates-and-paths) that finds the number: on standard output, or in the file, else on standard error."},
		"steps":  {Text: "What makes one number of several: a word such as `median`, or a list such as `[skip 3, median]`. See [Steps](steps.md#steps)."},
		"unit":   {Text: "Unit, as in `tok/s`."},
		"better": {Text: "`higher` or `lower`. Required."},
		"exact":  {Absent: false, Text: "`true`: must equal the baseline."},
		"stderr": {
			Text: "Standard error of the number, found as the number is: a JSON path beside `json`, a regular expression beside `regexp`. The `parser` reads it itself. For `test`, see [Scores](scores.md#scores).",
		},
		"n": {
			Text: "Number of trials of a share, such as the questions of an accuracy, found as the number is. Its interval is Wilson's. See [Bounds](limits.md#bounds).",
		},
		"limit": {
			Text: "Change for the worse that blocks, in place of `policy.threshold` and `policy.min_effect`. See [Limits of single metrics](limits.md).",
		},
		"informational": {Absent: false, Text: "`true`: shown and not gated."},
		"fallback_for": {
			Text: "Metric M in place of which this one is gated: only where neither side has M above 0. M is a metric that is always gated.",
		},
		"resolution": {
			Text: "Step in which the program prints the metric. A change that rounding alone explains does not block, from the next baseline on.",
		},
		"kind":     {Text: "Which values the metric cannot have, where its unit does not imply it: see [Metrics](models.md#metrics)."},
		"optional": {Absent: false, Text: "`true` demands the metric of no cell, see [Metrics](models.md#metrics)."},
		"when":     {Text: "Cells that must print the metric, by the keys of `exclude`, see [Metrics](models.md#metrics)."},
	},
	reflect.TypeFor[source](): {
		"json":   {Text: "[JSON path](models.md#predicates-and-paths) of the answer."},
		"regexp": {Text: "[Regular expression](models.md#predicates-and-paths) that finds the answer."},
	},
	reflect.TypeFor[failure](): {
		"regexp": {Text: "Regular expression (RE2) of the output. Required."},
		"cause":  {Text: "`oom`, or `machine`, which `limits.retries` repeats. Required."},
	},
}
