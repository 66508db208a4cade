package cli

import (
	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/command/history"
	"github.com/accelgate/accelgate/internal/measure"
)

const historyHelp = `Find where the history changed for good: for each host, cell and gated metric, the
commits between which the level moved, and slow drift that no single comparison
shows. Runs are run.json files and histories, history-<host label>.jsonl; of a
folder, all below it. They are put in the order in which they started. Without an
argument, the configuration's folder of the history is read.

  accelgate history --cell tiny__cpu__tg64__baseline    draw the trend of a cell
  accelgate history runs/
  accelgate history baselines/history --only 'moe*' --json
  accelgate history record .accelgate/run.json    keep a run for later comparisons

It decides nothing: exit 0 means that the runs were read, 3 that there are too few
of them. Change points are those of E-divisive, as Apache Otava finds them.`

func (c *Command) historyCommand() *cobra.Command {
	var o history.Options
	var configured measure.HostOptions
	cmd := &cobra.Command{
		Use:   "history [RUN.json|HISTORY.jsonl|FOLDER]...",
		Short: "Find between which commits the history became slower or faster",
		Long:  historyHelp,
		RunE: func(_ *cobra.Command, args []string) (err error) {
			if len(args) == 0 {
				if args, err = history.Folder(&configured); err != nil {
					return err
				}
			}
			o.Columns = c.columns()
			return history.Report(c.Stdout, args, o)
		},
	}
	f := cmd.Flags()
	addConfig(&configured, f)
	f.StringVar(&o.Cell, "cell", "", "draw the trend of this case `id` or glob")
	f.StringArrayVar(&o.Only, "only", nil, "look only at this case `id` or glob; may be repeated")
	f.BoolVar(&o.All, "all", false, "look at metrics that are only shown, too")
	f.BoolVar(&o.JSON, "json", false, "print everything as JSON")
	cmd.AddCommand(c.recordCommand())
	return cmd
}
