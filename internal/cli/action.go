package cli

import (
	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/action"
	"github.com/accelgate/accelgate/internal/github"
)

func (c *Command) actionCommand(code *int) *cobra.Command {
	return &cobra.Command{
		Use:   "action",
		Short: "Run as the GitHub Action, with inputs and event from the runner's environment",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			*code, err = action.Run(cmd.Context(), c.env(), github.Options{Sleep: c.Sleep, Transport: c.Transport})
			return err
		},
	}
}
