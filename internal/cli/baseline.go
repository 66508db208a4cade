package cli

import "github.com/spf13/cobra"

const baselineHelp = `Baselines are committed files, one a host, and reviewed like code.

  accelgate baseline update --reason "first"                    measure and record
  accelgate baseline update --from run.json --reason "faster"   record a finished run
  accelgate baseline show                                       print this host's
  accelgate baseline lint                                       check all files
  accelgate baseline prune --dry-run                            what the configuration no longer has`

func (c *Command) baselineCommand(code *int) *cobra.Command {
	parent := &cobra.Command{
		Use:   "baseline",
		Short: "Record, show, check and prune baselines",
		Long:  baselineHelp,
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return usagef("accelgate baseline: name a command: update, show, lint or prune; see 'accelgate baseline --help'")
		},
	}
	parent.AddCommand(c.updateCommand(code), c.showCommand(), c.lintCommand(code), c.pruneCommand())
	return parent
}
