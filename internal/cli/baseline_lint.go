package cli

import (
	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/command/record"
	"github.com/accelgate/accelgate/internal/measure"
)

func (c *Command) lintCommand(code *int) *cobra.Command {
	var o measure.HostOptions
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "lint [FILE...]",
		Short: "Check baselines for mistakes",
		RunE: func(cmd *cobra.Command, args []string) error {
			checked, err := record.Lint(cmd.Context(), c.env(), &o, args)
			if err != nil {
				return err
			}
			*code = checked.Exit()
			if asJSON {
				return c.encode(checked)
			}
			return checked.Print(c.env())
		},
	}
	addConfig(&o, cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the problems as JSON")
	return cmd
}
