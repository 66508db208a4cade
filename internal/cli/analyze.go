package cli

import "github.com/spf13/cobra"

const analyzeHelp = `Analyse what a training run does before and beside its kernels. Nothing here
needs an accelerator.

  accelgate analyze packing                            packers on 15 built-in scenarios
  accelgate analyze packing --lengths lengths.jsonl --max-tokens 32768 --ranks 8
  accelgate analyze fidelity                           a small generated checkpoint, decomposed and put together again
  accelgate analyze fidelity --model ./checkpoint --storage bfloat16

A suite of kind analysis in accelgate.yaml measures the same as cells, for
information unless its level says that it gates.`

func (c *Command) analyzeCommand(code *int) *cobra.Command {
	parent := group("analyze", "Analyse batch packing and the fidelity of decomposed weights", "packing or fidelity")
	parent.Long = analyzeHelp
	parent.AddCommand(c.packingCommand(), c.fidelityCommand(code))
	return parent
}
