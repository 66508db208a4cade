package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/suite/kernels"
	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
	"github.com/accelgate/accelgate/internal/text"
)

const kernelsReportHelp = `Score the solutions and authors of a dataset by its traces, as flashinfer-bench
does: how much faster than the baseline's solution of the same definition, the
mean over workloads. A solution with any failed trace scores 0; an author's
score is the mean over definitions of the best solution. A definition without a
solution of the baseline's author is left out.

  accelgate kernels report flashinfer-trace
  accelgate kernels report flashinfer-trace --best   the fastest solution of each workload and device, as JSON
  accelgate kernels report apply flashinfer-trace    which solution to call for which sizes, as JSON
  accelgate kernels report merge --out all host-a host-b
  accelgate kernels report visualize flashinfer-trace --out kernels.html

A folder whose name is that of a command is written with its path, as in ./merge.`

func (c *Command) kernelsReportCommand() *cobra.Command {
	var author string
	var asJSON, best bool
	cmd := &cobra.Command{
		Use:   "report FOLDER",
		Short: "Score solutions and authors by their traces",
		Long:  kernelsReportHelp,
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if best && cmd.Flags().Changed("baseline-author") {
				return exit.Usagef("--best compares with no baseline: leave out --baseline-author, or --best")
			}
			if best {
				return c.bestKernels(args[0])
			}
			return c.reportKernels(args[0], author, asJSON)
		},
	}
	cmd.Flags().StringVar(&author, "baseline-author", flashinfer.BaselineAuthor, "`author` whose solutions the others are compared with")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the scores as JSON")
	cmd.Flags().BoolVar(&best, "best", false, "print the fastest solution that passed of each workload and device, as JSON")
	cmd.AddCommand(c.applyKernelsCommand(), c.mergeKernelsCommand(), c.visualizeKernelsCommand())
	return cmd
}

func (c *Command) reportKernels(dir, author string, asJSON bool) error {
	ds, err := flashinfer.Load(dir)
	if err != nil {
		return exit.AsUsage(err)
	}
	s, err := flashinfer.Summarize(ds, author)
	if err == nil {
		err = scored(s, dir, author)
	}
	if asJSON && (err == nil || len(s.LeftOut) > 0) {
		return errors.Join(c.encode(s), err)
	}
	fmt.Fprintf(c.Stdout, "%s: %s: %d passed, %d failed\n", text.Clean(dir), text.Plural(s.Total, "trace"), s.Passed, s.Failed)
	if len(s.LeftOut) > 0 {
		fmt.Fprintln(c.Stdout, kernels.LeftOut(s.LeftOut, author))
	}
	if err != nil {
		return err
	}
	return kernels.PrintScores(c.Stdout, c.columns(), ds, s)
}

// scored returns why a summary has no score.
func scored(s flashinfer.Summary, dir, author string) error {
	switch {
	case len(s.Solutions) > 0:
		return nil
	case len(s.LeftOut) > 0:
		return fmt.Errorf("nothing was scored: add solutions of the author %q, or name another author with --baseline-author",
			text.OneLine(author))
	}
	return fmt.Errorf(
		"no solution has a trace for a workload that the baseline passed: measure some with 'accelgate kernels run --local %s'",
		text.Clean(dir))
}

// bestKernels needs no baseline: it compares no solutions of different workloads.
func (c *Command) bestKernels(dir string) error {
	ds, err := flashinfer.Load(dir)
	if err != nil {
		return exit.AsUsage(err)
	}
	best := flashinfer.Best(ds.Traces)
	if len(best) == 0 {
		return fmt.Errorf("no solution passed: measure some with 'accelgate kernels run --local %s'", text.Clean(dir))
	}
	return c.encode(best)
}
