package config

import (
	"maps"
	"reflect"
	"strings"
)

// docs is where the links of descriptions lead: pages of docs, as they are published.
const docs = "https://github.com/accelgate/accelgate/blob/main/docs/"

// links makes relative links lead to docs.
var links = strings.NewReplacer("](https:", "](https:", "](", "]("+docs)

// Key describes a key for editors and the pages of docs.
type Key struct {
	Absent any    // the value that an absent key stands for; nil where that depends, or where there is none
	Text   string // Markdown; its links are relative to docs
}

// What the keys of steps, builds and services have in common.
const (
	stepCommand = "Program and its arguments, without a shell."
	stepDir     = "Folder in which it starts. If absent, that of the configuration."
	stepEnv     = "Variables besides the [environment of a child](builds.md#environment-of-a-child)."
	stepTimeout = "Longest duration."
)

// Keys describes keys, by the type of the mapping that they are decoded into.
type Keys map[reflect.Type]map[string]Key

// describe adds what is there on a key of a type to its schema. The schema is not modified.
func (keys Keys) describe(schema object, t reflect.Type, name string) object {
	k, ok := keys[t][name]
	if !ok {
		return schema
	}
	described := object{"description": links.Replace(k.Text)}
	maps.Copy(described, schema)
	if k.Absent != nil {
		described["default"] = k.Absent
	}
	return described
}

