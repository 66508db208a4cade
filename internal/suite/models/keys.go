package models

import (
	"reflect"

	"github.com/accelgate/accelgate/internal/config"
)

// keys describes the keys of this kind.
var keys = config.Keys{
	reflect.TypeFor[body](): {
		"preset": {Text: "Name of a [preset](presets.md). Its keys are defaults of all other keys."},
		"command": {Text: "Program and its arguments, without a shell. Placeholders: `{model}`, `{backend}`, `{feature}` for the " +
			"cell's values, `{model.NAME}` for their variables, `{NAME}` for `vars`, `{accelgate}` for this program, " +
			"`{output}` for a fresh path, `{rows}` for selected [rows](steps.md#rows). An argument `{model.args}` becomes that " +
			"list. `{{` and `}}` are braces. Required without a preset."},
		"base_command": {Text: "Command of the base in [pairs](configuration.md#how-speed-is-judged), in place of `command`."},
		"vars":         {Text: "The suite's own placeholders. An unused one is an error."},
		"models": {Text: "Values of the axis `model`. A plain value stands for its `id`. It replaces a discovered one of the " +
			"same id or file."},
		"backends": {Text: "Values of the axis `backend`, as `models`."},
		"features": {Text: "Values of the axis `feature`, as `models`."},
		"axes":     {Text: "Further dimensions, after the three."},
		"discover": {
			Text: "Models from the files of a folder, as in the [TensorSharp preset](../internal/suite/models/preset/tensorsharp.yaml).",
		},
		"files": {Text: "Files, as templates, without which a cell fails."},
		"artifacts": {Text: "Globs, as templates, of all files that can make a cell slower. While they, command, environment and " +
			"host equal the baseline's, the cell is measured once, for its answer, and its speed counts as unchanged. " +
			"`--repeats` measures it."},
		"env":    {Text: "Variables of every child."},
		"unset":  {Text: "Variables that no child inherits, by name or glob."},
		"sweeps": {Text: "Environment variables that take several values."},
		"sweep_mode": {Absent: "one-at-a-time", Text: "`one-at-a-time`: a cell for each value beside the plain cell. " +
			"`product`: for each combination."},
		"noise_pairs": {Absent: false, Text: "`true` keeps a value that equals its sweep's `default`, as an A/A pair."},
		"when":        {Text: "A [predicate](models.md#predicates-and-paths) that selects combinations."},
		"exclude": {Text: "Maps from an axis, `env` (`baseline` for plain cells) or a swept variable to a glob. Cells that match " +
			"all keys of a map are dropped."},
		"include":   {Text: "Maps that name a value of each axis, and swept variables: further cells."},
		"select":    {Text: "Values of the lists above, all if absent. Each pattern must match."},
		"profiles":  {Text: "Selections by name, for `--profile`. Their patterns must match."},
		"repeats":   {Absent: 1, Text: "Processes per cell, up to 1000. The median is judged."},
		"timeout":   {Absent: "15m", Text: "Limit of one process, unless values of the cell have a longer one."},
		"worker":    {Text: "`persistent` or `container`, see [Workers](models.md#workers)."},
		"parser":    {Text: "[Reader of the whole output](presets.md#parsers), in place of `json` and `regexp` of `metrics`."},
		"metrics":   {Text: "[Metrics](models.md#metrics) to read, at least one, here or in the preset."},
		"answer":    {Text: "Place of the answer. If absent, the `parser`'s, else the whole output or file."},
		"tokens":    {Text: "[JSON path](models.md#predicates-and-paths) of the list of token ids."},
		"operators": {Text: "[JSON path](models.md#predicates-and-paths) of a list of `{name, total_ms, calls}`."},
		"expect":    {Text: "Expected answers."},
		"failures":  {Text: "Causes of failures, by the output of a failed program."},
	},
	reflect.TypeFor[value](): {
		"id":   {Text: "Name of the value in ids of cells. Required."},
		"args": {Text: "Arguments for `{model.args}` and so on in `command`."},
		"vars": {Text: "Variables of the value, `{model.NAME}` and so on in `command`."},
		"env":  {Text: "Variables for the cells of the value."},
		"needs": {Text: "`nvidia`, `amd`, `apple`, `ascend`, `intel`, `vulkan`, `linux`, `macos`, `windows`: other " +
			"hosts *skip* the cell."},
		"provides": {Text: "Words for `requires` of other values."},
		"requires": {Text: "Words that another value of the cell must provide, or it is skipped."},
		"files":    {Text: "Files without which the cells fail."},
		"tags":     {Text: "Tags for `--tags` and predicates."},
		"timeout":  {Text: "Limit of one process, in place of the suite's."},
		"expect":   {Text: "Expected answers of all cells of the value, without `when`."},
	},
	reflect.TypeFor[expectation](): {
		"when":          {Text: "Cells that must answer so, as in `exclude`. If absent, all."},
		"contains":      {Text: "Substrings of the answer; letter case is ignored."},
		"text":          {Text: "Text that the whole answer must equal."},
		"tokens":        {Text: "Token ids of the answer, which the suite's `tokens` finds."},
		"matches":       {Text: "One or several RE2 expressions that must match somewhere in the answer."},
		"edit_distance": {Text: "Share of the characters of `text` that may differ, such as `5%`."},
		"json":          {Text: "[JSON path](models.md#predicates-and-paths) of a value of the answer."},
		"equals":        {Text: "Value at `json`: text, truth value, or number within `tolerance`."},
		"tolerance":     {Text: "Largest difference from `equals`, such as `0.01` or `0.5%`. If absent, 0."},
		"tokens_prefix": {Text: "Number of the first token ids that count."},
	},
	reflect.TypeFor[axis](): {
		"name":   {Text: "Name of the axis in templates and predicates."},
		"values": {Text: "Values of the axis. A plain value stands for its `id`."},
	},
	reflect.TypeFor[sweep](): {
		"env":     {Text: "The variable."},
		"values":  {Text: "Its values."},
		"default": {Text: "The value that the plain cell runs with. `env` must agree with it."},
		"when":    {Text: "A [predicate](models.md#predicates-and-paths) that selects its combinations."},
		"tags":    {Text: "Tags of the sweep's cells."},
	},
	reflect.TypeFor[selection](): {
		"models":   {Text: "Ids or globs of models."},
		"backends": {Text: "Ids or globs of backends."},
		"features": {Text: "Ids or globs of features."},
		"sweeps":   {Text: "Names or globs of swept variables."},
	},
	reflect.TypeFor[discover](): {
		"dir":       {Text: "The folder. Flag `--model-dir` replaces it. If absent, nothing is discovered."},
		"glob":      {Text: "Glob of file names directly in it, such as `*.gguf`."},
		"companion": {Text: "Part of the name of files that belong to a model, such as `mmproj`."},
		"families":  {Text: "Properties of models by parts of their file names. The first match counts."},
		"args":      {Text: "The model's `args`, with `{path}` and `{companion}`."},
		"provides":  {Text: "Words that a model with a companion provides, too."},
	},
	reflect.TypeFor[family](): {
		"name":       {Text: "Name of the family, `{model.family}`."},
		"contains":   {Text: "Parts of which the name has at least one, in any letter case."},
		"with":       {Text: "Parts that the name has, too."},
		"without":    {Text: "Parts of which the name has none."},
		"provides":   {Text: "Words that a model of the family provides."},
		"companions": {Text: "Parts of the companion's name, tried in order."},
	},
	reflect.TypeFor[workerConfig](): {
		"persistent": {Text: "One process for consecutive cells with the same command and environment."},
		"container":  {Text: "A container for each cell, beside accelgate, through the Docker Engine's socket."},
	},
	reflect.TypeFor[persistent](): {
		"params":        {Text: "Parameters of each request, as templates; numbers and truth values as such."},
		"start_timeout": {Absent: "5m", Text: "Limit of the answer to the first ping."},
	},
	reflect.TypeFor[container](): {
		"image":      {Text: "The image, best by its digest. Required."},
		"pull":       {Absent: false, Text: "`true` pulls the image."},
		"gpus":       {Text: "GPUs of the container: `all`, a number, or `device=0,1`."},
		"devices":    {Text: "Device files such as `/dev/kfd`, as `HOST[:CONTAINER[:rwm]]`."},
		"mounts":     {Text: "Further mounts, as `HOST:CONTAINER[:ro]`."},
		"root":       {Text: "Folder that is mounted at the same path, the configuration's if absent."},
		"env":        {Text: "Variables of the container."},
		"inherit":    {Text: "Variables of accelgate's environment that the container gets."},
		"user":       {Text: "User that the container runs as."},
		"network":    {Absent: "none", Text: "Network of the container."},
		"memory_mib": {Text: "Limit of memory."},
		"shm_mib":    {Text: "Limit of `/dev/shm`."},
		"socket":     {Text: "Socket of Docker or podman. If absent, `DOCKER_HOST` or the usual place."},
		"same_paths": {Absent: false, Text: "`true` if accelgate itself runs in a container with the host's paths."},
	},
	reflect.TypeFor[metric](): {
		"name": {Text: "Name of the metric. Required."},
		"json": {Text: "[JSON path](models.md#predicates-and-paths) of the number; without `steps`, several values make a [cell " +
			"each](steps.md#rows). Without a `parser`, a metric has `json` or `regexp`."},
		"regexp": {Text: "[Regular expression](models.md#predicates-and-paths) of the number in standard output or the file, " +
			"else in standard error."},
		"steps":         {Text: "[Words](steps.md#steps) that make one number of several."},
		"unit":          {Text: "Unit, as in `tok/s`."},
		"better":        {Text: "`higher` or `lower`. Required."},
		"exact":         {Absent: false, Text: "`true`: must equal the baseline."},
		"stderr":        {Text: "[Standard error](scores.md#scores), found as the number is."},
		"n":             {Text: "[Number of trials](limits.md#bounds) of a share, found as the number is."},
		"limit":         {Text: "Change for the worse that [blocks](limits.md)."},
		"informational": {Absent: false, Text: "`true`: shown and not gated."},
		"fallback_for":  {Text: "Metric M in place of which this one is gated, where neither side has M above 0."},
		"resolution":    {Text: "Step in which the metric is printed. A change by rounding alone does not block."},
		"kind":          {Text: "[Kind](models.md#metrics) that the unit does not imply."},
		"optional":      {Absent: false, Text: "`true` demands the metric of no cell."},
		"when":          {Text: "Cells that must print the metric, by the keys of `exclude`."},
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
