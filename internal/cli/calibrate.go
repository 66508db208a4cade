package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/reference/baseline"
	"github.com/accelgate/accelgate/internal/text"
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
said of one run is the least that it takes. Exit 0 says that it was measured, 3 that nothing could be.`

// calibration is what calibrate was asked for.
type calibration struct {
	options
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
	k.addConfig(f)
	k.addHost(f)
	k.addSelection(f)
	f.StringSliceVar(&k.suites, "suite", nil, "`names` of the suites to measure, separated by commas (default: all)")
	f.StringVar(&k.threshold, "threshold", "", "limit in `percent` that cells should resolve (default: the configuration's, or 10)")
	f.Var((*count)(&k.rounds), "rounds", "fresh processes per cell, `n` (default 10)")
	f.StringSliceVar(&k.devices, "devices", nil, "`ids` of the accelerators to measure on (default: ACCELGATE_DEVICES or the configuration's)")
	f.Var((*period)(&k.budget), "budget", "end measuring after this `time` (default: the configuration's)")
	f.BoolVar(&k.resume, "resume", false, "keep what an interrupted calibration of the same build and configuration has measured")
	f.StringVar(&k.out, "out", "", "`folder` for run.json and the journal (default: "+filepath.Join(defaultOut, "calibrate")+" beside the configuration)")
	f.BoolVar(&k.json, "json", false, "print everything as JSON")
	f.StringVar(&k.record, "record", "", "append each process's values, times and health to this `file` (.jsonl), or to pairs-LABEL.jsonl in this folder")
	f.BoolVar(&k.write, "write", false, "write noise and MDE into this host's baseline")
	return cmd
}

func (c *Command) calibrate(ctx context.Context, k *calibration) (int, error) {
	if k.rounds < detect.LeastResolved || k.rounds > maxRepeats {
		return 0, usagef("--rounds is %d: use %d to %d", k.rounds, detect.LeastResolved, maxRepeats)
	}
	if k.record != "" && k.resume {
		return 0, usagef("--record cannot record the processes that --resume keeps: use one of them")
	}
	p, err := c.plan(ctx, &k.options)
	if err != nil {
		return 0, err
	}
	defer p.close()
	if k.out == "" { // the last run's document stays
		k.out = p.file.Resolve(filepath.Join(defaultOut, "calibrate"))
	}
	if k.write {
		if _, err = p.calibrated(); err != nil {
			return 0, err
		}
	}
	var recording *os.File
	if k.record != "" {
		if recording, err = openRecording(k.record, p.host.Label); err != nil {
			return 0, err
		}
		defer recording.Close()
	}
	seen := processes{seen: map[string][]process{}}
	run, err := c.rounds(ctx, p, k.rounds, &seen)
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
	c.warnUnwell(run, "calibrate")
	found := resolve(run, p.policy)
	if err := c.showResolutions(found, k); err != nil {
		return 0, err
	}
	if found.resolved() == 0 {
		return 0, fmt.Errorf("the noise of no metric could be measured: %s", found.why())
	}
	if !k.write {
		return ExitPassed, nil
	}
	file, err := p.calibrated() // it may have been refreshed meanwhile
	if err != nil {
		return 0, err
	}
	return ExitPassed, c.writeNoise(p.baselinePath(), file, found, k.json)
}

// calibrated reads the baseline that is to be written, before anything is
// measured: one of another machine would keep the noise of this one.
func (p *plan) calibrated() (*baseline.File, error) {
	path := p.baselinePath()
	file, err := baseline.Load(path)
	if err != nil {
		return nil, missingBaseline(err)
	}
	var before bench.Fingerprint
	if file.Fingerprint != nil {
		before = *file.Fingerprint
	}
	if same, why := p.host.Comparable(before); !same {
		return nil, fmt.Errorf("%s is of another machine (%s), whose noise this one does not know: record this machine with 'accelgate baseline update --reason TEXT'", path, oneLine(why))
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
	return next(out, "review it and commit it", reviewed(path))
}
