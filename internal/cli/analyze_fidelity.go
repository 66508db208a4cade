package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/accelgate/accelgate/internal/atomicfile"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/suite/analysis"
	"github.com/accelgate/accelgate/internal/suite/analysis/hfhub"
	"github.com/accelgate/accelgate/internal/suite/analysis/lowrank"
	"github.com/accelgate/accelgate/internal/tensor"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/verdict"
)

const fidelityHelp = `Decompose the weights of a checkpoint as orthogonal subspace fine-tuning does,
put them together again, and measure what was lost. Without --compute and
--storage, in the three combinations that are common.

  accelgate analyze fidelity                                     a small generated checkpoint
  accelgate analyze fidelity --model ./model --storage bfloat16
  accelgate analyze fidelity --model Qwen/Qwen2.5-0.5B           from the Hugging Face hub, cached
  accelgate analyze fidelity --model ./model --factors ./osft    factors that were made elsewhere
  accelgate analyze fidelity --model ./model --world-size 4 --rank 0 --part 0.json
  accelgate analyze fidelity --merge 0.json,1.json,2.json,3.json

The exit code is 1 where a parameter of the first combination is beyond the
tolerance, or where anything could not be compared at all: a missing factor,
NaN, singular vectors that are not orthogonal, no parameter.`

// alone refuses flags that have no effect beside another one.
func alone(flags *pflag.FlagSet, name string, with ...string) (err error) {
	flags.Visit(func(f *pflag.Flag) {
		if err == nil && f.Name != name && !slices.Contains(with, f.Name) {
			err = exit.Usagef("--%s has no effect beside --%s: leave it out", f.Name, name)
		}
	})
	return err
}

// fidelityFlags are the flags of analyze fidelity.
type fidelityFlags struct {
	analysis.Source
	factors, compute, storage, family, solver, strategy, part, export, format string
	patterns, merge                                                           []string
	ratio, tolerance, degrees                                                 float64
	world, rank                                                               int
	json                                                                      bool
}

func (c *Command) fidelityCommand(code *int) *cobra.Command {
	var o fidelityFlags
	cmd := &cobra.Command{
		Use:   "fidelity",
		Short: "Measure the error of decomposed weights",
		Long:  fidelityHelp,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if len(o.merge) > 0 {
				if err := alone(cmd.Flags(), "merge", "format", "json"); err != nil {
					return err
				}
			}
			*code, err = c.analyzeFidelity(cmd.Context(), &o)
			return err
		},
	}
	o.add(cmd.Flags())
	return cmd
}

func (o *fidelityFlags) add(f *pflag.FlagSet) {
	d := lowrank.Defaults()
	f.StringVar(&o.Name, "model", "", "`folder`, file or id on the Hugging Face hub (default: a small generated checkpoint)")
	f.StringVar(&o.Revision, "revision", "", "`branch`, tag or commit on the hub")
	f.StringVar(&o.Cache, "cache", "", "`folder` for models of the hub (default: the user's cache)")
	f.StringVar(&o.factors, "factors", "", "checkpoint with factors to verify, a `path`")
	f.StringVar(&o.compute, "compute", "", "`type` that is computed in: float64 or float32")
	f.StringVar(&o.storage, "storage", "", "`format` of the factors: float64, float32, float16 or bfloat16")
	f.StringVar(&o.family, "family", "", "`name` that chooses the weights, as in llama or phi3 (default: the model's name)")
	f.StringSliceVar(&o.patterns, "patterns", nil, "`parts` of the names of weights, in place of a family's")
	f.Float64Var(&o.ratio, "rank-ratio", d.RankRatio, "share of the singular triplets that is frozen, `x`")
	f.Float64Var(&o.tolerance, "tolerance", d.Tolerance, "absolute and relative, `x`")
	f.Float64Var(&o.degrees, "max-degrees", d.MaxDegrees, "from a right angle, `x`")
	f.StringVar(&o.solver, "solver", "auto", "auto, go or openblas")
	f.IntVar(&o.world, "world-size", 0, "`n` processes that share the work")
	f.IntVar(&o.rank, "rank", 0, "which of them this one is, `i` from 0")
	f.StringVar(&o.strategy, "strategy", string(lowrank.LPT), "how weights are shared: lpt, contiguous or round-robin")
	f.StringVar(&o.part, "part", "", "`file` for this rank's results")
	f.StringSliceVar(&o.merge, "merge", nil, "`files` of all ranks, to report on together")
	f.StringVar(&o.export, "export", "", "new `folder` for the factors, as a checkpoint")
	f.StringVar(&o.format, "format", "text", "text, legacy or json")
	f.BoolVar(&o.json, "json", false, "the same as --format json")
}

