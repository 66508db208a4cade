package cli

import (
	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/command/record"
	"github.com/accelgate/accelgate/internal/measure"
)

const recordHelp = `Keep the numbers of finished runs, in history-<host label>.jsonl: later runs are
judged by the noise of those before them. Record runs of the default branch.

  accelgate history record .accelgate/run.json
  accelgate history record --history history runs/*/run.json

Kept are the gated metrics of cells that passed, with numbers that are not
doubtful; the others are listed. Cells of an unhealthy host are kept and marked:
they show its noise, and not how fast the code is. A run that
is there already is left alone, and the newest policy.history_keep (200) stay.
Runs that were made slow or wrong are refused.

With --failed, the run names the cells that the default branch fails. Other
branches are not failed for these.`

func (c *Command) recordCommand() *cobra.Command {
	var o measure.HostOptions
	var r record.Histories
	cmd := &cobra.Command{
		Use:   "record RUN.json...",
		Short: "Record runs in the history, to separate noise from change",
		Long:  recordHelp,
		Args:  cobra.MinimumNArgs(1),
		RunE:  func(cmd *cobra.Command, args []string) error { return r.Run(cmd.Context(), c.env(), &o, args) },
	}
	addConfig(&o, cmd.Flags())
	addHistory(&o, cmd.Flags())
	cmd.Flags().BoolVar(&r.Failed, "failed", false, "judge the runs, and record which cells fail in place of their numbers")
	cmd.Flags().BoolVar(&r.Dry, "dry-run", false, "print what would be kept and write nothing")
	return cmd
}
