package config

import (
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
	stepTimeout = "Longest duration. Then the command and all that it started are ended."
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
	for keyword, value := range schema {
		described[keyword] = value
	}
	if k.Absent != nil {
		described["default"] = k.Absent
	}
	return described
}

// reference describes each key of the frame.
var reference = Keys{
	reflect.TypeFor[File](): {
		"version": {nil, "Version of the format."},
		"name": {nil, "Name among several configurations of the repository: 1 to 32 of `a-z`, `0-9` and `-`. See [Several " +
			"configurations](github.md#several-configurations)."},
		"baselines": {"baselines", "Reference of comparisons. A text stands for `path`. See [Baselines](baselines.md#baselines)."},
		"host":      {nil, "The host that measures."},
		"policy":    {nil, "Limits of the gate."},
		"limits":    {nil, "Limits of the cost of a run."},
		"build": {nil, "Command that builds the checkout before anything is measured. A list stands for `command`. See " +
			"[Builds](builds.md#builds)."},
		"artifacts": {nil, "Files that suites use, by name. `{artifact.NAME}` in any text of a suite or build is the path of " +
			"one. See [Artifacts](artifacts.md)."},
		"ab":      {nil, "The base that `accelgate run --ab` measures in pairs with the code under test."},
		"runners": {nil, "Hosts of the project, for the called workflow and `accelgate plan --for`."},
		"suites":  {nil, "Cells to measure. Each kind has [further keys](configuration.md#kinds)."},
	},
	reflect.TypeFor[Baselines](): {
		"path": {"baselines", "Folder of the committed baselines, one for each configuration. If absent and there is a `name`, the " +
			"folder of that name in `baselines`."},
		"repository": {nil, "Repository that has the folder: `OWNER/NAME` on the GitHub server, an https or ssh address, or a " +
			"path that begins with `./`, `../` or `/`. See [Baselines " +
			"elsewhere](baselines.md#baselines-elsewhere)."},
		"ref": {nil, "Branch, tag or full commit of `repository`, or of this one. If absent, `HEAD` of `repository`."},
		"from": {"files", "`files`: the committed baseline. `history`, `history-mean`: the median or mean of the last runs, " +
			"without a file. See [Baselines from the history](baselines.md#baselines-from-the-history)."},
		"devices": {nil, "Files that hosts with the same device share. Later entries win. See [Hosts with the same " +
			"device](baselines.md#hosts-with-the-same-device)."},
		"runs": {5, "Runs of the history that a baseline rests on, 1 to 40."},
		"fetch": {nil, "Command that writes the file `{name}` of a store to `{file}`, or nothing, as in `[./store.sh, get, " +
			"\"{name}\", \"{file}\"]`. See [A store of your own](baselines.md#a-store-of-your-own)."},
		"publish": {nil, "Command by which `baseline update` writes `{file}` to the store as `{name}`."},
		"max_age": {nil, "Age from which on the report warns of a baseline: `30 days`, or `20 runs` of the default branch " +
			"since. If absent, only `baseline lint` warns, after 90 days."},
		"min_move": {nil, "Share of its limit by which a number must have moved for `baseline update` to rewrite it, as in " +
			"`25%`. If absent, numbers stay that moved within their noise."},
	},
	reflect.TypeFor[Shared](): {
		"name": {nil, "The file is `baseline-<name>.json`."},
		"model": {nil, "Glob of the model of all accelerators of the host, as in `NVIDIA H100*`, or of its CPU if it has " +
			"none. `accelgate doctor` prints them."},
		"hosts": {"*", "Glob of the labels of the hosts."},
	},
	reflect.TypeFor[Pairing](): {
		"from_head": {nil, "Globs of files that the base gets from the code under test before it is built, as in `[bench/**, " +
			"scripts/bench.py]`. See [The head's harness](base.md#the-heads-harness)."},
	},
	reflect.TypeFor[Host](): {
		"label": {nil, "Label that selects `baseline-<label>.json`. Flag `--host-label` and then variable " +
			"`ACCELGATE_HOST_LABEL` win. If all are absent, that of the hardware, such as `linux-cuda`."},
		"devices": {nil, "Accelerators to measure on, one cell at a time on each, as in `[0, 1]`, or `[mig]`. Flag `--devices` " +
			"and then variable `ACCELGATE_DEVICES` win. See [Devices](devices.md#devices)."},
		"health": {"auto", "`auto` watches the host, `off` does not. Flag `--health` and then variable `ACCELGATE_HEALTH` win. " +
			"See [Health of the host](devices.md#health-of-the-host)."},
		"cache": {nil, "Folder of [artifacts](artifacts.md). Variable `ACCELGATE_CACHE` wins. If absent, `accelgate/hub` in " +
			"the user's folder of caches."},
		"cache_gib": {256, "Limit of that folder in GiB. Variable `ACCELGATE_CACHE_GIB` wins."},
	},
	reflect.TypeFor[Artifact](): {
		"url":    {nil, "Address of one file that needs no login. Excludes `hub`."},
		"sha256": {nil, "SHA-256 of the file at `url`. Required there."},
		"size":   {nil, "Bytes of the file at `url`."},
		"hub": {nil, "Model `org/name` on the Hugging Face hub, or dataset `datasets/org/name`. `HF_TOKEN` and " +
			"`HF_ENDPOINT` count."},
		"revision": {nil, "Commit on the hub, 40 digits. Required there."},
		"file":     {nil, "With `hub`, the one file to get. With `url`, its name here; if absent, the last part of the URL."},
		"files": {nil, "Globs of the files to get from the hub. One without a slash matches in every folder. If absent, all " +
			"files."},
	},
	reflect.TypeFor[Policy](): {
		"threshold": {"10%", "Change for the worse beyond which a metric blocks. Flag `--threshold` wins."},
		"require_baseline": {false, "`true`: a run does not pass if a suite or a number has no baseline, or one of 0. As flag " +
			"`--require-baseline`; the action's default."},
		"method": {"evidence", "`evidence` judges speed by pairs, else by history, else by the threshold. `threshold` judges by that " +
			"alone. See [How speed is judged](configuration.md#how-speed-is-judged)."},
		"min_effect": {nil, "Change for the worse below which evidence does not block. If absent, `policy.threshold` if given, " +
			"else 2%."},
		"false_alarms": {"2%", "Chance that a report on unchanged code blocks for speed. Measured at 2%: 0.3% in pairs, 0.6% by 3 " +
			"new runs against history, 3.4% by the next run of the default branch, 6.3% by two sessions of a " +
			"loaded host. Held-out accelerators had 7.0% by 3 new runs and 7.9% by 5. See [What a whole report " +
			"promises](detection.md#what-a-whole-report-promises)."},
		"inconclusive": {"warn", "Whether an [undecided](verdicts.md#certainty) result blocks. With `warn`, an undecided loss beyond " +
			"its limit makes the check `action_required`."},
		"improvement": {"pass", "`fail` blocks a certain [improvement](limits.md#improvements) beyond the " +
			"limit until the baseline is " +
			"updated."},
		"levels": {nil, "Occasions on which losses warn. Later entries win. See [Levels](configuration.md#levels)."},
		"unhealthy": {"inconclusive", "`inconclusive`: an unhealthy host, or a calibration workload with the " +
			"same loss, leaves a loss " +
			"[undecided](verdicts.md#certainty). `ignore` judges it. Pairs are valid on any host."},
		"remeasure": {3, "Measurements of a suspect before it blocks, 0 to 100, in fresh processes, which alone judge it."},
		"drift": {nil, "Change for the worse since a cell's anchor, the first median of its entry, that blocks. Only " +
			"`accelgate baseline anchor --reason TEXT` moves an anchor. If absent, the larger of " +
			"`policy.threshold` and 10%. 0 turns this off."},
		"implausible": {100, "Factor between two numbers, 2 to 1000000, beyond which a change blocks in both directions. Only " +
			"`--force` records it."},
		"fingerprint": {nil, "Effect of a baseline of another host: `refuse` blocks, `warn` judges no speed, `ignore` judges it. " +
			"If absent, other accelerators are refused, another CPU is a warning, and another host of the same " +
			"kind is judged with a warning."},
		"left_out": {"fail", "Effect of a cell of the baseline that a limit left out."},
		"compat": {nil, "`tensorsharp` judges by [TensorSharp.TestMatrix's rules](configuration.md#other-tools-files), " +
			"`msmodeling` [cases](cases.md#verdicts) by msmodeling's, `msmodeling@84fec85` by those before it had " +
			"groups."},
		"history": {nil, "Folder of the [history](baselines.md#history), `history-<label>.jsonl`. If absent, `history` in the " +
			"folder of baselines. Flag `--history` wins."},
		"history_keep": {200, "Newest runs of a host that are kept, 40 to 1000."},
		"config_changes": {"block", "Approval of a pull request that changes the checks: `block` by a user with write permission, " +
			"`other-person` not its author, `warn` none. The base branch's value counts. See [Configuration " +
			"changes](github.md#configuration-changes)."},
		"quarantine": {nil, "File of flaky cells, see [Quarantine](configuration.md#quarantine). If absent, `quarantine.yml` " +
			"beside this file."},
		"waivers": {nil, "File of accepted regressions, see [Waivers](configuration.md#waivers). If absent, `waivers.yml` " +
			"beside this file."},
	},
	reflect.TypeFor[Limits](): {
		"max_cells": {nil, "Largest number of cells to measure. Flag `--max-cells` wins."},
		"budget": {nil, "Time after which measuring ends, as in `90m`. Flag `--budget` wins. Each cell is measured once " +
			"before any is measured twice."},
		"retries": {0, "Retries after an infrastructure failure, 0 to 10: the program could not be started, or `failures` of " +
			"the suite names it."},
		"cool_down": {nil, "Wait before cells are measured again. If absent, 5s on devices, else none."},
		"lease":     {"30m", "Longest wait for devices that another job uses."},
	},
	reflect.TypeFor[Runner](): {
		"host": {nil, "Label of the host, in one entry."},
		"runs_on": {nil, "Labels of the GitHub runner, or one of `slurm` and `kubernetes`. If absent, every target plans jobs " +
			"for the host, on GitHub with the labels `self-hosted` and its own."},
		"suites":  {nil, "Suites that the host measures, in its runs, plan and verdict. If absent, all."},
		"shards":  {1, "Jobs of the host, up to 256. Excludes `longest`."},
		"longest": {nil, "Longest time of a job, as in `20m`, by the times of the history, or of `--durations`."},
	},
	reflect.TypeFor[RunsOn](): {
		"labels": {nil, "Labels of the GitHub runner."},
		"slurm": {nil, "Options of sbatch, as in `[--partition=h100, --account=ci]`. `--gres=gpu:h100` gets the number of " +
			"devices of a cell. See [Clusters](clusters.md)."},
		"kubernetes": {nil, "Pods of an indexed Job. See [Clusters](clusters.md#kubernetes)."},
	},
	reflect.TypeFor[Kubernetes](): {
		"image": {nil, "Image with accelgate, and with the checkout and its build as working directory."},
		"nodes": {nil, "Labels of the nodes, as in `{nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}`. If absent, " +
			"`accelgate/host` with the label of the host."},
	},
	reflect.TypeFor[Suite](): {
		"name": {nil, "Unique name: 1 to 64 letters, digits, `.`, `-` or `_`, the first a letter or digit."},
		"kind": {nil, "See [Kinds](configuration.md#kinds)."},
		"build": {nil, "[Build](builds.md#builds) for this suite. A list, as in `[make]`, is run only where `run` makes [the " +
			"base](base.md), on both sides."},
		"setup": {nil, "Step before the first cell. A list stands for `command`. See [Setup and " +
			"services](builds.md#setup-and-services)."},
		"teardown": {nil, "Step after the last cell, also after failures and signals. A list stands for `command`."},
		"each":     {nil, "Steps around each measurement of a cell."},
		"per_model": {nil, "Steps around consecutive cells of one model on one device. See [Setup and " +
			"services](builds.md#setup-and-services)."},
		"service": {nil, "Program that runs while cells of the suite are measured."},
		"retries": {nil, "Retries, 0 to 10, by cause: `crash`, `machine`, `oom`, `silent`, `start` or `timeout`. See [Retries " +
			"and hangs](builds.md#retries-and-hangs)."},
		"no_output":     {nil, "Longest silence of a child, as in `60s`, see [Retries and hangs](builds.md#retries-and-hangs)."},
		"on_timeout":    {nil, "`dump`: a child that is ended at its limit prints its stacks first."},
		"cell_timeouts": {nil, "Limits of some cells, in place of the kind's own. Later entries win."},
		"devices": {1, "Devices that a cell needs at once, as in `2`, `{nvidia: 4, same_node: true}` or `[{when: {tp: 4}, " +
			"count: 4}]`. Later entries win. Hosts with fewer skip it. See [Devices](devices.md#devices)."},
		"cpus": {nil, "Processors of children, as in `0-7,32-39`, or a list with an entry for each of `host.devices`. " +
			"Linux, and containers. See [Devices](devices.md#processors-and-memory)."},
		"numa": {nil, "NUMA node of children's processors and memory, as in `0`, or `auto` for that of the cell's device; " +
			"or a list as for `cpus`. Linux, and containers. See [Devices](devices.md#processors-and-memory)."},
		"limits": {nil, "[Limits of single metrics](limits.md). Later entries win over earlier ones, value by value, and over " +
			"`limit` of the metric."},
		"fits": {nil, "Lines of a metric over an axis, whose slope and intercept are judged. See [Fits](scores.md#fits)."},
		"relations": {nil, "Ratios and differences of metrics, by name, as in `{vs_eager: \"step_ms / step_ms[mode=eager]\"}`. See " +
			"[Relations](steps.md#relations)."},
		"levels": {nil, "Cells and occasions whose losses warn. Later entries win, and all win over `policy.levels`. See " +
			"[Levels](configuration.md#levels)."},
	},
	reflect.TypeFor[Level](): {
		"event": {nil, "Event of the workflow; `tag` for a push of a tag, `desk` outside of the action. Runs for a pull " +
			"request are `pull_request`. If absent, every event."},
		"label": {nil, "Label of the pull request. For `advisory`, a user with write permission must have set it. If absent, " +
			"none is needed."},
		"level": {nil, "`advisory`: numbers beyond their limits warn. `required`: they block."},
	},
	reflect.TypeFor[SuiteLevel](): {
		"when":  {nil, "Cells, as in `limits`. If absent, all."},
		"event": {nil, "As in `policy.levels`."},
		"label": {nil, "As in `policy.levels`."},
		"level": {nil, "As in `policy.levels`."},
	},
	reflect.TypeFor[Fit](): {
		"metric": {nil, "Name of the metric. It may be informational."},
		"over": {nil, "Axis or swept variable with at least 3 numbers. Cells that differ in it alone are points of one " +
			"line."},
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
		"loss": {nil, "Largest loss that a trade lets pass, above the metric's `change`."},
		"for": {nil, "Gated metric of the same cell whose gain pays; a [resource](scores.md#resources) needs an entry with " +
			"`change`."},
		"gain": {nil, "Smallest gain that pays, as certain as a loss that blocks."},
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
		"same_node": {false, "`true`: all devices of the cell on one NUMA node. Hosts without enough skip it. See " +
			"[Devices](devices.md#devices-of-one-node)."},
		"nodes": {1, "Nodes of a cluster, each with so many devices. Jobs with fewer skip the cell. See " +
			"[Clusters](clusters.md#cells-that-span-nodes)."},
		"mig": {nil, "Profile of the MIG slice of the cell, as in `1g.10gb`. Runs without one skip it. See [MIG " +
			"slices](devices.md#mig-slices)."},
	},
	reflect.TypeFor[Build](): {
		"command": {nil, stepCommand},
		"dir":     {nil, stepDir},
		"env":     {nil, stepEnv},
		"timeout": {"1h", stepTimeout},
		"inputs": {nil, "Globs of the files that the build reads, with all files of a folder. If absent, the build is reused " +
			"only for the same commit without changes. Needs `outputs`."},
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
		"timeout": {nil, "Limit of one process, or of the [unit of the kind](builds.md#retries-and-hangs)."},
	},
	reflect.TypeFor[Pair](): {
		"setup":    {nil, "Step before. A list stands for `command`."},
		"teardown": {nil, "Step after, also where a failure came before. A list stands for `command`."},
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
		"when": {nil, "Cells and runs, as in `{backend: cuda*, host: h100-*}`: an axis or a swept variable, or the label of " +
			"the `host`, and a glob; `event` as in `levels`, and `profile`. If absent, all."},
		"change": {nil, "Change for the worse that blocks, such as `8%`, `0.5 s`, `8% and 0.5 s`, `0.5% + 0.5 us`, `3% and 4 mad`, " +
			"`noise 1% to 10%`, `+-10%` or `8% from 4 us`. See [Words](limits.md#words)."},
		"mean": {nil, "Loss of the geometric mean over all cells of the entry that blocks. See [Means](limits.md#means)."},
		"min": {nil, "Smallest median that passes, in the metric's unit, or `0.62 at 95%`, without a baseline. See " +
			"[Bounds](limits.md#bounds)."},
		"max": {nil, "Largest median that passes, as `min`."},
		"test": {nil, "Test by the program's standard errors: `one-sided` blocks a significant loss, `two-sided` a " +
			"significant difference, with `change` of at least that. See [Scores](scores.md#scores)."},
		"trade": {nil, "Loss that passes for a gain of another metric of the cell. See [Trades](limits.md#trades)."},
		"level": {nil, "`advisory` never blocks, `required` blocks on every [level](configuration.md#levels). If absent, " +
			"levels decide."},
	},
}
