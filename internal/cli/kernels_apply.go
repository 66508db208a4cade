package cli

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
	"github.com/accelgate/accelgate/internal/text"
)

const applyKernelsHelp = `Print which solution to call for which sizes, for programs that choose at run time
as flashinfer-bench's apply does: for each definition and each set of variable
axes that was measured, the fastest solution of the dataset on one device.

  accelgate kernels report apply flashinfer-trace
  accelgate kernels report apply flashinfer-trace --out best     a dataset of these solutions alone, with apply.json
  accelgate kernels report apply flashinfer-trace --max-atol 0.01 --max-rtol 0.01

Without limits, each trace that passed counts: its errors were judged when it was
measured. flashinfer-bench's apply has --max-atol 0.01 --max-rtol 1e-5.
Traces that name no solution are counted by reason on standard error.`

func (c *Command) applyKernelsCommand() *cobra.Command {
	var limits flashinfer.ApplyLimits
	var out string
	cmd := &cobra.Command{
		Use:   "apply FOLDER",
		Short: "Print which solution to call for which sizes, as JSON",
		Long:  applyKernelsHelp,
		Args:  cobra.ExactArgs(1),
		RunE:  func(_ *cobra.Command, args []string) error { return c.applyKernels(args[0], out, limits) },
	}
	addApplyLimits(cmd.Flags(), &limits)
	cmd.Flags().StringVar(&out, "out", "", "new `folder` for a dataset of these solutions (default: print the table)")
	return cmd
}

func addApplyLimits(f *pflag.FlagSet, limits *flashinfer.ApplyLimits) {
	f.Var((*above0)(&limits.MaxAtol), "max-atol", "largest absolute error that a trace may have, `x`")
	f.Var((*above0)(&limits.MaxRtol), "max-rtol", "largest relative error that a trace may have, `x`")
	f.Var((*ratio)(&limits.RequiredMatchedRatio), "required-matched-ratio",
		"share of elements that must match, `x` above 0 and up to 1; a trace that states none is left out")
	f.StringVar(&limits.Hardware, "hardware", "", "`device` whose traces count (default: the only one)")
}

func (c *Command) applyKernels(dir, out string, limits flashinfer.ApplyLimits) error {
	ds, err := flashinfer.Load(dir)
	if err != nil {
		return exit.AsUsage(err)
	}
	table, err := flashinfer.Apply(ds, limits)
	if err != nil {
		return fmt.Errorf("%s: %w", text.Clean(dir), err)
	}
	if note := table.Notes(); note != "" {
		fmt.Fprintln(c.Stderr, "note: "+text.Clean(note))
	}
	if out == "" {
		return c.encode(table)
	}
	if err := table.Write(ds, out); err != nil {
		return exit.AsUsage(err)
	}
	_, err = fmt.Fprintf(c.Stdout,
		"%s: the solutions of %s of sizes\nNext: FIB_DATASET_PATH=%[1]s FIB_ENABLE_APPLY=1 for a program with flashinfer-bench, or read %[1]s/%[3]s\n",
		text.Clean(out), text.Plural(len(table.Choices), "set"), flashinfer.ApplyFile)
	return err
}

// above0 is a flag that is a number above 0.
type above0 float64

func (x *above0) Set(s string) error {
	v, err := parseFloat(s)
	if err == nil && !(v > 0) {
		err = fmt.Errorf("write a number above 0, such as 0.01")
	}
	*x = above0(v)
	return err
}

func (x *above0) String() string { return "" }
func (x *above0) Type() string   { return "value" }

// ratio is a flag that is a number above 0 and up to 1.
type ratio float64

func (x *ratio) Set(s string) error {
	v, err := parseFloat(s)
	if err == nil && !(v > 0 && v <= 1) {
		err = fmt.Errorf("write a number above 0 and up to 1, such as 0.95")
	}
	*x = ratio(v)
	return err
}

func (x *ratio) String() string { return "" }
func (x *ratio) Type() string   { return "value" }
