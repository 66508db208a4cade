package cli

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/suite/kernels"
)

const kernelsRunHelp = `Measure the solutions of a folder of FlashInfer-Bench, and judge what they
computed: the reference and each solution run in processes of their own, and
outputs are compared here.

  accelgate kernels run                                      kernels that ship with accelgate, on any machine
  accelgate kernels run --local flashinfer-trace
  accelgate kernels run --local flashinfer-trace --solutions reference --definitions 'rmsnorm_*' --max-workloads 1
  accelgate kernels run --local flashinfer-trace --resume

Results are appended to the folder's traces as flashinfer-bench writes them,
and run.json is left in the folder of --out. Exit 0 means that every case passed,
1 that one did not, 3 that one could not be measured. A suite of kind kernels in
accelgate.yaml is judged against this host's baseline by 'accelgate run'.`

// kernelsRun is what the command was asked for.
type kernelsRun struct {
	measure.HostOptions
	measure.MeasureOptions
	changed                                  func(string) bool
	local, config, mode, reference, python   string
	device                                   string
	definitions, solutions, opTypes, points  []string
	maxWorkloads, warmup, iterations, trials int
	timeoutSeconds                           int
	rtol, atol, ratio                        float64
	noBaseline, isolated, noSave             bool
	replay                                   string
	profile                                  []string
	resumeTraces, json                       bool
}

func (c *Command) kernelsRunCommand(code *int) *cobra.Command {
	var k kernelsRun
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Measure solutions and judge their results",
		Long:  kernelsRunHelp,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			k.changed = cmd.Flags().Changed
			*code, err = c.kernelsRun(cmd.Context(), &k)
			return err
		},
	}
	k.addFlags(cmd.Flags())
	return cmd
}

func (k *kernelsRun) addFlags(f *pflag.FlagSet) {
	f.BoolVar(&k.json, "json", false, "print the run as JSON")
	f.StringVar(&k.local, "local", "", "`folder` of definitions, solutions, workloads and traces (default: what ships with accelgate)")
	f.StringVar(&k.config, "config", "", "evaluation settings, a YAML `file` as flashinfer-bench reads it")
	f.StringSliceVar(&k.definitions, "definitions", nil, "only these, `globs` separated by commas")
	f.StringSliceVar(&k.solutions, "solutions", nil,
		"only these, `globs`; reference and builtin are solutions that every definition may have")
	f.StringSliceVar(&k.opTypes, "op-types", nil, "only definitions of these `types`")
	f.StringSliceVar(&k.points, "workloads", nil, "only these `ids` or globs")
	f.Var((*count)(&k.maxWorkloads), "max-workloads", "at most `n` workloads of each definition, the smallest first")
	f.StringVar(&k.mode, "mode", "", "`rules` that judge outputs, strict or fib")
	f.StringVar(&k.reference, "reference", "", "`worker` of the reference: torch, go or auto")
	f.StringVar(&k.replay, "replay", "",
		"make the inputs of an earlier measurement once more, by the `secret` of its trace (evaluation.gate.secret)")
	f.StringSliceVar(&k.profile, "profile", nil, "`tools` that watch each solution that passed, after timing: ncu, compute-sanitizer")
	f.StringVar(&k.python, "python", "", "`program` that has torch (default: python3)")
	f.StringVar(&k.device, "device", "", "`device` of torch, as in cpu or cuda:0")
	f.IntVar(&k.warmup, "warmup-runs", 0, "calls before those that are timed, `n`")
	f.Var((*count)(&k.iterations), "iterations", "timed calls per trial, `n`")
	f.Var((*count)(&k.trials), "num-trials", "trials with fresh inputs, `n`")
	f.Var((*count)(&k.timeoutSeconds), "timeout", "`seconds` of a case")
	f.Float64Var(&k.rtol, "rtol", 0, "relative tolerance, `x`")
	f.Float64Var(&k.atol, "atol", 0, "absolute tolerance, `x`")
	f.Float64Var(&k.ratio, "required-matched-ratio", 0, "share of elements that must be within the tolerance, `x`")
	f.BoolVar(&k.noBaseline, "no-profile-baseline", false, "do not time the reference")
	f.BoolVar(&k.isolated, "use-isolated-runner", false, "a process of its own for each case")
	f.BoolVar(&k.noSave, "no-save-results", false, "append no traces")
	f.BoolVar(&k.resumeTraces, "resume", false,
		"keep the folder's traces of the same contents, settings and host; failures are measured again")
	f.StringVar(&k.Out, "out", filepath.Join(measure.DefaultOut, "kernels"), "`folder` for run.json and the journal")
	f.StringSliceVar(&k.Devices, "devices", nil, "`ids` of the accelerators to measure on")
	f.StringVar(&k.HostLabel, "host-label", "", "`label` of this host")
	f.StringVar(&k.Revision, "revision", "", "`commit` of the code under test (default: git's HEAD)")
}

