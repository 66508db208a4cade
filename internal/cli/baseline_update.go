package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/accelgate/accelgate/internal/command/record"
)

func (c *Command) updateCommand(code *int) *cobra.Command {
	var u record.Update
	cmd := &cobra.Command{
		Use:   "update",
		Short: "Record this host's baseline from a run",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if err := unmeasured(cmd.Flags(), u.From); err != nil {
				return err
			}
			*code, err = u.Run(cmd.Context(), c.env())
			return err
		},
	}
	addUpdate(&u, cmd.Flags())
	return cmd
}

// addUpdate adds the flags of the recording and its reason.
func addUpdate(u *record.Update, f *pflag.FlagSet) {
	addConfig(&u.Options, f)
	addHost(&u.Options, f)
	addHistory(&u.Options, f)
	addPolicy(&u.Options, f)
	addMeasure(&u.Options, f)
	f.StringVar(&u.From, "from", "", "record this `run.json`, or the shards below a folder, in place of measuring")
	f.StringVar(&u.Reason, "reason", "", "why the numbers move; kept with them (required)")
	f.BoolVar(&u.All, "within-noise", false, "rewrite numbers that moved within their noise or less than min_move, too")
	f.BoolVar(&u.Force, "force", false, "record even though the gate failed; cells that did not pass are never recorded")
	f.BoolVar(&u.Dry, "dry-run", false, "print what would be recorded and write nothing but the run")
}
