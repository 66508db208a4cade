package kernels

import (
	"reflect"

	"github.com/accelgate/accelgate/internal/config"
)

// keys describes the keys of this kind.
var keys = config.Keys{
	reflect.TypeFor[body](): {
		"dataset": {
			Text: "Folder of `definitions`, `solutions`, `workloads`, `traces` and `blob`. If absent, accelgate's own kernels, " +
				"on the Go worker.",
		},
		"config": {
			Text: "File of flashinfer-bench's evaluation [settings](kernels.md#settings), and of `mode`, `outputs` and " +
				"`evaluators`.",
		},
		"definitions": {Text: "Globs of definitions, all if absent. One that names nothing is an error."},
		"op_types":    {Text: "Globs of op types, as `definitions`."},
		"solutions": {
			Text: "As `definitions`. `reference` and `builtin` are the definition's reference once more, and the Go worker's kernel.",
		},
		"workloads":     {Text: "Globs of workloads, as `definitions`."},
		"max_workloads": {Text: "Bound for the workloads of each definition, the smallest first."},
		"reference":     {Absent: "auto", Text: "Worker of the references: `torch`, `go`, or `auto` (torch where Python has it)."},
		"python":        {Absent: "python3", Text: "Python of the workers."},
		"cc":            {Absent: "cc", Text: "C compiler of the workers."},
		"device":        {Text: "torch's device, as in `cuda:0`. If absent, the best there is."},
		"isolated":      {Absent: false, Text: "`true`: a new process for each solution and workload, whatever `config` has."},
		"cuda_graph": {
			Absent: false,
			Text:   "`true`: a [CUDA graph](kernels.md#times-of-the-device) of each call is timed, too.",
		},
		"cold_cache": {Text: "Whether the device's caches are emptied before each call. If absent, on every device but the CPU."},
		"max_input_gib": {
			Absent: 24,
			Text: "Cells whose inputs take more GiB are skipped. Random inputs count four times, others once. Both workers hold " +
				"them, and outputs.",
		},
		"scratch": {Text: "Folder for outputs, best in memory, such as `/dev/shm`."},
		"build_cache": {
			Text: "Folder that keeps [compiled solutions](kernels.md#builders) for later runs, up to 4 GiB.",
		},
		"traces": {
			Text: "Folder that results are appended to, as flashinfer-bench writes them.",
		},
		"resume": {
			Absent: false,
			Text:   "`true` keeps cases that passed in `traces` with the same contents, settings and host.",
		},
		"profile": {
			Text: "[Tools](kernels.md#other-tools): `ncu`, `compute-sanitizer`.",
		},
		"timeouts": {Text: "Bounds for the phases of a worker."},
		"repeats":  {Absent: 1, Text: "Measurements of each cell, up to 1000."},
		"replay": {
			Text: "`evaluation.gate.secret` of a trace, to repeat its random inputs. For analysis only: a solution can be " +
				"prepared for them.",
		},
		"flags": {Text: "Settings in place of `config`'s. Defaults are in parentheses."},
	},
	reflect.TypeFor[timeouts](): {
		"start":   {Absent: "2m", Text: "From the start to the first reply."},
		"build":   {Absent: "5m", Text: "Building a solution, or one call of its setup."},
		"load":    {Absent: "5m", Text: "Making, saving or releasing a tensor, or checking the device."},
		"run":     {Absent: "1m", Text: "One call."},
		"profile": {Absent: "10m", Text: "One tool of `profile`."},
		"time":    {Absent: "5m", Text: "One request to time calls, warm-up included."},
	},
	reflect.TypeFor[flags](): {
		"mode": {
			Text: "`strict` (the default) or `fib`, see [Who judges](kernels.md#who-judges).",
		},
		"warmup_runs": {Text: "Calls before the timed ones (10)."},
		"iterations":  {Text: "Timed calls per trial (50)."},
		"num_trials":  {Text: "Trials with fresh inputs (3)."},
		"rtol":        {Text: "Relative tolerance (the mode's)."},
		"atol":        {Text: "Absolute tolerance (the mode's)."},
		"required_matched_ratio": {
			Text: "Share of the elements that must be within the tolerance (the evaluator's).",
		},
		"profile_baseline": {Text: "Whether the reference is timed too (`true`)."},
		"timeout_seconds":  {Text: "Seconds that one case may take, with its build (300)."},
	},
}
