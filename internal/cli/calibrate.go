package cli

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/command/calibrate"
	"github.com/accelgate/accelgate/internal/measure"
)

const calibrateHelp = `Find out how much the numbers of unchanged code differ on this host, and from
which slow-down on its gate can see one. Each cell is measured again and again in
fresh processes, all cells once a round, in another order each time.

  accelgate calibrate                          10 rounds of every cell
  accelgate calibrate --only 'm__*' --rounds 20
  accelgate calibrate --record noise/          append every process's values to a file, for make evaluate
  accelgate calibrate --write                  keep it in this host's baseline, which the gate then uses

For each gated metric, the noise is the standard deviation of one process. MDE is
the smallest slow-down that is found in 4 of 5 cases: by one run against earlier
ones, and by 5 pairs of old and new code (run --ab). A limit below it
cannot be held. Runs of other days differ by more than processes of one: what is
given for one run is the least that it takes. Exit 0 means that it was measured, 3 that nothing could be.`

func (c *Command) calibrateCommand(code *int) *cobra.Command {
	k := calibrate.Options{Rounds: calibrate.DefaultRounds}
	cmd := &cobra.Command{
		Use:   "calibrate",
		Short: "Measure the noise and the minimum detectable effect of every cell",
		Long:  calibrateHelp,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			*code, err = calibrate.Run(cmd.Context(), c.env(), &k)
			return err
		},
	}
	f := cmd.Flags()
	addConfig(&k.HostOptions, f)
	addHost(&k.HostOptions, f)
	addModels(&k.HostOptions, f)
	addNames(&k.SelectOptions, f)
	addParts(&k.SelectOptions, f)
	f.StringSliceVar(&k.Suites, "suite", nil, "`names` of the suites to measure, separated by commas (default: all)")
	f.StringVar(&k.Threshold, "threshold", "", "limit in `percent` that cells should resolve (default: the configuration's, or 10)")
	f.Var((*count)(&k.Rounds), "rounds", "fresh processes per cell, `n` (default 10)")
	f.StringSliceVar(&k.Devices, "devices", nil,
		"`ids` of the accelerators to measure on (default: ACCELGATE_DEVICES or the configuration's)")
	f.Var((*period)(&k.Budget), "budget", "end measuring after this `time` (default: the configuration's)")
	f.BoolVar(&k.Resume, "resume", false, "keep the measurements of an interrupted calibration of the same build and configuration")
	f.StringVar(&k.Out, "out", "",
		"`folder` for run.json and the journal (default: "+filepath.Join(measure.DefaultOut, "calibrate")+" beside the configuration)")
	f.BoolVar(&k.Json, "json", false, "print everything as JSON")
	f.StringVar(&k.Record, "record", "",
		"append each process's values, times and health to this `file` (.jsonl), or to pairs-LABEL.jsonl in this folder")
	f.BoolVar(&k.Write, "write", false, "write noise and MDE into this host's baseline")
	return cmd
}
