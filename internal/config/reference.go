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
	stepCommand = "Program and its arguments, which no shell interprets."
	stepDir     = "Folder in which it starts. If absent, that of the configuration."
	stepEnv     = "Variables besides the [environment of a child](builds.md#environment-of-a-child)."
	stepTimeout = "Longest duration. At its end the command and all that it started are ended."
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
		"name": {nil, "Name of this configuration among several of the repository: 1 to 32 of `a-z`, `0-9` and `-`. " +
			"Baselines, history, comment, check, artifacts and refresh PRs are then its own. See [Several configurations](github.md#several-configurations)."},
		"baselines": {"baselines", "Reference that runs are compared with. A text stands for `path`. " +
			"See [Baselines](baselines.md#baselines)."},
		"host":   {nil, "The host that measures."},
		"policy": {nil, "Limits of the gate."},
		"limits": {nil, "Limits of the cost of a run. The run and the report list the cells that a limit left out."},
		"build": {
			nil,
			"Command that builds the checkout before anything is measured. A list stands for `command`. See [Builds](builds.md#builds).",
		},
		"artifacts": {
			nil,
			"Models, datasets and other files that suites use, by name. `{artifact.NAME}` in any text of a suite or of a build stands for the path of one. " +
				"See [Artifacts](artifacts.md).",
		},
		"ab": {nil, "The base that `accelgate run --ab` measures in pairs with the code under test."},
		"runners": {
			nil,
			"Hosts of the project, and the suites of each. The called workflow measures on them if its input `hosts` is empty. " +
				"For each, `accelgate plan --for github` prints jobs. " +
				"`accelgate plan --shards auto --max-minutes 20 --durations FOLDER` makes as few shards as take 20 minutes each by the median times of earlier runs. " +
				"It keeps cells together that share what a persistent process has loaded, and reports how far from the bound the longest shard is.",
		},
		"suites": {nil, "Cells to measure. Each kind has [further keys](configuration.md#kinds)."},
	},
	reflect.TypeFor[Baselines](): {
		"path": {
			"baselines",
			"Folder of the committed baselines. If absent and there is a `name`, the folder of that name in `baselines`. Each configuration needs a folder of its own. " +
				"The cells of another configuration would be missing from every run, which blocks and names their suite.",
		},
		"repository": {
			nil,
			"Repository that has the folder, in place of this checkout: `OWNER/NAME` on the GitHub server, an https or ssh address, or a path that begins with `./`, `../` or `/`. " +
				"See [Baselines elsewhere](baselines.md#baselines-elsewhere).",
		},
		"ref": {
			nil,
			"Branch, tag or full commit that has the folder. If absent, `HEAD` of `repository`. Without `repository`, it is one of this repository.",
		},
		"from": {
			"files",
			"`files`: the committed baseline of the host. `history`: the median of the last runs of its [history](baselines.md#history), so no file is " +
				"committed. `history-mean`: their mean. " +
				"See [Baselines from the history](baselines.md#baselines-from-the-history).",
		},
		"devices": {nil, "Files that hosts with the same device share, and that judge a replaced host. Later entries win. " +
			"See [Hosts with the same device](baselines.md#hosts-with-the-same-device)."},
		"runs": {5, "Runs of the history that a baseline rests on, 1 to 40: the median or mean of their medians counts."},
		"fetch": {nil, "Command that reads a baseline from a store, such as a bucket: it writes the file `{name}` of the store to `{file}`, or nothing if the store " +
			"does not have it, as in `[./store.sh, get, \"{name}\", \"{file}\"]`. See [A store of your own](baselines.md#a-store-of-your-own)."},
		"publish": {nil, "Command by which `baseline update` writes `{file}` to the store as `{name}`. If absent, it prints where to write it."},
		"max_age": {nil, "Age from which on the report warns of a baseline: `30 days`, or `20 runs` of the default branch in the history since. " +
			"`baseline lint` warns after 90 days if absent."},
		"min_move": {nil, "Share of its limit by which a number must have moved for `baseline update` to rewrite it, as in `25%`. " +
			"If absent, numbers that moved within their noise stay."},
	},
	reflect.TypeFor[Shared](): {
		"name": {nil, "The file is `baseline-<name>.json`, in place of the host's own."},
		"model": {
			nil,
			"Glob of the model of all accelerators of the host, as in `NVIDIA H100*`, or of its CPU if it has none. `accelgate doctor` prints them.",
		},
		"hosts": {"*", "Glob of the labels of the hosts."},
	},
	reflect.TypeFor[Pairing](): {
		"from_head": {
			nil,
			"Globs of files that the base gets from the code under test before it is built, as in `[bench/**, scripts/bench.py]`: " +
				"the head's harness measures the base's sources. See [The head's harness](base.md#the-heads-harness).",
		},
	},
	reflect.TypeFor[Host](): {
		"label": {
			nil,
			"Label of this host, which selects `baseline-<label>.json`. Flag `--host-label` wins over variable `ACCELGATE_HOST_LABEL`, which wins over this key. " +
				"If all are absent, the label is that of the detected hardware: `linux-cuda`, `macos-mlx`, `windows-cuda`, `linux-rocm`, `linux-cpu`, ...",
		},
		"devices": {nil, "Accelerators to measure on, one cell at a time on each, as in `[0, 1]`, or `[mig]` for all MIG slices. " +
			"Flag `--devices` wins over variable `ACCELGATE_DEVICES`, which wins over this key. See [Devices](devices.md#devices)."},
		"health": {
			"auto",
			"`auto` watches the host while it measures, `off` does not. Flag `--health` wins over variable `ACCELGATE_HEALTH`, which wins over this key. " +
				"See [Health of the host](devices.md#health-of-the-host).",
		},
		"cache": {
			nil,
			"Folder of [artifacts](artifacts.md), which all runs on the host share. Variable `ACCELGATE_CACHE` wins over this key. " +
				"If absent, `accelgate/hub` in the user's folder of caches.",
		},
		"cache_gib": {256, "Limit of that folder in gibibytes. Variable `ACCELGATE_CACHE_GIB` wins over this key. " +
			"The least recently used files that no run uses are removed first."},
	},
	reflect.TypeFor[Artifact](): {
		"url":    {nil, "Address of one file, by `https` or `http`, that needs no login. Excludes `hub`."},
		"sha256": {nil, "SHA-256 of the file at `url`, 64 digits. It is required there."},
		"size":   {nil, "Bytes of the file at `url`. If absent, the server is asked."},
		"hub": {nil, "Model on the Hugging Face hub, as in `org/name`, or dataset, as in `datasets/org/name`. " +
			"`HF_TOKEN` and `HF_ENDPOINT` have the meaning that the hub's own clients give them."},
		"revision": {nil, "Commit on the hub, 40 digits. It is required there, because a branch may move."},
		"file": {nil, "With `hub`, the one file to get; the placeholder is its path. With `url`, the name that the file gets. " +
			"If absent, the last part of the URL."},
		"files": {
			nil,
			"Globs of the files to get from the hub. One without a slash matches in every folder. The placeholder is the path of the folder. If absent, all files.",
		},
	},
	reflect.TypeFor[Policy](): {
		"threshold": {"10%", "Change for the worse beyond which a metric blocks. A change of exactly the threshold passes. " +
			"Flag `--threshold` wins over this key."},
		"require_baseline": {
			false,
			"If `true`, a run does not pass if no baseline can judge its speed, if no metric of a suite was compared, or if a gated number has no baseline or one of 0. " +
				"Flag `--require-baseline` has the same effect. The action does so unless its input is `false`.",
		},
		"method": {
			"evidence",
			"`evidence` judges speed by pairs, else by earlier runs, where there is enough of either, and by the threshold elsewhere. " +
				"`threshold` judges by the threshold alone. See [How speed is judged](configuration.md#how-speed-is-judged).",
		},
		"min_effect": {nil, "Change for the worse below which evidence raises no alarm. " +
			"If absent, `policy.threshold` if that is given, else 2%."},
		"false_alarms": {
			"2%",
			"Chance that a report on unchanged code blocks for speed, whatever the number of cells: the level of the tests. " +
				"Measured at 2%: 0.3% in pairs, 0.6% by 3 new runs against history, 3.4% by the next run of the default branch, " +
				"6.3% by two sessions of a loaded host. " +
				"Expect more on other hosts: held-out accelerators had 7.0% by 3 new runs and 7.9% by 5. " +
				"See [What a whole report promises](detection.md#what-a-whole-report-promises).",
		},
		"inconclusive": {"warn", "Whether an [undecided](verdicts.md#certainty) result blocks. " +
			"With `warn`, an undecided loss beyond its limit makes the check `action_required`. " +
			"With fewer pairs than are needed, a loss of more than `policy.threshold` blocks in any case (p at most 0.01)."},
		"improvement": {
			"pass",
			"Effect of a certain improvement beyond the limit that the baseline does not have. `fail` blocks until the baseline is updated. " +
				"See [Improvements](limits.md#improvements).",
		},
		"levels": {
			nil,
			"Occasions on which numbers beyond their limits warn instead of blocking. Later entries win. See [Levels](configuration.md#levels).",
		},
		"unhealthy": {"inconclusive", "Effect of an unhealthy host on a loss, or of a calibration workload that shows the same loss. " +
			"`inconclusive` leaves the loss [undecided](verdicts.md#certainty). `ignore` judges it like any other. " +
			"Pairs are valid on any host."},
		"remeasure": {3, "Times that a suspect is measured again before it blocks, 0 to 100, after a cool-down, in fresh processes. " +
			"The new values alone judge it. 0 turns this off."},
		"drift": {
			nil,
			"Change for the worse, since a cell's anchor, beyond which a metric blocks as drifted. If absent, the larger of `policy.threshold` and 10%. 0 turns this off. " +
				"The anchor is the median that a baseline's entry was created with. No refresh moves it, only `accelgate baseline anchor --reason TEXT` does. " +
				"So losses that are each within the threshold add up. A loss within the noise of the cell is undecided.",
		},
		"implausible": {100, "Factor between two numbers, 2 to 1000000, beyond which a change is *implausible*. " +
			"Such a change blocks in both directions and is not recorded without `--force`."},
		"fingerprint": {
			nil,
			"Effect of a baseline of another host: `refuse` blocks, `warn` shows the speed without judging it, and `ignore` judges it. " +
				"If absent, other accelerators, or none where the baseline has some, are refused, and another CPU is a warning. " +
				"Another host of the same kind is judged, with a warning that proposes a label; `ignore` silences it. " +
				"Digests of the machine id, the UUIDs of NVIDIA devices and the serial numbers of AMD devices separate such hosts.",
		},
		"left_out": {"fail", "Effect of a cell of the baseline that a limit left out."},
		"compat": {
			nil,
			"`tensorsharp` judges by TensorSharp.TestMatrix's rules, see [Other tools' files](configuration.md#other-tools-files). " +
				"`msmodeling` judges [cases](cases.md) by msmodeling's, `msmodeling@84fec85` by those before it had groups.",
		},
		"history": {
			nil,
			"Folder of the history, `history-<label>.jsonl`. If absent, `history` in the folder of baselines. Flag `--history` wins over this key. " +
				"See [History](baselines.md#history).",
		},
		"history_keep": {200, "Newest runs of a host that are kept, 40 to 1000. See [History](baselines.md#history)."},
		"config_changes": {
			"block",
			"Approval that a pull request needs if it changes the checks. `block`: of a user with write permission. " +
				"`other-person`: of another user than its author. `warn`: none. The base branch's value counts. See [Configuration changes](github.md#configuration-changes).",
		},
		"quarantine": {
			nil,
			"File of flaky cells that do not block for a while. If absent, `quarantine.yml` beside this file, if it exists. See [Quarantine](configuration.md#quarantine).",
		},
		"waivers": {
			nil,
			"File of accepted regressions. If absent, `waivers.yml` beside this file, if it exists. See [Waivers](configuration.md#waivers).",
		},
	},
	reflect.TypeFor[Limits](): {
		"max_cells": {nil, "Largest number of cells to measure, the first of the matrix. Flag `--max-cells` wins over this key."},
		"budget": {nil, "End measuring after this time, as in `90m`. Flag `--budget` wins over this key. " +
			"Every cell of every suite is measured once before any is measured twice, so a budget costs repeats before it costs cells."},
		"retries": {
			0,
			"Retries after an infrastructure failure, 0 to 10: the program could not be started, or `failures` of the suite names it. " +
				"A crash or a timeout is repeated only by `retries` of the suite, an incorrect answer never. The exception is a crash of a persistent process that had served other cells: a fresh process confirms it.",
		},
		"cool_down": {nil, "Wait before cells are measured again. If absent, 5s on devices and none elsewhere."},
		"lease":     {"30m", "Longest wait for devices that another job uses."},
	},
	reflect.TypeFor[Runner](): {
		"host": {nil, "Label of the host, which selects the baseline. A host has one entry."},
		"runs_on": {nil, "Labels of the GitHub runner, as a list, or one of `slurm` and `kubernetes`. " +
			"If absent, every target plans jobs for the host: " +
			"on GitHub, for runners with the labels `self-hosted` and that of the host."},
		"suites": {nil, "Names of the suites that the host measures. " +
			"The others are left out of its runs, its plan and its verdict. If absent, all."},
		"shards": {1, "Jobs to split the matrix over, up to 256. Excludes `longest`."},
		"longest": {
			nil,
			"Longest time that a job should measure, as in `20m`, in place of `shards`. The called workflow makes as few jobs as " +
				"keep to it by the times of the history, and `accelgate plan --for` by those of `--durations`.",
		},
	},
	reflect.TypeFor[RunsOn](): {
		"labels": {nil, "Labels of the GitHub runner."},
		"slurm": {nil, "Options of sbatch, as in `[--partition=h100, --account=ci]`. " +
			"`--gres=gpu:h100` gets the number of devices that cells need. See [Clusters](clusters.md)."},
		"kubernetes": {nil, "Pods of an indexed Job. See [Clusters](clusters.md#kubernetes)."},
	},
	reflect.TypeFor[Kubernetes](): {
		"image": {nil, "Image with accelgate, and with the checkout and its build as working directory."},
		"nodes": {nil, "Labels of the nodes, as in `{nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}`. " +
			"If absent, `accelgate/host` with the label of the host."},
	},
	reflect.TypeFor[Suite](): {
		"name": {nil, "Name of the suite, unique in the file: 1 to 64 letters, digits, `.`, `-` or `_`, the first a letter or digit."},
		"kind": {nil, "Kind of the suite, see [Kinds](configuration.md#kinds)."},
		"build": {
			nil,
			"Command that builds the checkout for this suite. A mapping is run before anything is measured, see [Builds](builds.md#builds). " +
				"A list, as in `[make]`, is run only where `run` makes [the base](base.md) itself, on both sides.",
		},
		"setup": {
			nil,
			"Step before the first cell of the suite. A list stands for `command`. See [Setup and services](builds.md#setup-and-services).",
		},
		"teardown": {
			nil,
			"Step after the last cell, also where cells or the setup failed and where a signal ended the run. A list stands for `command`.",
		},
		"each": {nil, "Steps around each measurement of a cell."},
		"per_model": {
			nil,
			"Steps around consecutive cells of one model on one device: before the model is loaded, and after it is released. " +
				"The cells need an axis `model`. See [Setup and services](builds.md#setup-and-services).",
		},
		"service": {nil, "Program that runs while cells of the suite are measured."},
		"retries": {
			nil,
			"Retries of a measurement, 0 to 10, by the cause of its failure: `crash`, `machine`, `oom`, `silent`, `start` or `timeout`. " +
				"`start` and `machine` are in place of `limits.retries`. See [Retries and hangs](builds.md#retries-and-hangs).",
		},
		"no_output": {nil, "Longest time in which a child prints nothing, as in `60s`. It is then ended, with the cause `silent`. " +
			"See [Retries and hangs](builds.md#retries-and-hangs) for each kind."},
		"on_timeout":    {nil, "`dump`: a child that is ended at its bound or at `no_output` prints its stacks into the log first."},
		"cell_timeouts": {nil, "Bounds of some cells, in place of the kind's own bound. Later entries win."},
		"devices": {
			1,
			"Devices that a cell needs at once, as in `2`, `{nvidia: 4, same_node: true}` or `[{when: {tp: 4}, count: 4}]`. Later entries win over earlier ones. " +
				"A cell is skipped where the host has fewer. See [Devices](devices.md#devices).",
		},
		"cpus": {
			nil,
			"Processors on which children run, as in `0-15` or `0-7,32-39`; a list has one such entry for each of `host.devices`. Linux, and containers. " +
				"See [Devices](devices.md#devices).",
		},
		"numa": {
			nil,
			"NUMA node of children, as in `0` or `auto`, which is that of the cell's device: they run on its processors, unless `cpus` names others, and all of their memory comes from it. " +
				"A list has one such entry for each of `host.devices`. Linux, and containers. See [Devices](devices.md#processors-and-memory).",
		},
		"limits": {nil, "Limits of single metrics. Later entries win over earlier ones, value by value, and over `limit` of the metric. " +
			"See [Limits of single metrics](limits.md)."},
		"fits": {nil, "Straight lines of a metric over an axis, whose slope and intercept are judged. See [Fits](scores.md#fits)."},
		"relations": {nil, "Metrics that are the ratio or difference of two others, by name, as in `{vs_eager: \"step_ms / step_ms[mode=eager]\"}`. " +
			"See [Relations](steps.md#relations)."},
		"levels": {nil, "Cells, and occasions, whose numbers beyond their limits warn instead of blocking. " +
			"Later entries win, and all win over `policy.levels`. See [Levels](configuration.md#levels)."},
	},
	reflect.TypeFor[Level](): {
		"event": {
			nil,
			"Occasion that the entry is for: the event of the workflow, `tag` for a push of a tag, or `desk` for a run outside of the action. Runs for a pull request, however started, are `pull_request`. If absent, every occasion.",
		},
		"label": {
			nil,
			"Label of the pull request that the entry is for. One that makes numbers advisory counts only if a user with write permission set it. If absent, no label is needed.",
		},
		"level": {nil, "`advisory`: numbers beyond their limits warn. `required`: they block."},
	},
	reflect.TypeFor[SuiteLevel](): {
		"when": {
			nil,
			"Cells that the entry is for, as in `{backend: cuda*, host: h100-*}`: an axis, a swept variable or `host`, which is the label of the host, and a glob. " +
				"If absent, all cells of the suite on all hosts.",
		},
		"event": {
			nil,
			"Occasion that the entry is for: the event of the workflow, `tag` for a push of a tag, or `desk` for a run outside of the action. Runs for a pull request, however started, are `pull_request`. If absent, every occasion.",
		},
		"label": {
			nil,
			"Label of the pull request that the entry is for. One that makes numbers advisory counts only if a user with write permission set it. If absent, no label is needed.",
		},
		"level": {nil, "`advisory`: numbers beyond their limits warn. `required`: they block."},
	},
	reflect.TypeFor[Fit](): {
		"metric": {nil, "Name of the metric. It may be informational."},
		"over":   {nil, "Axis or swept variable with at least 3 numbers. Cells that differ in it alone are the points of one line."},
		"values": {nil, "Numbers that replace values of the axis, as in `{short: 512}`. Required for values that are not numbers."},
		"per":    {1, "Units of the axis that the slope is per, as in `1000`."},
		"when": {
			nil,
			"Cells of the fit, as in `{backend: cuda*, host: h100-*}`: an axis, a swept variable or `host`, which is the label of the host, and a glob. " +
				"If absent, all cells of the suite with a value of the axis, on all hosts.",
		},
		"slope":     {nil, "Limits of the slope."},
		"intercept": {nil, "Limits of the intercept, the value at 0."},
	},
	reflect.TypeFor[FitLimit](): {
		"change": {nil, "Change for the worse, relative to the coefficient of the reference, that blocks. Above 0%."},
		"min":    {nil, "Smallest coefficient that passes, in the metric's unit. No baseline is needed."},
		"max":    {nil, "Largest coefficient that passes, in the metric's unit. No baseline is needed."},
	},
	reflect.TypeFor[Trade](): {
		"loss": {nil, "Largest loss of the metric that a trade lets pass, above its `change`."},
		"for": {
			nil,
			"Name of the metric of the same cell that pays with its gain. It must be gated; a [resource](scores.md#resources) needs an entry with `change`.",
		},
		"gain": {nil, "Smallest gain of that metric that pays. It must be as certain as a loss that blocks."},
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
		"same_node": {false, "`true`: all devices of the cell are attached to one NUMA node. A cell is skipped where no node has enough. " +
			"See [Devices](devices.md#devices-of-one-node)."},
		"nodes": {
			1,
			"Nodes of a cluster that the cell spans, each with so many devices. A cell is skipped where the job has fewer nodes. " +
				"See [Clusters](clusters.md#cells-that-span-nodes).",
		},
		"mig": {nil, "Profile of the MIG slice that the cell needs, as in `1g.10gb`. A cell is skipped where the run has none. " +
			"See [MIG slices](devices.md#mig-slices)."},
	},
	reflect.TypeFor[Build](): {
		"command": {nil, stepCommand},
		"dir":     {nil, stepDir},
		"env":     {nil, stepEnv},
		"timeout": {"1h", stepTimeout},
		"inputs": {
			nil,
			"Globs of the files that the build reads; a folder stands for all files in it. If absent, the build is reused only for the same commit with nothing changed. " +
				"Needs `outputs`.",
		},
		"outputs": {
			nil,
			"Globs of the files that the build writes, all of which must be there after it. If absent, the build is run each time.",
		},
	},
	reflect.TypeFor[Step](): {
		"command": {nil, stepCommand},
		"dir":     {nil, stepDir},
		"env":     {nil, stepEnv},
		"timeout": {"10m", stepTimeout},
	},
	reflect.TypeFor[CellTimeout](): {
		"when":    {nil, "Cells that the entry is for, as in [`limits`](keys.md#suiteslimits)."},
		"timeout": {nil, "Bound for one process, or for the [unit of the kind](builds.md#retries-and-hangs)."},
	},
	reflect.TypeFor[Pair](): {
		"setup":    {nil, "Step before. A list stands for `command`."},
		"teardown": {nil, "Step after, also where a failure came before. A list stands for `command`."},
	},
	reflect.TypeFor[Service](): {
		"command": {nil, stepCommand},
		"dir":     {nil, stepDir},
		"env":     {nil, stepEnv},
		"ready":   {nil, "How the service shows that it is up: one of `http`, `tcp` and `command`."},
	},
	reflect.TypeFor[Ready](): {
		"http":    {nil, "URL that answers a GET with a status from 200 to 399. Proxies are not used, and redirects are not followed."},
		"tcp":     {nil, "Address that accepts connections, as in `127.0.0.1:8080`."},
		"command": {nil, "Command that exits with 0."},
		"within":  {"60s", "Longest wait. A service that is not up by then fails all cells of the suite."},
	},
	reflect.TypeFor[Limit](): {
		"metric": {nil, "Name of the metric, or of a [resource](scores.md#resources)."},
		"when": {
			nil,
			"Cells and runs that the entry is for, as in `{backend: cuda*, host: h100-*}`: an axis or a swept variable, `host`, which is the label of the host, " +
				"and a glob; `event` as in `levels`, and `profile`. If absent, all cells on all hosts.",
		},
		"change": {nil, "Change for the worse that blocks, in place of `policy.threshold` and `policy.min_effect`: `8%`, `0.5 s`, " +
			"the larger one of `8% and 0.5 s`, the sum `0.5% + 0.5 us`, or `noise 1% to 10%`. `+-10%` limits changes for the better too, " +
			"and `8% from 4 us` leaves smaller references unjudged. See [Limits](limits.md)."},
		"mean": {nil, "Change for the worse of the geometric mean over all cells of the entry that blocks, as in `1%`. The metric may be informational. " +
			"See [Means](limits.md#means)."},
		"min": {nil, "Smallest median that passes, in the metric's unit. `0.62 at 95%`: the interval of 95 % must not reach below it. No baseline is needed."},
		"max": {nil, "Largest median that passes, as `min`."},
		"test": {nil, "Test by the standard errors that the program reports, in place of `policy.threshold`. " +
			"`one-sided` blocks a significant loss, `two-sided` a significant difference. " +
			"With `change`, it must also be at least that. See [Scores](scores.md#scores)."},
		"trade": {nil, "A loss that passes because another metric of the same cell gains. See [Trades](limits.md#trades)."},
		"level": {nil, "`advisory`: the entry warns and never blocks. `required`: it blocks on every [level](configuration.md#levels). If absent, levels decide."},
	},
}