func (c *Command) kernelsRun(ctx context.Context, k *kernelsRun) (int, error) {
	file, err := k.configuration()
	if err != nil {
		return 0, err
	}
	settled, err := c.env().ConfigOf(&measure.Options{HostOptions: k.HostOptions, MeasureOptions: k.MeasureOptions}, file, false)
	if err != nil {
		return 0, err
	}
	s, err := c.env().OpenHere(ctx, &settled)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	run, err := s.Measure(ctx, nil)
	if err != nil {
		return 0, err
	}
	if k.json {
		return exitOfKernels(run), c.encode(run)
	}
	return exitOfKernels(run), kernels.PrintRun(c.Stdout, run, s.Plan.OutPath("run.json"))
}

// exitOfKernels is green only if every case was measured and passed.
func exitOfKernels(run *bench.Run) int {
	has := func(o ...bench.Outcome) bool {
		return slices.ContainsFunc(run.Results,
			func(r bench.Result) bool { return !r.Cause.Infrastructure() && slices.Contains(o, r.Outcome) })
	}
	disturbed := slices.ContainsFunc(run.Results, func(r bench.Result) bool { return r.Cause.Infrastructure() })
	switch {
	case has(bench.Incorrect, bench.Failed, bench.Timeout):
		return exit.GateFailed
	case has(bench.Skipped) || disturbed || len(run.Results) == 0:
		return exit.NoMeasure
	}
	return exit.Passed
}

// configuration makes the configuration that accelgate.yaml would hold.
func (k *kernelsRun) configuration() (*config.File, error) {
	body := map[string]any{"name": "kernels", "kind": "kernels"}
	if err := k.paths(body); err != nil {
		return nil, err
	}
	for key, list := range map[string][]string{"definitions": k.definitions, "solutions": k.solutions, "op_types": k.opTypes, "workloads": k.points, "profile": k.profile} {
		if len(list) > 0 {
			body[key] = list
		}
	}
	for key, text := range map[string]string{"reference": k.reference, "python": k.python, "device": k.device, "replay": k.replay} {
		if text != "" {
			body[key] = text
		}
	}
	if k.maxWorkloads > 0 {
		body["max_workloads"] = k.maxWorkloads
	}
	body["isolated"] = k.isolated
	body["flags"] = k.flags()
	data, err := json.Marshal(map[string]any{"version": config.Version, "suites": []any{body}})
	if err != nil {
		return nil, err
	}
	return config.Parse("the command line", data)
}

func (k *kernelsRun) paths(body map[string]any) error {
	for key, name := range map[string]string{"dataset": k.local, "config": k.config} {
		if name == "" {
			continue
		}
		path, err := filepath.Abs(name)
		if err != nil {
			return exit.Usagef("%s: %w", name, err)
		}
		body[key] = path
	}
	if k.local != "" && !k.noSave {
		body["traces"] = body["dataset"]
	}
	if k.resumeTraces {
		body["resume"] = true
	}
	return nil
}

// flags are those of the evaluation settings that were given.
func (k *kernelsRun) flags() map[string]any {
	flags := map[string]any{}
	for name, of := range map[string]struct {
		key   string
		value any
	}{
		"mode": {"mode", k.mode}, "warmup-runs": {"warmup_runs", k.warmup}, "iterations": {"iterations", k.iterations},
		"num-trials": {"num_trials", k.trials}, "timeout": {"timeout_seconds", k.timeoutSeconds}, "rtol": {"rtol", k.rtol}, "atol": {"atol", k.atol},
		"required-matched-ratio": {"required_matched_ratio", k.ratio}, "no-profile-baseline": {"profile_baseline", !k.noBaseline},
	} {
		if k.changed(name) {
			flags[of.key] = of.value
		}
	}
	return flags
}
