package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/flashinfer"
)

const kernelsHelp = `Measure and judge kernels: definitions, solutions and workloads in the folders
of FlashInfer-Bench.

  accelgate kernels lint flashinfer-trace              what is wrong with the files
  accelgate kernels run --local flashinfer-trace       measure solutions and judge what they computed
  accelgate kernels report flashinfer-trace            scores of solutions and authors
  accelgate kernels evaluate --definition D.json --reference R.safetensors --candidate C.safetensors
  accelgate kernels config explain D.json              where each setting comes from`

func (c *Command) kernelsCommand(code *int) *cobra.Command {
	parent := group("kernels", "Measure and judge kernels", "lint, run, report, evaluate, config or traces")
	parent.Long = kernelsHelp
	traces := group("traces", "Work with files of traces", "compact")
	traces.AddCommand(c.compactCommand())
	parent.AddCommand(c.kernelsRunCommand(code), c.kernelsWorkerCommand(), c.evaluateCommand(code),
		c.lintKernelsCommand(code), c.kernelsReportCommand(), c.kernelsConfigCommand(), traces)
	return parent
}

// group is a command that does nothing without one of its own commands.
func group(name, short, commands string) *cobra.Command {
	return &cobra.Command{
		Use:   name,
		Short: short,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usagef("%s: name a command: %s; see '%[1]s --help'", cmd.CommandPath(), commands)
		},
	}
}

const compactHelp = `Keep the last result of each case in a file of traces: upstream's tools append
one each time a solution is measured again, and count all of them. Which lines
belong to one case is said by definition, workload and solution, and by the
host and configuration that accelgate adds. Lines that stay are not changed.

  accelgate kernels traces compact traces/me/gemm/gemm_n128_k2048.jsonl`

func (c *Command) compactCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "compact FILE",
		Short: "Keep the last result of each case",
		Long:  compactHelp,
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			done, err := flashinfer.Dedupe(args[0])
			if err != nil {
				return usageError{err}
			}
			what := fmt.Sprintf("%s kept, %s dropped", plural(done.Kept, "line"), plural(done.Dropped, "line"))
			if done.Cut > 0 {
				what += fmt.Sprintf(", an unfinished one of %s removed", plural(int(done.Cut), "byte"))
			}
			_, err = fmt.Fprintf(c.Stdout, "%s: %s\nNext: accelgate kernels report FOLDER, the one that holds traces/\n", printable(args[0]), what)
			return err
		},
	}
}
