package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/report"
)

const runHelp = `Measure the suites of accelgate.yaml, compare with this host's baseline, print
the report and exit with the verdict.

  accelgate run                                 everything
  accelgate run --suite quickstart              one suite
  accelgate run --only '*__short_text__*'       some cells
  accelgate run --ab off                        without pairs with the merge base
  accelgate run --inject-slowdown decode=30%    see the gate fail

run.json and a journal of every measurement are left in .accelgate. A machine
without a baseline of its own is judged for correctness only, and the report
says so first.`

func (c *Command) runCommand(code *int) *cobra.Command {
	var o options
	var list bool
	var format string
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Measure, compare with the baseline, report",
		Long:  runHelp,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if _, err := c.renderer(format); err != nil {
				return err
			}
			if list {
				return c.printPlan(cmd.Context(), &planning{options: o, list: true, here: true})
			}
			o.desk = true
			*code, err = c.run(cmd.Context(), &o, format)
			return err
		},
	}
	f := cmd.Flags()
	o.addConfig(f)
	o.addHost(f)
	o.addHistory(f)
	o.addPolicy(f)
	o.addMeasure(f)
	o.addDemonstration(f)
	f.BoolVar(&list, "list", false, "print the case ids and measure nothing")
	f.StringVar(&format, "format", "terminal", "report `format`: terminal, markdown or json")
	return cmd
}

func (c *Command) run(ctx context.Context, o *options, format string) (int, error) {
	p, err := c.env().plan(ctx, o)
	if err != nil {
		return 0, err
	}
	defer p.close()
	if err := c.accept(&p.policy, p.file); err != nil {
		return 0, err
	}
	ref, err := p.options.referenceFor(p.file, p.host.Label)
	if err != nil {
		return 0, err
	}
	run, err := c.env().measure(ctx, p, ref.run())
	if err != nil {
		return 0, err
	}
	j := c.judge([]*bench.Run{run}, []reference{ref}, p.policy, report.Input{Config: o.config, Revision: run.Revision})
	return j.exit(), c.render(c.Stdout, format, j)
}
