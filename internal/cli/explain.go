package cli

import (
	"context"
	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/judge"
	"github.com/accelgate/accelgate/internal/matrix"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/text"
)

const explainCellHelp = `Explain the verdicts on a cell: its values, the noise, the rule that the gate
followed, the stages of measuring and the evidence. The run is judged as by
'accelgate report'; the exit code is 0 whatever the verdict is.

  accelgate explain tiny__cpu__tg64__baseline
  accelgate explain '*__tg64__*' --from h100/run.json --json

Each row of the strip below a metric is drawn on one scale: "." is one value, ":"
two and "#" more.`

// explaining is what explain was asked for.
type explaining struct {
	measure.HostOptions
	measure.PolicyOptions
	from []string
	json bool
}

func (c *Command) explainCommand() *cobra.Command {
	var o explaining
	cmd := &cobra.Command{
		Use:               "explain CELL",
		Short:             "Explain the verdicts on a cell",
		Long:              explainCellHelp,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: c.completeRunCells(&o),
		RunE:              func(cmd *cobra.Command, args []string) error { return c.explain(cmd.Context(), &o, args[0]) },
	}
	f := cmd.Flags()
	addConfig(&o.HostOptions, f)
	f.StringVar(&o.Baseline, "baseline", "", "baseline `file`, for a single run (default: the configuration's of the run's host)")
	addHistory(&o.HostOptions, f)
	addThreshold(&o.PolicyOptions, f)
	f.StringArrayVar(&o.from, "from", nil,
		"explain this `run.json`; may be repeated (default: that of the last run, in "+measure.DefaultOut+")")
	f.BoolVar(&o.json, "json", false, "print everything as JSON")
	return cmd
}

func (c *Command) explain(ctx context.Context, o *explaining, cell string) error {
	if err := o.lastRun(); err != nil {
		return err
	}
	options := measure.Options{HostOptions: o.HostOptions, PolicyOptions: o.PolicyOptions}
	j, err := judge.JudgeFiles(ctx, c.env(), &options, o.from, report.Input{Config: o.Config})
	if err != nil {
		return err
	}
	var ids []string
	for _, id := range j.Report.CellIDs() {
		if id == cell || matrix.Glob(cell, id) {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		near := text.NearestID(cell, j.Report.CellIDs())
		if near != "" {
			near = " (did you mean " + text.ShellQuote(near) + "?)"
		}
		return exit.Usagef("explain: %s has no cell %q%s: list the cells with 'accelgate list --cells'", text.Clean(o.from[0]), cell, near)
	}
	if list := j.Report.Explain(ids); o.json {
		return report.ExplainJSON(c.Stdout, list)
	} else {
		return j.Report.ExplainText(c.Stdout, list, judge.Terminal(c.env()))
	}
}

// lastRun fills in the run that the configuration's folder has.
func (o *explaining) lastRun() error {
	if len(o.from) > 0 {
		return nil
	}
	file, _, err := o.Read()
	if err != nil {
		return exit.AsUsage(err)
	}
	o.from = []string{new(measure.Options).OutPath(file, "run.json")}
	return nil
}
