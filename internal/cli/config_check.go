package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/command/plan"
	"github.com/accelgate/accelgate/internal/gate/policy"
	"github.com/accelgate/accelgate/internal/judge"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/text"
)

const checkHelp = `Check a configuration as 'accelgate run' reads it: every key, value and cell, the
files that suites name, waivers and quarantined cells. What the last run did not
report is warned of. Nothing is measured.

  accelgate config check
  accelgate config check ci/accelgate.yaml`

func (c *Command) checkCommand() *cobra.Command {
	var o measure.HostOptions
	cmd := &cobra.Command{
		Use:   "check [FILE]",
		Short: "Check a configuration without measuring",
		Long:  checkHelp,
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Config = measure.DefaultConfig
			if len(args) > 0 {
				o.Config = args[0]
			}
			return c.check(cmd.Context(), &o)
		},
	}
	cmd.Flags().StringVar(&o.HostLabel, "host-label", "", "`label` of the host whose cells are checked (default: this host)")
	addModels(&o, cmd.Flags())
	return cmd
}

func (c *Command) check(ctx context.Context, o *measure.HostOptions) error {
	settled, err := c.env().Configure(&measure.Options{HostOptions: *o})
	if err != nil {
		return err
	}
	if err := judge.Accept(c.env(), &settled.Policy, settled.File, policy.Trigger{Event: policy.Desk}); err != nil {
		return err
	}
	s, err := c.env().OpenFor(ctx, &settled)
	if err != nil {
		return err
	}
	defer s.Close()
	c.warnAll(slices.Concat(s.Plan.Warnings, judge.WithoutEffect(s.Plan)))
	fmt.Fprintln(c.Stdout, described(s.Plan))
	return plan.PrintUnrecorded(c.Stdout, s.Plan)
}

// described counts what a configuration without mistakes has.
func described(p *measure.Plan) string {
	cells, unlisted := 0, []string(nil)
	for _, s := range p.Suites {
		cells += len(s.Plan.Cells)
		if s.Unlisted != "" {
			unlisted = append(unlisted, s.Name)
		}
	}
	more := ""
	if len(unlisted) > 0 {
		more = ", and those that a run lists of " + text.OneLine(strings.Join(unlisted, ", "))
	}
	return fmt.Sprintf("%s: no mistakes; %s, %s on %s%s", p.Options.Config, text.Plural(len(p.Suites), "suite"), text.Plural(cells, "cell"),
		p.Host.Label, more)
}
