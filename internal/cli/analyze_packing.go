package cli

import (
	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/command/analyze"
	"github.com/accelgate/accelgate/internal/suite/analysis/packing"
)

const packingHelp = `Compare ways to distribute sequences of different lengths over the ranks of a
synchronous training step, against what is provably possible.

  accelgate analyze packing                                   the 15 scenarios of mini_trainer's benchmark
  accelgate analyze packing --scenarios 'compare/*'
  accelgate analyze packing --lengths l.json --max-tokens 130000 --ranks 8 --json
  accelgate analyze packing --lengths data.jsonl --field num_tokens --cost-quadratic 1e-5
  accelgate analyze packing --format legacy                   as mini_trainer prints it

A row is one step of all ranks. Sequences that are longer than --max-tokens, and
empty ones, are treated as --oversize says: legacy is what mini_trainer does,
own-row gives each of them a row of its own, reject leaves them out and says
so, error refuses them. --cost-linear and --cost-quadratic balance
a*l + b*l^2, as attention costs, in place of tokens.`

func (c *Command) packingCommand() *cobra.Command {
	var o analyze.Packing
	cmd := &cobra.Command{
		Use:   "packing",
		Short: "Compare packers of sequences against the provable bound",
		Long:  packingHelp,
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return o.Run(c.env()) },
	}
	f := cmd.Flags()
	f.StringVar(&o.Lengths, "lengths", "", "`file` of lengths: .json, .jsonl or .csv (default: the built-in scenarios)")
	f.StringVar(&o.Field, "field", "", "`name` of the field or column that holds the length")
	f.StringSliceVar(&o.Scenarios, "scenarios", nil, "only the built-in scenarios that match these `globs`")
	f.StringSliceVar(&o.Algorithms, "algorithms", nil, "only these, `names` separated by commas")
	f.Var((*count)(&o.MaxTokens), "max-tokens", "`n` tokens that a rank takes in one row (default: 130000)")
	f.Var((*count)(&o.Ranks), "ranks", "`n` ranks (default: 8)")
	f.StringVar(&o.Oversize, "oversize", string(packing.Legacy),
		"`mode` for sequences that no rank takes: legacy, own-row, reject or error")
	f.Float64Var(&o.Linear, "cost-linear", 0, "`a` of the cost a*l + b*l^2")
	f.Float64Var(&o.Quadratic, "cost-quadratic", 0, "`b` of the cost a*l + b*l^2")
	f.IntVar(&o.Rounds, "rounds", 0, "`n` timed rounds, interleaved (default: 10, and none with --json)")
	f.StringVar(&o.Format, "format", "text", "text, markdown, legacy or json")
	f.BoolVar(&o.JSON, "json", false, "the same as --format json")
	return cmd
}
