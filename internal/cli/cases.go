package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/suite/cases/casefile"
	"github.com/accelgate/accelgate/internal/text"
)

const casesLintHelp = `Read the case files of msmodeling's regression framework strictly, and report
mistakes in them: tolerances that let everything pass, reference times
whose windows do not meet, operators that do not add up.

  accelgate cases lint tests/benchmark/models/cases

A file that cannot be read is an error with its place (exit code 2) and hides no
other file; findings are warnings, and make the exit code 1 with --strict.`

func (c *Command) casesCommand(code *int) *cobra.Command {
	parent := group("cases", "Work with msmodeling's case files")
	var strict, asJSON bool
	lint := &cobra.Command{
		Use:   "lint FOLDER",
		Short: "Check case files for mistakes",
		Long:  casesLintHelp,
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) (err error) {
			*code, err = c.lintCases(args[0], strict, asJSON)
			return err
		},
	}
	lint.Flags().BoolVar(&strict, "strict", false, "let findings fail")
	lint.Flags().BoolVar(&asJSON, "json", false, "print the findings as JSON")
	parent.AddCommand(lint, c.replayCommand(code), c.refreshCasesCommand(code))
	return parent
}

func (c *Command) lintCases(dir string, strict, asJSON bool) (int, error) {
	cases, unreadable := casefile.Load(dir)
	findings := casefile.Lint(cases)
	code := exit.Passed
	if strict && len(findings) > 0 {
		code = exit.GateFailed
	}
	if asJSON {
		if err := c.encode(map[string]any{"folder": dir, "cases": len(cases), "findings": append([]casefile.Finding{}, findings...)}); err != nil {
			return 0, err
		}
		findings = nil
	}
	for _, f := range findings {
		fmt.Fprintln(c.Stdout, text.Clean(f.String()))
	}
	if unreadable != nil {
		return 0, exit.AsUsage(unreadable)
	}
	if asJSON {
		return code, nil
	}
	fmt.Fprintf(c.Stdout, "%s: %s, %s\n", text.Clean(dir), text.Plural(len(cases), "case"), text.Plural(len(findings), "finding"))
	return code, nil
}
