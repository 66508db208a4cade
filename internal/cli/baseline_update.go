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
	addRequest(&u.Request, cmd.Flags())
	cmd.Flags().BoolVar(&u.All, "within-noise", false, "rewrite numbers that moved within their noise or less than min_move, too")
	return cmd
}

// addRequest adds the flags of a run that is to be recorded.
func addRequest(r *record.Request, f *pflag.FlagSet) {
	addConfig(&r.HostOptions, f)
	addHost(&r.HostOptions, f)
	addHistory(&r.HostOptions, f)
	addModels(&r.HostOptions, f)
	addThreshold(&r.PolicyOptions, f)
	addSuites(&r.SelectOptions, f)
	addParts(&r.SelectOptions, f)
	addMeasure(&r.MeasureOptions, f)
	addDevices(&r.MeasureOptions, f)
	addPairs(&r.PairOptions, f)
	f.StringVar(&r.From, "from", "", "record this `run.json`, or the shards below a folder, in place of measuring")
	f.StringVar(&r.Reason, "reason", "", "why the numbers move; kept with them (required)")
	f.BoolVar(&r.Force, "force", false, "record even though the gate failed; cells that did not pass are never recorded")
	f.BoolVar(&r.Dry, "dry-run", false, "print what would be recorded and write nothing but the run")
}