func (c *Command) analyzeFidelity(ctx context.Context, o *fidelityFlags) (int, error) {
	if err := o.check(); err != nil {
		return 0, err
	}
	if len(o.merge) > 0 {
		return c.mergeFidelity(o)
	}
	o.Getenv, o.Progress = c.Getenv, c.fetching()
	model, err := analysis.OpenModel(ctx, o.Source)
	if errors.Is(err, analysis.ErrNotHere) {
		return 0, exit.Usagef("--model: %w", err)
	}
	if err != nil {
		return 0, err
	}
	defer model.Close()
	c.warnAll(model.Warnings)
	job, done, err := o.job(model)
	if err != nil {
		return 0, err
	}
	defer done()
	switch {
	case o.export != "":
		return c.exportFactors(ctx, o, job)
	case o.world > 0:
		return c.fidelityPart(ctx, o, job)
	}
	var reports []lowrank.Report
	for _, v := range o.variants() {
		job.Settings.Compute, job.Settings.Storage = v.Compute, v.Storage
		r, err := job.Run(ctx)
		if err != nil {
			return 0, err
		}
		reports = append(reports, r)
	}
	return exitOfFidelity(reports), o.print(c.Stdout, model.Name, reports)
}

func (o *fidelityFlags) check() error {
	if o.json {
		o.format = "json"
	}
	switch {
	case !slices.Contains([]string{"text", "legacy", "json"}, o.format):
		return exit.Usagef("--format %.40q: use text, legacy or json", o.format)
	case o.world < 0 || o.world > lowrank.MaxWorld || o.world == 0 && (o.rank != 0 || o.part != ""):
		return exit.Usagef("--rank and --part belong to --world-size, 1 to %d: give all three", lowrank.MaxWorld)
	case o.world > 0 && (o.json || o.format != "text"):
		return exit.Usagef("--world-size writes a part: leave --format out, and give it to --merge")
	case o.world > 0 && o.part == "":
		return exit.Usagef("--world-size needs a file for this rank's results: add --part %d.json", o.rank)
	case o.export != "" && (o.factors != "" || o.world > 0):
		return exit.Usagef("--export saves factors that are made here: leave --factors and --world-size out")
	case o.world > 0 && o.several():
		return exit.Usagef("--world-size shares one combination: add --compute and --storage")
	case o.export != "" && o.several():
		return exit.Usagef("--export saves one combination: add --compute and --storage")
	}
	return nil
}

func (o *fidelityFlags) several() bool { return o.compute == "" && o.storage == "" && o.factors == "" }

// variants are what is asked for, or the common ones.
func (o *fidelityFlags) variants() []analysis.Variant {
	if o.several() && o.format != "legacy" {
		return analysis.Variants
	}
	v := analysis.Variant{Compute: tensor.DType(o.compute), Storage: tensor.DType(o.storage)}
	if o.factors != "" {
		v.Compute = cmp.Or(v.Compute, tensor.Float64)
		return []analysis.Variant{v}
	}
	v.Compute = cmp.Or(v.Compute, tensor.Float64)
	v.Storage = cmp.Or(v.Storage, v.Compute)
	return []analysis.Variant{v}
}

// job is what is compared; done closes what it reads.
func (o *fidelityFlags) job(model *analysis.Model) (job lowrank.Job, done func() error, err error) {
	done = func() error { return nil }
	s := lowrank.Defaults()
	s.Model, s.Patterns, s.RankRatio, s.Tolerance, s.MaxDegrees = cmp.Or(o.family, model.Family), o.patterns, o.ratio, o.tolerance, o.degrees
	v := o.variants()[0]
	s.Compute, s.Storage = v.Compute, v.Storage
	job = lowrank.Job{Original: model.Checkpoint, Settings: s}
	if o.Revision != "" && !strings.Contains(model.Name, "@") {
		return job, done, exit.Usagef("--revision is about models of the hub: leave it out, as %s is here", text.OneLine(model.Name))
	}
	if o.factors != "" {
		factors, err := lowrank.Open(o.factors)
		if err != nil {
			return job, done, exit.Usagef("--factors: %w", err)
		}
		job.Factors, done = factors, factors.Close
	} else if err := s.Check(); err != nil {
		return job, done, exit.AsUsage(err)
	}
	if job.Solver, err = analysis.SolverChoice(o.solver).Solver(); err != nil {
		return job, done, exit.Usagef("--solver: %w", err)
	}
	return job, done, nil
}

