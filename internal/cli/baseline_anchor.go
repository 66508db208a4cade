package cli

import (
	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/command/record"
)

const anchorHelp = `Accept what many small losses have added up to: move the anchors of this host's
baseline, from which drift is judged, to its present medians. Nothing else moves
them, and nothing else is changed but the notes. It measures nothing: refresh the
medians first, with 'accelgate baseline update', if they are old.

  accelgate baseline anchor --reason "the new sampler is worth it" --only 'tiny__*'`

func (c *Command) anchorCommand() *cobra.Command {
	var a record.Anchor
	cmd := &cobra.Command{
		Use:   "anchor",
		Short: "Accept the present level as the one that drift is judged from",
		Long:  anchorHelp,
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return a.Run(cmd.Context(), c.env()) },
	}
	addConfig(&a.HostOptions, cmd.Flags())
	addHost(&a.HostOptions, cmd.Flags())
	cmd.Flags().StringArrayVar(&a.Cells, "only", nil, "move only the anchors of this case `id` or glob; may be repeated (default: all)")
	cmd.Flags().StringVar(&a.Reason, "reason", "", "why the present level is accepted; kept in the notes (required)")
	cmd.Flags().BoolVar(&a.Dry, "dry-run", false, "print the anchors that would move and write nothing")
	return cmd
}
