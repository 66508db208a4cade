package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/command/list"
	"github.com/accelgate/accelgate/internal/judge"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/reference/baseline"
)

func (c *Command) showCommand() *cobra.Command {
	var o measure.HostOptions
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show [FILE]",
		Short: "Print a baseline",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := c.baselineOf(cmd.Context(), &o, args)
			if err != nil {
				return err
			}
			shown := list.OfBaseline(b.Path, b.File)
			if asJSON {
				return c.encode(shown)
			}
			return shown.Print(c.Stdout, c.columns())
		},
	}
	addConfig(&o, cmd.Flags())
	addHost(&o, cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print it as JSON")
	return cmd
}

// baselineOf is the baseline of a file, or of this host.
func (c *Command) baselineOf(ctx context.Context, o *measure.HostOptions, args []string) (judge.Baseline, error) {
	if len(args) == 0 {
		return judge.Recorded(ctx, c.env(), o)
	}
	file, err := baseline.Load(args[0])
	return judge.Baseline{Path: args[0], File: file}, judge.MissingBaseline(err)
}
