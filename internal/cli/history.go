package cli

import (
	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/trend"
)

const historyHelp = `Find where the history changed for good: for each host, cell and gated metric, the
commits between which the level moved, and slow drift that no single comparison
shows. Runs are run.json files and histories, history-<host label>.jsonl; of a
folder, all below it. They are put in the order in which they started.

  accelgate history runs/
  accelgate history baselines/history --only 'moe*' --json
  accelgate history record .accelgate/run.json    keep a run for later comparisons

It decides nothing: exit 0 says that the runs were read, 3 that there are too few
of them. Change points are those of E-divisive, as Apache Otava finds them.`

func (c *Command) historyCommand() *cobra.Command {
	var o trend.Options
	cmd := &cobra.Command{
		Use:   "history RUN.json|HISTORY.jsonl|FOLDER...",
		Short: "Find between which commits the history became slower or faster",
		Long:  historyHelp,
		Args:  cobra.MinimumNArgs(1),
		RunE:  func(_ *cobra.Command, args []string) error { return trend.Report(c.Stdout, args, o) },
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.Only, "only", nil, "look only at this case `id` or glob; may be repeated")
	f.BoolVar(&o.All, "all", false, "look at metrics that are only shown, too")
	f.BoolVar(&o.JSON, "json", false, "print everything as JSON")
	cmd.AddCommand(c.recordCommand())
	return cmd
}
