package cli

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/plan"
	"github.com/accelgate/accelgate/internal/reference/baseline"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/verdict"
)

func (c *Command) lintCommand(code *int) *cobra.Command {
	var o measure.Options
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "lint [FILE...]",
		Short: "Check baselines for mistakes",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			*code, err = c.lint(cmd.Context(), &o, args, asJSON)
			return err
		},
	}
	addConfig(&o, cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the problems as JSON")
	return cmd
}

// lint checks the files named, or all in the configuration's folder, those against
// what it gates, too. Errors make it fail; warnings are printed only.
func (c *Command) lint(ctx context.Context, o *measure.Options, paths []string, asJSON bool) (int, error) {
	configured := len(paths) == 0
	if configured {
		file, _, err := c.env().Load(o)
		if err != nil {
			return 0, err
		}
		dir := filepath.Dir(o.BaselinePath(file, "x"))
		if paths, err = filepath.Glob(filepath.Join(dir, "baseline-*.json")); err != nil || len(paths) == 0 {
			return 0, fmt.Errorf("%s holds no baseline: record one with 'accelgate baseline update --reason TEXT'", dir)
		}
	}
	code := exit.Passed
	checked := []lintedBaseline{}
	for _, path := range paths {
		file, err := baseline.Load(path)
		if err != nil {
			return 0, verdict.MissingBaseline(err)
		}
		problems := baseline.Lint(path, file, c.Now())
		if configured {
			problems = append(problems, c.unrecorded(ctx, *o, file)...)
		}
		if slices.ContainsFunc(problems, func(p baseline.Problem) bool { return p.Severity == baseline.SeverityError }) {
			code = exit.GateFailed
		}
		checked = append(checked, lintedBaseline{path, len(file.Entries), append([]baseline.Problem{}, problems...)})
	}
	if asJSON {
		return code, c.encode(checked)
	}
	for _, b := range checked {
		for _, p := range b.Problems {
			fmt.Fprintln(c.Stdout, c.carry(p.Format(b.Path)))
		}
		fmt.Fprintf(c.Stdout, "%s: %d entries, %d problems\n", b.Path, b.Entries, len(b.Problems))
	}
	return code, nil
}

// lintedBaseline is the JSON of a file that was checked.
type lintedBaseline struct {
	Path     string             `json:"path"`
	Entries  int                `json:"entries"`
	Problems []baseline.Problem `json:"problems"`
}

// unrecorded finds the metrics that the configuration gates and that entries of its
// cells do not have: a run reports them as missing.
func (c *Command) unrecorded(ctx context.Context, o measure.Options, file *baseline.File) (problems []baseline.Problem) {
	o.HostLabel = file.HostLabel
	p, err := plan.For(ctx, c.env(), &o)
	if err != nil {
		c.warnAll([]string{"the metrics of the configuration were not looked at: " + text.OneLine(err.Error())})
		return nil
	}
	defer p.Close()
	demands := map[string][]bench.Demand{}
	for _, one := range p.Suites {
		for _, cell := range one.Suite.Cells() {
			demands[cell.ID()] = p.Policy.Demands(cell)
		}
	}
	run := file.Run()
	for i := range run.Results {
		r := &run.Results[i]
		for _, d := range demands[r.Cell.ID()] {
			if len(r.Samples) > 0 && !d.Optional && !d.Met(r) {
				problems = append(problems, baseline.Problem{CaseID: r.Cell.ID(), Severity: baseline.SeverityError,
					Message: fmt.Sprintf("the configuration gates %s and the entry does not have it: %s, and run accelgate baseline update",
						text.OneLine(strings.Join(d.Metrics, " or ")), cmp.Or(d.Remedy, "correct where the suite reads it, or declare it with optional: true or when"))})
			}
		}
	}
	return problems
}
