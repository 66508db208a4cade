package cli

import (
	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/inventory"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/record"
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
			if len(args) == 0 {
				path, err := record.PathOf(cmd.Context(), c.env(), &o)
				if err != nil {
					return err
				}
				args = []string{path}
			}
			file, err := baseline.Load(args[0])
			if err != nil {
				return verdict.MissingBaseline(err)
			}
			shown := inventory.OfBaseline(args[0], file)
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
