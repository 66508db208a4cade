package cli

import (
	"context"
	"fmt"
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
	var o measure.Options
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

func (c *Command) check(ctx context.Context, o *measure.Options) error {
	p, err := c.env().PlanFor(ctx, o)
	if err != nil {
		return err
	}
	defer p.Close()
	has, err := c.checked(p)
	if err != nil {
		return err
	}
	c.warnAll(p.Warnings)
	fmt.Fprintln(c.Stdout, has)
	return plan.PrintUnrecorded(c.Stdout, p)
}

// checked reads what a run is judged by beside its configuration, adds what is doubtful to
// the warnings, and says what the configuration has.
func (c *Command) checked(p *measure.Plan) (string, error) {
	if err := judge.Accept(c.env(), &p.Policy, p.File, policy.Trigger{Event: policy.Desk}); err != nil {
		return "", err
	}
	p.Warnings = append(p.Warnings, judge.Doubts(p)...)
	return described(p), nil
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
