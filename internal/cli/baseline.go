package cli

import (
	"github.com/spf13/cobra"
)

const baselineHelp = `Baselines are committed files, one a host, and reviewed like code.

  accelgate baseline update --reason "first"                    measure and record
  accelgate baseline update --from run.json --reason "faster"   record a finished run
  accelgate baseline show                                       print this host's
  accelgate baseline lint                                       check all files
  accelgate baseline prune --dry-run                            what the configuration no longer has
  accelgate baseline anchor --reason "accepted" --only ID       judge drift from here on`

func (c *Command) baselineCommand(code *int) *cobra.Command {
	parent := group("baseline", "Record, show, check, prune and anchor baselines")
	parent.Long = baselineHelp
	parent.AddCommand(c.updateCommand(code), c.showCommand(), c.lintCommand(code), c.pruneCommand(), c.anchorCommand())
	return parent
}
