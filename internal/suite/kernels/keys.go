package kernels

import (
	"reflect"

	"github.com/accelgate/accelgate/internal/config"
)

// keys describes the keys of this kind.
var keys = config.Keys{
	reflect.TypeFor[body](): {
		"dataset": {
			Text: "Folder of `definitions`, `solutions`, `workloads`, `traces` and `blob`. If absent, the kernels that ship with accelgate, on the Go worker.",
		},
		"config": {
			Text: "File of evaluation settings, the YAML that flashinfer-bench reads, with `mode`, `outputs` and `evaluators` in addition; " +
				"see [Settings](kernels.md#settings).",
		},
		"definitions": {Text: "Globs of definitions, all if absent. One that names nothing is an error."},
		"op_types":    {Text: "Globs of op types, all if absent. One that names nothing is an error."},
		"solutions": {
			Text: "Globs of solutions, all if absent. One that names nothing is an error. `reference` and `builtin` are solutions that every definition may have: its reference once more, and the Go worker's kernel.",
		},
		"workloads":     {Text: "Globs of workloads, all if absent. One that names nothing is an error."},
		"max_workloads": {Text: "Bound for the workloads of each definition, the smallest first."},
		"reference":     {Absent: "auto", Text: "Worker of the references: `torch`, `go`, or `auto` (torch where Python has it)."},
		"python":        {Absent: "python3", Text: "Python of the workers."},
		"cc":            {Absent: "cc", Text: "C compiler of the workers."},
		"device":        {Text: "torch's device, as in `cuda:0`. If absent, the best there is."},
		"isolated":      {Absent: false, Text: "`true`: a new process for each solution and workload, whatever `config` has."},
		"cuda_graph": {
			Absent: false,
			Text:   "`true`: a CUDA graph of each call is timed as well, for `evaluation.gate.device` of the traces; see [Times of the device](kernels.md#times-of-the-device).",
		},
		"cold_cache": {Text: "Whether the device's caches are emptied before each call. If absent, on every device but the CPU."},
		"max_input_gib": {
			Absent: 24,
			Text:   "Cells whose inputs take more GiB are skipped. All that is held counts: random inputs four times (a trial's sets and one more), others once, and all of it in both workers; outputs come on top.",
		},
		"scratch": {Text: "Folder for outputs, best in memory, such as `/dev/shm`."},
		"build_cache": {
			Text: "Folder where compiled solutions are kept for later runs, up to 4 GiB. If absent, they are kept for one run. Solutions of one user can change what is in it; see [Builders](kernels.md#builders).",
		},
		"traces": {
			Text: "Folder that results are appended to as flashinfer-bench writes them, where no link is followed. If absent, none are written.",
		},
		"resume": {
			Absent: false,
			Text:   "`true` keeps what passed in `traces` with the same contents (tensor files and evaluators of one's own included), settings and host.",
		},
		"profile": {
			Text: "Tools that watch each solution that passed, after timing: `ncu`, `compute-sanitizer`; see [Other tools](kernels.md#other-tools). If absent, none.",
		},
		"timeouts": {Text: "Bounds for the phases of a worker."},
		"repeats":  {Absent: 1, Text: "Measurements of each cell, up to 1000."},
		"replay": {
			Text: "`evaluation.gate.secret` of a trace: its random inputs are made once more, to look into a failure. A solution can be prepared for them, so no verdict should rest on such a run. If absent, each measurement has a secret of its own.",
		},
		"flags": {Text: "Settings over those of `config`, as the options of `accelgate kernels run` are."},
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
			Text: "Rules that judge outputs: `strict` or `fib`, see [Who judges](kernels.md#who-judges). If no setting gives it, `strict`.",
		},
		"warmup_runs": {Text: "Calls before those that are timed. If no setting gives it, 10."},
		"iterations":  {Text: "Timed calls per trial. If no setting gives it, 50."},
		"num_trials":  {Text: "Trials with fresh inputs. If no setting gives it, 3."},
		"rtol":        {Text: "Relative tolerance. If no setting gives it, the mode's."},
		"atol":        {Text: "Absolute tolerance. If no setting gives it, the mode's."},
		"required_matched_ratio": {
			Text: "Share of the elements that must be within the tolerance, above 0 and at most 1. If no setting gives it, the evaluator's.",
		},
		"profile_baseline": {Text: "Whether the reference is timed too. If no setting gives it, `true`."},
		"timeout_seconds":  {Text: "Seconds that one case may take, with its build. If no setting gives it, 300."},
	},
}
