package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/command/plan"
	"github.com/accelgate/accelgate/internal/gate/policy"
	"github.com/accelgate/accelgate/internal/judge"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/report"
)

const runHelp = `Measure the suites of accelgate.yaml, compare with this host's baseline, print
the report and exit with the verdict.

  accelgate run                                 everything
  accelgate run --suite quickstart              one suite
  accelgate run --only '*__short_text__*'       some cells
  accelgate run --ab off                        without pairs with the merge base
  accelgate run --ab . --inject-slowdown decode=30%    see the gate fail

run.json and a journal of every measurement are left in .accelgate. A host
without a baseline of its own is judged for correctness only, which the first
line of the report names.`

func (c *Command) runCommand(code *int) *cobra.Command {
	var o measure.Options
	var list bool
	var format string
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Measure, compare with the baseline, report",
		Long:  runHelp,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if _, err := judge.Renderer(c.env(), format); err != nil {
				return err
			}
			if list {
				return plan.PrintRun(cmd.Context(), c.env(), &o)
			}
			o.Desk = true
			*code, err = c.run(cmd.Context(), &o, format)
			return err
		},
	}
	f := cmd.Flags()
	addConfig(&o.HostOptions, f)
	addHost(&o.HostOptions, f)
	addHistory(&o.HostOptions, f)
	addModels(&o.HostOptions, f)
	addPolicy(&o.PolicyOptions, f)
	addAllOfMeasuring(&o, f)
	addDemonstration(&o.DemonstrationOptions, f)
	f.BoolVar(&list, "list", false, "print the case ids and measure nothing")
	f.StringVar(&format, "format", "terminal", "report `format`: "+judge.Formats())
	addJSON(cmd, &format)
	return cmd
}

func (c *Command) run(ctx context.Context, o *measure.Options, format string) (int, error) {
	settled, err := c.env().Configure(o)
	if err != nil {
		return 0, err
	}
	if err := judge.Accept(c.env(), &settled.Policy, settled.File, policy.Trigger{Event: policy.Desk}); err != nil {
		return 0, err
	}
	s, err := c.env().OpenHere(ctx, &settled)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	p := s.Plan
	ref, err := judge.ReferenceFor(ctx, c.env(), p.Options, p.File, p.Host)
	if err != nil {
		return 0, err
	}
	run, err := s.Measure(ctx, ref.Run())
	if err != nil {
		return 0, err
	}
	ref.Typed.NextBase = s.NextBase
	j := judge.Judge(c.env(), []*bench.Run{run}, []judge.Reference{ref}, p.Policy, report.Input{Config: o.Config, Revision: run.Revision})
	return j.Exit(), judge.Render(c.env(), c.Stdout, format, j)
}