// reference describes each key of the frame.
var reference = Keys{
	reflect.TypeFor[File](): {
		"version":   {nil, "Version of the format."},
		"name":      {nil, "Name among [several configurations](github.md#several-configurations): 1 to 32 of `a-z`, `0-9` and `-`."},
		"baselines": {"baselines", "[Baselines](baselines.md#baselines) to compare with. A text stands for `path`."},
		"host":      {nil, "The host that measures."},
		"policy":    {nil, "Limits of the gate."},
		"limits":    {nil, "Limits of the cost of a run."},
		"build":     {nil, "[Build](builds.md#builds) of the checkout before anything is measured. A list stands for `command`."},
		"artifacts": {nil, "[Artifacts](artifacts.md), by name. `{artifact.NAME}` in a text of a suite or build is the path."},
		"ab":        {nil, "The base that `accelgate run --ab` measures in pairs with the code under test."},
		"runners":   {nil, "Hosts of the project, for the called workflow and `accelgate plan --for`."},
		"suites":    {nil, "Cells to measure. Each kind has [further keys](configuration.md#kinds)."},
	},
	reflect.TypeFor[Baselines](): {
		"path": {"baselines", "Folder of the committed baselines; with a `name`, `baselines/NAME` if absent."},
		"repository": {nil, "[Repository that has the folder](baselines.md#baselines-elsewhere): `OWNER/NAME` on the GitHub " +
			"server, an https or ssh address, or a path from `./`, `../` or `/`."},
		"ref": {nil, "Branch, tag or full commit of `repository`, or of this one. If absent, `HEAD` of `repository`."},
		"from": {"files", "`files`: the committed baseline. `history`, `history-mean`: [the median or mean of the last " +
			"runs](baselines.md#baselines-from-the-history)."},
		"devices": {nil, "Files that [hosts with the same device](baselines.md#hosts-with-the-same-device) share. Later entries win."},
		"runs":    {5, "Runs that such a baseline rests on, 1 to 40."},
		"fetch":   {nil, "Command that writes the file `{name}` of [a store](baselines.md#a-store-of-your-own) to `{file}`, or nothing."},
		"publish": {nil, "Command by which `baseline update` writes `{file}` to the store as `{name}`."},
		"max_age": {nil, "Age at which the report warns: `30 days`, or `20 runs` of the default branch. If absent, only " +
			"`baseline lint` warns, after 90 days."},
		"min_move": {nil, "Share of its limit below which `baseline update` keeps a moved metric. If absent, its noise."},
	},
	reflect.TypeFor[Shared](): {
		"name": {nil, "The file is `baseline-<name>.json`."},
		"model": {nil, "Glob of the model of the host's accelerators, as in `NVIDIA H100*`, else of its CPU, as `accelgate " +
			"doctor` prints it."},
		"hosts": {"*", "Glob of the labels of the hosts."},
	},
	reflect.TypeFor[Pairing](): {
		"from_head": {nil, "Globs of [the head's files](base.md#the-heads-harness) that the base gets before it is built."},
	},
	reflect.TypeFor[Host](): {
		"label": {nil, "Label that selects `baseline-<label>.json`. Flag `--host-label` and variable `ACCELGATE_HOST_LABEL` win. " +
			"If absent, the hardware's, such as `linux-cuda`."},
		"devices": {nil, "[Accelerators](devices.md#devices) to measure on, as in `[0, 1]`, or `[mig]`. Flag " +
			"`--devices` and variable `ACCELGATE_DEVICES` win."},
		"health": {"auto", "`auto` watches [the host](devices.md#health-of-the-host), `off` does not. Flag `--health` and " +
			"variable `ACCELGATE_HEALTH` win."},
		"cache": {nil, "Folder of [artifacts](artifacts.md). Variable `ACCELGATE_CACHE` wins. If absent, `accelgate/hub` in the " +
			"user's caches."},
		"cache_gib": {256, "Its limit in GiB. Variable `ACCELGATE_CACHE_GIB` wins."},
	},
	reflect.TypeFor[Artifact](): {
		"url":      {nil, "Address of one file that needs no login. Excludes `hub`."},
		"sha256":   {nil, "SHA-256 of the file at `url`. Required there."},
		"size":     {nil, "Bytes of the file at `url`."},
		"hub":      {nil, "Model `org/name` on the Hugging Face hub, or dataset `datasets/org/name`."},
		"revision": {nil, "Commit on the hub, 40 digits. Required there."},
		"file":     {nil, "With `hub`, the one file to get. With `url`, its name, else the last part of the URL."},
		"files":    {nil, "Globs of files of the hub, all if absent. One without a slash matches in every folder."},
	},
	reflect.TypeFor[Policy](): {
		"threshold": {"10%", "Change for the worse beyond which a metric blocks. Flag `--threshold` wins."},
		"require_baseline": {false, "`true`: a run without a baseline for each suite and metric, or with one of 0, does not " +
			"pass. The action's default."},
		"method": {"evidence", "`evidence` judges speed [by the best evidence](configuration.md#how-speed-is-judged), " +
			"`threshold` by the threshold alone."},
		"min_effect": {nil, "Change for the worse below which evidence does not block. If absent, `policy.threshold` if given, else 2%."},
		"false_alarms": {"2%", "Chance that a report on unchanged code blocks for speed. " +
			"[Measured](detection.md#what-a-whole-report-promises) at 2%: 0.3% in pairs, 0.6% by 3 new runs against history, " +
			"3.4% by the next run of the default branch, 6.3% by two sessions of a loaded host."},
		"inconclusive": {"warn", "`fail` blocks [undecided](verdicts.md#certainty) results. With `warn`, an undecided loss " +
			"beyond its limit makes the check `action_required`."},
		"improvement": {"pass", "`fail` blocks a certain [improvement](limits.md#improvements) beyond the limit until " +
			"the baseline is updated."},
		"levels": {nil, "[Levels](configuration.md#levels): when losses warn. Later entries win."},
		"unhealthy": {"inconclusive", "`inconclusive`: an unhealthy host, or the same loss of the calibration workload, leaves a " +
			"loss without pairs [undecided](verdicts.md#certainty). `ignore` judges it."},
		"remeasure": {3, "Measurements of a suspect before it blocks, 0 to 100. They alone judge it."},
		"drift": {nil, "Change for the worse since a cell's anchor, the first median of its entry, that blocks; `accelgate " +
			"baseline anchor` moves it. If absent, the larger of `policy.threshold` and 10%. 0 turns this off."},
		"implausible": {100, "Factor between two numbers, 2 to 1000000, beyond which a change blocks in both " +
			"directions. Only `--force` records it."},
		"fingerprint": {nil, "Effect of a baseline of another host: `refuse` blocks, `warn` judges no speed, `ignore` judges it. " +
			"If absent, `refuse` for other accelerators, `warn` for another CPU, else a warning."},
		"left_out": {"fail", "Effect of a cell of the baseline that a limit left out: `fail` or `warn`."},
		"compat": {nil, "`tensorsharp` judges by [TensorSharp.TestMatrix's rules](configuration.md#other-tools-files), " +
			"`msmodeling` [cases](cases.md#verdicts) by msmodeling's, `msmodeling@84fec85` by those before it had " +
			"groups."},
		"history": {nil, "Folder of the [history](baselines.md#history), `history-<label>.jsonl`. If absent, `history` " +
			"in the folder of baselines. Flag `--history` wins."},
		"history_keep": {200, "Newest runs of a host that are kept, 40 to 1000."},
		"config_changes": {"block", "Approval of a pull request that [changes the " +
			"checks](github.md#configuration-changes): `block` by a user with write permission, `other-person` not its " +
			"author, `warn` none. The base branch's value counts."},
		"quarantine": {nil, "File of [flaky cells](configuration.md#quarantine). If absent, `quarantine.yml` beside this file."},
		"waivers":    {nil, "File of [accepted regressions](configuration.md#waivers). If absent, `waivers.yml` beside this file."},
	},
	reflect.TypeFor[Limits](): {
		"max_cells": {nil, "Largest number of cells to measure. Flag `--max-cells` wins."},
		"budget": {nil, "Time after which measuring ends, as in `90m`. Flag `--budget` wins. Each cell is measured once " +
			"before any is measured twice."},
		"retries":   {0, "Retries, 0 to 10, of programs that could not be started, and of `failures` of the suite."},
		"cool_down": {nil, "Wait before cells are measured again. If absent, 5s on devices, else none."},
		"lease":     {"30m", "Longest wait for devices that another job uses."},
	},
	reflect.TypeFor[Runner](): {
		"host":    {nil, "Label of the host, in one entry."},
		"runs_on": {nil, "Labels of the GitHub runner, or `slurm` or `kubernetes`. If absent, each target has jobs for the host."},
		"suites":  {nil, "Suites that the host measures, in its runs, plan and verdict. If absent, all."},
		"shards":  {1, "Jobs of the host, up to 256. Excludes `longest`."},
		"longest": {nil, "Longest time of a job, as in `20m`, by the history or `--durations`."},
	},
	reflect.TypeFor[RunsOn](): {
		"labels":     {nil, "Labels of the GitHub runner."},
		"slurm":      {nil, "Options of [sbatch](clusters.md), as in `[--partition=h100, --account=ci]`."},
		"kubernetes": {nil, "Pods of [an indexed Job](clusters.md#kubernetes)."},
	},
	reflect.TypeFor[Kubernetes](): {
		"image": {nil, "Image with accelgate, and the built checkout as working directory."},
		"nodes": {nil, "Labels of the nodes, as in `{nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}`. If absent, " +
			"`accelgate/host` with the label of the host."},
	},
	reflect.TypeFor[Suite](): {
		"name": {nil, "Unique name: 1 to 64 letters, digits, `.`, `-` or `_`, the first a letter or digit."},
		"kind": {nil, "See [Kinds](configuration.md#kinds)."},
		"build": {nil, "[Build](builds.md#builds) for this suite. A list, as in `[make]`, is run only where `run` builds [the " +
			"base](base.md), on both sides."},
		"setup":     {nil, "[Step](builds.md#setup-and-services) before the first cell. A list stands for `command`."},
		"teardown":  {nil, "Step after the last cell, also after failures and signals. A list stands for `command`."},
		"each":      {nil, "Steps around each measurement of a cell."},
		"per_model": {nil, "Steps around consecutive cells of one model on one device."},
		"service":   {nil, "Program that runs while cells of the suite are measured."},
		"retries": {nil, "[Retries](builds.md#retries-and-hangs), 0 to 10, by cause: `crash`, `machine`, `oom`, " +
			"`silent`, `start` or `timeout`."},
		"no_output":     {nil, "[Longest silence](builds.md#retries-and-hangs) of a child."},
		"on_timeout":    {nil, "`dump`: a child prints its stacks before it is ended at its limit."},
		"cell_timeouts": {nil, "Limits of some cells, in place of the kind's own. Later entries win."},
		"devices": {1, "[Devices](devices.md#devices) that a cell needs at once, as in `2`, `{nvidia: 4, same_node: " +
			"true}` or `[{when: {tp: 4}, count: 4}]`. Later entries win. Hosts with fewer skip it."},
		"cpus": {nil, "[Processors of children](devices.md#processors-and-memory), as in `0-7,32-39`, or a list with an " +
			"entry for each of `host.devices`. Linux, and containers."},
		"numa": {nil, "NUMA node of children's processors and memory, as in `0`, `auto` for the device's, or a list as for " +
			"`cpus`."},
		"limits": {nil, "[Limits of single metrics](limits.md). Later entries win, value by value, also over `limit` of the " +
			"metric."},
		"fits":      {nil, "[Lines of a metric over an axis](scores.md#fits), whose slope and intercept are judged."},
		"relations": {nil, "[Ratios and differences of metrics](steps.md#relations), by name."},
		"levels":    {nil, "[Levels](configuration.md#levels) of some cells. Later entries win, and all win over `policy.levels`."},
	},
	reflect.TypeFor[Level](): {
		"event": {nil, "Event of the workflow, every one if absent; `tag` for a push of a tag, `desk` outside of the action."},
		"label": {nil, "Label of the pull request. For `advisory`, a user with write permission must have set it."},
		"level": {nil, "Metrics beyond their limits warn (`advisory`) or block (`required`)."},
	},
	reflect.TypeFor[SuiteLevel](): {
		"when":  {nil, "Cells, as in `limits`. If absent, all."},
		"event": {nil, "As in `policy.levels`."},
		"label": {nil, "As in `policy.levels`."},
		"level": {nil, "As in `policy.levels`."},
	},
	reflect.TypeFor[Fit](): {
		"metric":    {nil, "Name of the metric. It may be informational."},
		"over":      {nil, "Axis or swept variable with at least 3 numbers. Cells that differ in it alone form a line."},
		"values":    {nil, "Numbers for values of the axis that are not numbers, as in `{short: 512}`."},
		"per":       {1, "Units of the axis that the slope is per, as in `1000`."},
		"when":      {nil, "Cells, as in `limits`. If absent, all with a value of the axis."},
		"slope":     {nil, "Limits of the slope."},
		"intercept": {nil, "Limits of the intercept, the value at 0."},
	},
	reflect.TypeFor[FitLimit](): {
		"change": {nil, "Relative change for the worse that blocks. Above 0%."},
		"min":    {nil, "Smallest coefficient that passes, in the metric's unit, without a baseline."},
		"max":    {nil, "Largest coefficient that passes."},
	},
	reflect.TypeFor[Trade](): {
		"loss": {nil, "Largest loss that passes, above the metric's `change`."},
		"for":  {nil, "Gated metric of the same cell that gains; a [resource](scores.md#resources) needs an entry with `change`."},
		"gain": {nil, "Smallest gain, as certain as a loss that blocks."},
	},
	reflect.TypeFor[DeviceCount](): {
		"when":  {nil, "Cells that need so many, as in `{tp: 4}`: an axis or a swept variable, and a glob. If absent, all cells."},
		"count": {1, "Number of devices of any vendor."},
		"nvidia": {
			nil,
			"Number of devices of NVIDIA, in place of `count`.",
		}, "amd": {nil, "Number of devices of AMD, in place of `count`."},
		"ascend": {
			nil,
			"Number of devices of Ascend, in place of `count`.",
		}, "intel": {nil, "Number of devices of Intel, in place of `count`."},
		"apple": {nil, "Number of devices of Apple, in place of `count`."},
		"same_node": {false, "`true`: all devices of the cell on [one NUMA node](devices.md#devices-of-one-node). Hosts " +
			"without enough skip it."},
		"nodes": {1, "[Nodes of a cluster](clusters.md#cells-that-span-nodes), each with so many devices."},
		"mig":   {nil, "Profile of the cell's [MIG slice](devices.md#mig-slices), as in `1g.10gb`."},
	},
	reflect.TypeFor[Build](): {
		"command": {nil, stepCommand},
		"dir":     {nil, stepDir},
		"env":     {nil, stepEnv},
		"timeout": {"1h", stepTimeout},
		"inputs": {nil, "Globs of the files that the build reads, for [reuse](builds.md#builds) after other changes. Needs " +
			"`outputs`."},
		"outputs": {nil, "Globs of all files that the build writes. If absent, the build is run each time."},
	},
	reflect.TypeFor[Step](): {
		"command": {nil, stepCommand},
		"dir":     {nil, stepDir},
		"env":     {nil, stepEnv},
		"timeout": {"10m", stepTimeout},
	},
	reflect.TypeFor[CellTimeout](): {
		"when":    {nil, "Cells, as in [`limits`](keys.md#suiteslimits)."},
		"timeout": {nil, "Limit of one process, or of the kind's [unit](builds.md#retries-and-hangs)."},
	},
	reflect.TypeFor[Pair](): {
		"setup":    {nil, "Step before. A list stands for `command`."},
		"teardown": {nil, "Step after, also after a failure. A list stands for `command`."},
	},
	reflect.TypeFor[Service](): {
		"command": {nil, stepCommand},
		"dir":     {nil, stepDir},
		"env":     {nil, stepEnv},
		"ready":   {nil, "Sign that the service is up: one of `http`, `tcp` and `command`."},
	},
	reflect.TypeFor[Ready](): {
		"http":    {nil, "URL that answers a GET with 200 to 399, without proxies and redirects."},
		"tcp":     {nil, "Address that accepts connections, as in `127.0.0.1:8080`."},
		"command": {nil, "Command that exits with 0."},
		"within":  {"60s", "Longest wait. All cells of the suite fail after it."},
	},
	reflect.TypeFor[Limit](): {
		"metric": {nil, "Name of the metric, or of a [resource](scores.md#resources)."},
		"when": {nil, "Cells and runs, all if absent: globs of axes, swept variables, `host` and `profile`, as in `{backend: " +
			"cuda*, host: h100-*}`; `event` as in `levels`."},
		"change": {nil, "Change for the worse that blocks, such as `8%`, `0.5 s`, `8% and 0.5 s`, `3% and 4 mad`, `noise 1% to 10%` or " +
			"`+-10%`. See [words](limits.md#words)."},
		"mean": {nil, "Loss of the [geometric mean](limits.md#means) over the entry's cells that blocks."},
		"min":  {nil, "[Smallest median that passes](limits.md#bounds), in the metric's unit, or `0.62 at 95%`."},
		"max":  {nil, "Largest median that passes, as `min`."},
		"test": {nil, "[Test by standard errors](scores.md#scores): `one-sided` blocks a significant loss, `two-sided` a " +
			"significant difference, of at least `change`."},
		"trade": {nil, "[Loss that passes](limits.md#trades) for a gain of another metric of the cell."},
		"level": {nil, "`advisory` never blocks, `required` always. If absent, [levels](configuration.md#levels) decide."},
	},
}
