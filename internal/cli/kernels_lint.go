package cli

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/suite/kernels"
	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
	"github.com/accelgate/accelgate/internal/text"
)

const lintKernelsHelp = `Read a dataset of FlashInfer-Bench strictly, and report mistakes in it:
references whose parameters are in another order than the inputs, constraints
that do not hold, workloads that do not fit their definition, tensor files that
are missing or have another shape, baselines that are absent or that failed.

  accelgate kernels lint flashinfer-trace

A file that cannot be read is an error with its place (exit code 2) and hides no
other file. Findings are errors or warnings; errors make the exit code 1 with
--strict.`

func (c *Command) lintKernelsCommand(code *int) *cobra.Command {
	var strict, asJSON bool
	cmd := &cobra.Command{
		Use:   "lint FOLDER",
		Short: "Check a dataset for mistakes",
		Long:  lintKernelsHelp,
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) (err error) {
			*code, err = c.lintKernels(args[0], strict, asJSON)
			return err
		},
	}
	cmd.Flags().BoolVar(&strict, "strict", false, "let findings that are errors fail")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the findings as JSON")
	return cmd
}

func (c *Command) lintKernels(dir string, strict, asJSON bool) (int, error) {
	ds, unreadable := flashinfer.Load(dir)
	if ds == nil {
		return 0, exit.AsUsage(unreadable)
	}
	findings := kernels.Lint(ds)
	if asJSON {
		if err := c.encode(lintedDataset(ds, findings)); err != nil || unreadable == nil {
			return exitOfLint(findings, strict), err
		}
		return 0, exit.AsUsage(unreadable)
	}
	warnings, next := len(ds.Warnings), "Next: accelgate kernels run --local "+text.ShellWord(dir)
	for _, w := range ds.Warnings {
		fmt.Fprintln(c.Stdout, text.Clean(w.Place.String()+": warning: "+w.Message))
	}
	for _, f := range findings {
		level := "error"
		if f.Warning {
			level = "warning"
			warnings++
		}
		fmt.Fprintln(c.Stdout,
			text.Clean(fmt.Sprintf("%s: %s: %s [%s]", flashinfer.Place{Path: f.Path, Line: f.Line}, level, f.Message, f.Rule)))
	}
	if unreadable != nil {
		return 0, exit.AsUsage(unreadable)
	}
	failures := len(findings) + len(ds.Warnings) - warnings
	if failures > 0 {
		next = "Next: correct the errors, and check again with --strict, which lets them fail"
	}
	fmt.Fprintf(c.Stdout, "%s: %s, %s, %s, %s: %s, %s\n%s\n", text.Clean(dir), text.Plural(len(ds.Definitions), "definition"),
		text.Plural(len(ds.Solutions), "solution"), text.Plural(len(ds.Workloads), "workload"), text.Plural(len(ds.Traces), "trace"),
		text.Plural(failures, "error"), text.Plural(warnings, "warning"), text.Clean(next))
	return exitOfLint(findings, strict), nil
}

func exitOfLint(findings []flashinfer.Finding, strict bool) int {
	if strict && slices.ContainsFunc(findings, func(f flashinfer.Finding) bool { return !f.Warning }) {
		return exit.GateFailed
	}
	return exit.Passed
}

// lintedDataset is the JSON of a dataset that was checked. What the reader warned of is
// a finding of the rule "read".
func lintedDataset(ds *flashinfer.Dataset, findings []flashinfer.Finding) map[string]any {
	all := []flashinfer.Finding{}
	for _, w := range ds.Warnings {
		all = append(all, flashinfer.Finding{Path: w.Place.Path, Line: w.Place.Line, Rule: "read", Message: w.Message, Warning: true})
	}
	return map[string]any{
		"definitions": len(ds.Definitions),
		"solutions":   len(ds.Solutions),
		"workloads":   len(ds.Workloads),
		"traces":      len(ds.Traces),
		"findings":    append(all, findings...),
	}
}
