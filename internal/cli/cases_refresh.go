package cli

import (
	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/command/record"
)

const refreshCasesHelp = `Write measured times and operators back to the case files. Only numbers change
(and the name of an operator where another one now stands): order, layout and
every other byte of a file stay. The reason is kept in history.jsonl beside them.

  accelgate cases refresh --reason "new attention kernel" --only 'qwen3-*'
  accelgate cases refresh --reason "new attention kernel" --from .accelgate/run.json

baseline_time_s and operators are renewed; initial_time_s, the base of drift,
only with --initial-times or where a case has no time at all. Cases that did not
pass are never recorded.`

func (c *Command) refreshCasesCommand(code *int) *cobra.Command {
	var r record.CaseRefresh
	cmd := &cobra.Command{
		Use:   "refresh",
		Short: "Write measured times back to the case files",
		Long:  refreshCasesHelp,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if err := unmeasured(cmd.Flags(), r.From, "suite", "only"); err != nil {
				return err
			}
			*code, err = r.Run(cmd.Context(), c.env())
			return err
		},
	}
	f := cmd.Flags()
	addRequest(&r.Request, f)
	f.BoolVar(&r.Initial, "initial-times", false, "renew initial_time_s as well, so that drift is measured from here on")
	return cmd
}
