package cli

import (
	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/command/selftest"
)

const selftestHelp = `Prove that the gate of this configuration can fail. A run is judged against
itself, which must pass; then what must fail is put into copies of it: every cell
slower by half more than its limit, a cell that is missing, a wrong answer, no
cell at all. They are judged as a run is, with the configuration's policy and
without its waivers.

  accelgate selftest                                measure every cell once, and prove it
  accelgate selftest --from .accelgate/run.json     with the numbers of a finished run

Exit 0 means that all of it was proved, 1 that this gate cannot fail, and why.`

func (c *Command) selftestCommand(code *int) *cobra.Command {
	s := selftest.Options{}
	cmd := &cobra.Command{
		Use:   "selftest",
		Short: "Prove that the gate of this configuration can fail",
		Long:  selftestHelp,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if err := unmeasured(cmd.Flags(), s.From); err != nil {
				return err
			}
			*code, err = selftest.Run(cmd.Context(), c.env(), &s)
			return err
		},
	}
	f := cmd.Flags()
	addConfig(&s.HostOptions, f)
	addLabel(&s.HostOptions, f)
	addModels(&s.HostOptions, f)
	addPolicy(&s.PolicyOptions, f)
	addSuites(&s.SelectOptions, f)
	addParts(&s.SelectOptions, f)
	addMeasure(&s.MeasureOptions, f)
	addDevices(&s.MeasureOptions, f)
	f.StringVar(&s.From, "from", "", "take the numbers of this `run.json` in place of measuring")
	return cmd
}
