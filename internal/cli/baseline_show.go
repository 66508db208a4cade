package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/inventory"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/reference/baseline"
	"github.com/accelgate/accelgate/internal/verdict"
)

func (c *Command) showCommand() *cobra.Command {
	var o measure.Options
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show [FILE]",
		Short: "Print a baseline",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := c.choosePath(cmd.Context(), &o, args)
			if err != nil {
				return err
			}
			file, err := baseline.Load(path)
			if err != nil {
				return verdict.MissingBaseline(err)
			}
			shown := inventory.OfBaseline(path, file)
			if asJSON {
				return c.encode(shown)
			}
			return shown.Print(c.Stdout)
		},
	}
	addConfig(&o, cmd.Flags())
	addHost(&o, cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print it as JSON")
	return cmd
}

// choosePath is the file named, or the one of this host.
func (c *Command) choosePath(ctx context.Context, o *measure.Options, args []string) (string, error) {
	if len(args) == 1 {
		return args[0], nil
	}
	p, err := c.env().Plan(ctx, o)
	if err != nil {
		return "", err
	}
	defer p.Close()
	return p.BaselinePath(), nil
}
