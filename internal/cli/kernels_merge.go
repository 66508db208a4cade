package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
	"github.com/accelgate/accelgate/internal/text"
)

const mergeKernelsHelp = `Merge datasets that were measured on several hosts, or in several runs, into one:
definitions, solutions, workloads, traces, and the tensor files that workloads
name. What is the same is written once. Traces of one case that differ are all
kept in the order of the folders, and the last one counts;
'accelgate kernels traces compact' keeps that one only.

  accelgate kernels report merge --out all host-a host-b

A name that stands for different contents is refused with both places, and so is
a file that cannot be read; nothing is written then. A trace of another
definition, solution or workload than the name now has is left out with a
warning. --out is a new folder, which becomes visible as a whole.`

func (c *Command) mergeKernelsCommand() *cobra.Command {
	var out string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "merge --out FOLDER FOLDER...",
		Short: "Merge datasets and their traces into one",
		Long:  mergeKernelsHelp,
		Args:  cobra.MinimumNArgs(1),
		RunE:  func(_ *cobra.Command, args []string) error { return c.mergeKernels(out, args, asJSON) },
	}
	cmd.Flags().StringVar(&out, "out", "", "new `folder` for the dataset (required)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print what was merged as JSON")
	return cmd
}

func (c *Command) mergeKernels(out string, roots []string, asJSON bool) error {
	if out == "" {
		return exit.Usagef("--out is empty: name a new folder, as in 'accelgate kernels report merge --out all %s'", text.Clean(roots[0]))
	}
	m, err := flashinfer.Merge(out, roots)
	if err != nil {
		return exit.AsUsage(err)
	}
	c.warnAll(m.Warnings)
	if asJSON {
		return c.encode(m)
	}
	_, err = fmt.Fprintf(c.Stdout, "%s: %s, %s, %s, %s, %s; %s left out, %s\nNext: accelgate kernels report %[1]s\n", text.Clean(out),
		text.Plural(m.Definitions, "definition"), text.Plural(m.Solutions, "solution"), text.Plural(m.Workloads, "workload"),
		text.Plural(m.Traces, "trace"), text.Plural(m.Blobs, "tensor file"), text.Plural(m.LeftOut, "trace"),
		text.Plural(m.Duplicates, "duplicate"))
	return err
}
