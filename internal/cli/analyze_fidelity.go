package cli

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/accelgate/accelgate/internal/command/analyze"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/suite/analysis/lowrank"
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

func (c *Command) fidelityCommand(code *int) *cobra.Command {
	var o analyze.Fidelity
	cmd := &cobra.Command{
		Use:   "fidelity",
		Short: "Measure the error of decomposed weights",
		Long:  fidelityHelp,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if len(o.Merge) > 0 {
				if err := alone(cmd.Flags(), "merge", "format", "json"); err != nil {
					return err
				}
			}
			*code, err = o.Run(cmd.Context(), c.env())
			return err
		},
	}
	addFidelity(&o, cmd.Flags())
	return cmd
}

func addFidelity(o *analyze.Fidelity, f *pflag.FlagSet) {
	d := lowrank.Defaults()
	f.StringVar(&o.Name, "model", "", "`folder`, file or id on the Hugging Face hub (default: a small generated checkpoint)")
	f.StringVar(&o.Revision, "revision", "", "`branch`, tag or commit on the hub")
	f.StringVar(&o.Cache, "cache", "", "`folder` for models of the hub (default: the user's cache)")
	f.StringVar(&o.Factors, "factors", "", "checkpoint with factors to verify, a `path`")
	f.StringVar(&o.Compute, "compute", "", "`type` that is computed in: float64 or float32")
	f.StringVar(&o.Storage, "storage", "", "`format` of the factors: float64, float32, float16 or bfloat16")
	f.StringVar(&o.Family, "family", "", "`name` that chooses the weights, as in llama or phi3 (default: the model's name)")
	f.StringSliceVar(&o.Patterns, "patterns", nil, "`parts` of the names of weights, in place of a family's")
	f.Float64Var(&o.Ratio, "rank-ratio", d.RankRatio, "share of the singular triplets that is frozen, `x`")
	f.Float64Var(&o.Tolerance, "tolerance", d.Tolerance, "absolute and relative, `x`")
	f.Float64Var(&o.Degrees, "max-degrees", d.MaxDegrees, "from a right angle, `x`")
	f.IntVar(&o.World, "world-size", 0, "`n` processes that share the work")
	f.IntVar(&o.Rank, "rank", 0, "which of them this one is, `i` from 0")
	f.StringVar(&o.Strategy, "strategy", string(lowrank.LPT), "how weights are shared: lpt, contiguous or round-robin")
	f.StringVar(&o.Part, "part", "", "`file` for this rank's results")
	f.StringSliceVar(&o.Merge, "merge", nil, "`files` of all ranks, to report on together")
	f.StringVar(&o.Export, "export", "", "new `folder` for the factors, as a checkpoint")
	f.StringVar(&o.Format, "format", "text", "text, legacy or json")
	f.BoolVar(&o.JSON, "json", false, "the same as --format json")
}