// exitOfFidelity is green only if all that should be compared was, and the first
// combination is within the tolerance.
func exitOfFidelity(reports []lowrank.Report) int {
	for i, r := range reports {
		switch {
		case r.Summary.Total == 0:
			return exit.NoMeasure
		case r.Summary.Failed > 0 || i == 0 && !r.Summary.Passed():
			return exit.GateFailed
		}
	}
	return exit.Passed
}

func (o *fidelityFlags) print(w io.Writer, model string, reports []lowrank.Report) error {
	if reports[0].Summary.Total == 0 {
		return fmt.Errorf("no parameter of %s was compared: name its family with --family, or parts of its weights' names with --patterns", text.OneLine(model))
	}
	var err error
	switch o.format {
	case "legacy":
		err = reports[0].WriteLegacy(w)
	case "json":
		e := json.NewEncoder(w)
		e.SetIndent("", " ")
		err = e.Encode(map[string]any{"model": model, "reports": reports})
	default:
		err = report.Fidelity(w, model, reports)
	}
	return err
}

// fidelityPart does one rank's share and says how well the work is shared.
func (c *Command) fidelityPart(ctx context.Context, o *fidelityFlags, job lowrank.Job) (int, error) {
	items, _, err := job.Work()
	if err != nil {
		return 0, exit.AsUsage(err)
	}
	part, err := job.RunPart(ctx, lowrank.Strategy(o.strategy), o.world, o.rank)
	if err != nil {
		return 0, exit.AsUsage(err)
	}
	var data bytes.Buffer
	if err := part.Write(&data); err != nil {
		return 0, err
	}
	if err := atomicfile.Write(o.part, data.Bytes()); err != nil {
		return 0, err
	}
	fmt.Fprintf(c.Stdout, "rank %d of %d: %s in %s\n", o.rank, o.world, text.Plural(len(part.Entries), "parameter"), text.OneLine(o.part))
	for _, s := range lowrank.Strategies {
		a, err := lowrank.Assign(items, o.world, s)
		if err != nil {
			return 0, exit.AsUsage(err)
		}
		fmt.Fprintf(c.Stdout, "  %-12s the slowest rank takes %.3f x of the bound\n", s, a.Ratio)
	}
	fmt.Fprintln(c.Stdout, "Next: accelgate analyze fidelity --merge FILES, with the files of all ranks")
	return exit.Passed, nil
}

func (c *Command) mergeFidelity(o *fidelityFlags) (int, error) {
	var parts []lowrank.Part
	for _, name := range o.merge {
		file, err := os.Open(name)
		if err != nil {
			return 0, exit.Usagef("--merge: %w: name the files that ranks wrote with --part", err)
		}
		part, err := lowrank.ReadPart(file)
		file.Close()
		if err != nil {
			return 0, exit.Usagef("--merge %s: %w", text.OneLine(name), err)
		}
		parts = append(parts, part)
	}
	merged, err := lowrank.Merge(parts)
	if err != nil {
		return 0, exit.Usagef("--merge: %w", err)
	}
	reports := []lowrank.Report{merged}
	return exitOfFidelity(reports), o.print(c.Stdout, fmt.Sprintf("%s together", text.Plural(len(parts), "part")), reports)
}

// verify is the command that checks exported factors.
func (o *fidelityFlags) verify() verdict.Line {
	l := verdict.Line("accelgate analyze fidelity").Add("--model", o.Name).Add("--revision", o.Revision).Add("--cache", o.Cache)
	return l.Add("--family", o.family).List("--patterns", o.patterns).Add("--factors", o.export)
}

func (c *Command) exportFactors(ctx context.Context, o *fidelityFlags, job lowrank.Job) (int, error) {
	if err := os.Mkdir(o.export, 0o755); err != nil {
		return 0, exit.Usagef("--export: %w: name a new folder", err)
	}
	if err := job.Export(ctx, o.export); err != nil {
		return 0, errors.Join(err, os.RemoveAll(o.export)) // it was not there before
	}
	_, err := fmt.Fprintf(c.Stdout, "factors in %s\nNext: %s\n", text.OneLine(o.export), o.verify())
	return exit.Passed, err
}

// fetching tells, from time to time, how far a download is.
func (c *Command) fetching() func(hfhub.Progress) {
	var told int64 = -1
	return func(p hfhub.Progress) {
		const step = 10 // percent
		if p.TotalBytes <= 0 {
			return
		}
		if now := 100 * p.Done / p.TotalBytes / step; now != told {
			told = now
			fmt.Fprintf(c.Stderr, "get %s: %d %% of %d MiB\n", text.OneLine(p.File), 100*p.Done/p.TotalBytes, p.TotalBytes>>20)
		}
	}
}
