package cli

import (
	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/command/record"
	"github.com/accelgate/accelgate/internal/measure"
)

func (c *Command) pruneCommand() *cobra.Command {
	var o measure.HostOptions
	var dry bool
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Remove entries of cells that the configuration no longer has",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return record.Prune(cmd.Context(), c.env(), &o, dry) },
	}
	addConfig(&o, cmd.Flags())
	addHost(&o, cmd.Flags())
	addModels(&o, cmd.Flags())
	cmd.Flags().BoolVar(&dry, "dry-run", false, "print the entries to remove and write nothing")
	return cmd
}
