package cli

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/baseline"
)

func (c *Command) lintCommand(code *int) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "lint [FILE...]",
		Short: "Check baselines for what goes wrong in them",
		RunE: func(_ *cobra.Command, args []string) (err error) {
			*code, err = c.lint(&o, args)
			return err
		},
	}
	o.addConfig(cmd.Flags())
	return cmd
}

// lint checks the files named, or all in the configuration's folder. Errors
// make it fail; warnings are printed only.
func (c *Command) lint(o *options, paths []string) (int, error) {
	if len(paths) == 0 {
		file, _, err := o.load()
		if err != nil {
			return 0, err
		}
		dir := filepath.Dir(o.baselinePath(file, "x"))
		if paths, err = filepath.Glob(filepath.Join(dir, "baseline-*.json")); err != nil || len(paths) == 0 {
			return 0, fmt.Errorf("%s holds no baseline: record one with 'accelgate baseline update --reason TEXT'", dir)
		}
	}
	code := ExitPassed
	for _, path := range paths {
		file, err := baseline.Load(path)
		if err != nil {
			return 0, missingBaseline(err)
		}
		problems := baseline.Lint(path, file, c.Now())
		for _, p := range problems {
			fmt.Fprintln(c.Stdout, p.Format(path))
			if p.Severity == baseline.SeverityError {
				code = ExitGateFailed
			}
		}
		fmt.Fprintf(c.Stdout, "%s: %d entries, %d problems\n", path, len(file.Entries), len(problems))
	}
	return code, nil
}
