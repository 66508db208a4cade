package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/reference/baseline"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/verdict"
)

const calibrateHelp = `Find out how much the numbers of unchanged code differ on this host, and from
which slow-down on its gate can see one. Each cell is measured again and again in
fresh processes, all cells once a round, in another order each time.

  accelgate calibrate                          10 rounds of every cell
  accelgate calibrate --only 'm__*' --rounds 20
  accelgate calibrate --record noise/          append every process's values to a file, for make evaluate
  accelgate calibrate --write                  keep it in this host's baseline, which the gate then reckons with

For each gated metric, the noise is the standard deviation of one process. MDE is
the smallest slow-down that is found in 4 of 5 cases: by one run against earlier
ones, and by 5 pairs of old and new code in turns (run --ab). A limit below it
cannot be held. Runs of other days differ by more than processes of one: what is
said of one run is the least that it takes. Exit 0 says that it was measured, 3 that nothing could be.`

// calibration is what calibrate was asked for.
type calibration struct {
	measure.Options
	rounds      int
	json, write bool
	record      string // file or folder; "" for none
}

// defaultRounds make five pairs of neighbours.
const defaultRounds = 10

func (c *Command) calibrateCommand(code *int) *cobra.Command {
	k := calibration{rounds: defaultRounds}
	cmd := &cobra.Command{
		Use:   "calibrate",
		Short: "Measure the noise of every cell, and what its gate can see",
		Long:  calibrateHelp,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			*code, err = c.calibrate(cmd.Context(), &k)
			return err
		},
	}
	f := cmd.Flags()
	addConfig(&k.Options, f)
	addHost(&k.Options, f)
	addSelection(&k.Options, f)
	f.StringSliceVar(&k.Suites, "suite", nil, "`names` of the suites to measure, separated by commas (default: all)")
	f.StringVar(&k.Threshold, "threshold", "", "limit in `percent` that cells should resolve (default: the configuration's, or 10)")
	f.Var((*count)(&k.rounds), "rounds", "fresh processes per cell, `n` (default 10)")
	f.StringSliceVar(&k.Devices, "devices", nil, "`ids` of the accelerators to measure on (default: ACCELGATE_DEVICES or the configuration's)")
	f.Var((*period)(&k.Budget), "budget", "end measuring after this `time` (default: the configuration's)")
	f.BoolVar(&k.Resume, "resume", false, "keep what an interrupted calibration of the same build and configuration has measured")
	f.StringVar(&k.Out, "out", "", "`folder` for run.json and the journal (default: "+filepath.Join(measure.DefaultOut, "calibrate")+" beside the configuration)")
	f.BoolVar(&k.json, "json", false, "print everything as JSON")
	f.StringVar(&k.record, "record", "", "append each process's values, times and health to this `file` (.jsonl), or to pairs-LABEL.jsonl in this folder")
	f.BoolVar(&k.write, "write", false, "write noise and MDE into this host's baseline")
	return cmd
}

func (c *Command) calibrate(ctx context.Context, k *calibration) (int, error) {
	if k.rounds < detect.LeastResolved || k.rounds > measure.MaxRepeats {
		return 0, exit.Usagef("--rounds is %d: use %d to %d", k.rounds, detect.LeastResolved, measure.MaxRepeats)
	}
	if k.record != "" && k.Resume {
		return 0, exit.Usagef("--record cannot record the processes that --resume keeps: use one of them")
	}
	p, err := c.env().Plan(ctx, &k.Options)
	if err != nil {
		return 0, err
	}
	defer p.Close()
	if k.Out == "" { // the last run's document stays
		k.Out = p.File.Resolve(filepath.Join(measure.DefaultOut, "calibrate"))
	}
	if k.write {
		if _, err = calibrated(p); err != nil {
			return 0, err
		}
	}
	var recording *os.File
	if k.record != "" {
		if recording, err = openRecording(k.record, p.Host.Label); err != nil {
			return 0, err
		}
		defer recording.Close()
	}
	seen := processes{seen: map[string][]process{}}
	run, err := c.env().Rounds(ctx, p, k.rounds, seen.add)
	if err != nil {
		return 0, err
	}
	if recording != nil {
		lines, err := seen.recording(run)
		if err != nil {
			return 0, err
		}
		if err := c.appendRecording(recording, lines); err != nil {
			return 0, err
		}
	}
	c.env().WarnUnwell(run, "calibrate")
	found := resolve(run, p.Policy)
	if err := c.showResolutions(found, k); err != nil {
		return 0, err
	}
	if found.resolved() == 0 {
		return 0, fmt.Errorf("the noise of no metric could be measured: %s", found.why())
	}
	if !k.write {
		return exit.Passed, nil
	}
	file, err := calibrated(p) // it may have been refreshed meanwhile
	if err != nil {
		return 0, err
	}
	return exit.Passed, c.writeNoise(p.BaselinePath(), file, found, k.json)
}

// calibrated reads the baseline that is to be written, before anything is
// measured: one of another machine would keep the noise of this one.
func calibrated(p *measure.Plan) (*baseline.File, error) {
	path := p.BaselinePath()
	file, err := baseline.Load(path)
	if err != nil {
		return nil, verdict.MissingBaseline(err)
	}
	var before bench.Fingerprint
	if file.Fingerprint != nil {
		before = *file.Fingerprint
	}
	if same, why := p.Host.Comparable(before); !same {
		return nil, fmt.Errorf("%s is of another machine (%s), whose noise this one does not know: record this machine with 'accelgate baseline update --reason TEXT'", path, text.OneLine(why))
	}
	return file, nil
}

// writeNoise puts what was found into the baseline.
func (c *Command) writeNoise(path string, file *baseline.File, found resolutions, quiet bool) error {
	var all []baseline.Calibrated
	for i := range found.Cells {
		if r := &found.Cells[i]; r.Why == "" {
			all = append(all, baseline.Calibrated{CaseID: r.Cell, Metric: r.Metric, Noise: r.Noise / 100, MDE: r.MDE / 100})
		}
	}
	file, lost := baseline.Calibrate(file, all)
	for _, l := range lost {
		c.warnAll([]string{fmt.Sprintf("%s has no %s of %s, so its noise is not kept: record it with 'accelgate baseline update --reason TEXT'", path, l.Metric, l.CaseID)})
	}
	if len(lost) == len(all) {
		return fmt.Errorf("%s has none of the cells that were measured: record them with 'accelgate baseline update --reason TEXT'", path)
	}
	if err := baseline.Save(path, file); err != nil {
		return err
	}
	out := c.Stdout
	if quiet {
		out = c.Stderr // what is on standard output is one document
	}
	fmt.Fprintf(out, "%s: noise of %s written\n", path, text.Plural(len(all)-len(lost), "metric"))
	return verdict.Next(out, "review it and commit it", verdict.Reviewed(path))
}
