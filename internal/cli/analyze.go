package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/accelgate/accelgate/internal/exit"
)

const analyzeHelp = `Analyse what a training run does before and beside its kernels. Nothing here
needs an accelerator.

  accelgate analyze packing                            packers on 15 built-in scenarios
  accelgate analyze packing --lengths lengths.jsonl --max-tokens 32768 --ranks 8
  accelgate analyze fidelity                           a small generated checkpoint, decomposed and put together again
  accelgate analyze fidelity --model ./checkpoint --storage bfloat16

A suite of kind analysis in accelgate.yaml measures the same as cells, for
information unless its level makes it gate.`

func (c *Command) analyzeCommand(code *int) *cobra.Command {
	parent := group("analyze", "Analyse batch packing and the fidelity of decomposed weights")
	parent.Long = analyzeHelp
	parent.AddCommand(c.packingCommand(), c.fidelityCommand(code))
	for _, cmd := range parent.Commands() {
		cmd.PreRunE = func(cmd *cobra.Command, _ []string) error { return notEmpty(cmd.Flags()) }
	}
	return parent
}

// notEmpty refuses flags that were given without a value, as scripts do whose
// variables are not set: the default would be analysed, and pass.
func notEmpty(flags *pflag.FlagSet) (err error) {
	flags.Visit(func(f *pflag.Flag) {
		text := f.Value.Type() == "string" || f.Value.Type() == "stringSlice"
		if v := f.Value.String(); err == nil && text && (v == "" || v == "[]") {
			err = exit.Usagef("--%s is empty: give it a value, or leave it out", f.Name)
		}
	})
	return err
}
