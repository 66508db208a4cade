// Package calibrate measures the noise of every cell, and tells from which
// slow-down on the gate can see one.
package calibrate

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/judge"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/reference/baseline"
	"github.com/accelgate/accelgate/internal/text"
)

// Options is what calibrate was asked for.
type Options struct {
	measure.HostOptions
	measure.SelectOptions
	measure.MeasureOptions
	measure.PolicyOptions
	Rounds      int
	Json, Write bool
	Record      string // file or folder; "" for none
}

// DefaultRounds make five pairs of neighbours.
const DefaultRounds = 10

// Run measures the rounds, prints what they resolve and returns the exit code.
func Run(ctx context.Context, e *measure.Env, k *Options) (int, error) {
	if k.Rounds < detect.MinResolved || k.Rounds > measure.MaxRepeats {
		return 0, exit.Usagef("--rounds is %d: use %d to %d", k.Rounds, detect.MinResolved, measure.MaxRepeats)
	}
	if k.Record != "" && k.Resume {
		return 0, exit.Usagef("--record cannot record the processes that --resume keeps: use one of them")
	}
	c, err := e.Configure(&measure.Options{HostOptions: k.HostOptions, SelectOptions: k.SelectOptions, MeasureOptions: k.MeasureOptions,
		PolicyOptions: k.PolicyOptions})
	if err != nil {
		return 0, err
	}
	if c.Options.Out == "" { // the last run's document stays
		c.Options.Out = c.File.Resolve(filepath.Join(measure.DefaultOut, "calibrate"))
	}
	s, err := e.OpenHere(ctx, &c)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	p := s.Plan
	if k.Write {
		if _, err = calibrated(p); err != nil {
			return 0, err
		}
	}
	var recording *os.File
	if k.Record != "" {
		if recording, err = openRecording(k.Record, p.Host.Label); err != nil {
			return 0, err
		}
		defer recording.Close()
	}
	seen := processes{seen: map[string][]process{}}
	run, err := s.Rounds(ctx, k.Rounds, seen.add)
	if err != nil {
		return 0, err
	}
	if recording != nil {
		lines, err := seen.recording(run)
		if err != nil {
			return 0, err
		}
		if err := appendRecording(e, recording, lines); err != nil {
			return 0, err
		}
	}
	e.WarnUnhealthy(run, "calibrate")
	found := resolve(run, p.Policy)
	if err := showResolutions(e, found, k); err != nil {
		return 0, err
	}
	if found.resolved() == 0 {
		return 0, fmt.Errorf("the noise of no metric could be measured: %s", found.why())
	}
	if !k.Write {
		return exit.Passed, nil
	}
	file, err := calibrated(p) // it may have been refreshed meanwhile
	if err != nil {
		return 0, err
	}
	path, err := p.BaselineFile()
	if err != nil {
		return 0, err
	}
	return exit.Passed, writeNoise(e, path, file, found, k.Json)
}

// calibrated reads the baseline that is to be written, before anything is
// measured: one of another machine would keep the noise of this one.
func calibrated(p *measure.Plan) (*baseline.File, error) {
	path, err := p.BaselineFile()
	if err != nil {
		return nil, err
	}
	file, err := baseline.Load(path)
	if err != nil {
		return nil, judge.MissingBaseline(err)
	}
	var before bench.Fingerprint
	if file.Fingerprint != nil {
		before = *file.Fingerprint
	}
	if same, why := p.Host.Comparable(before); !same {
		return nil, fmt.Errorf(
			"%s was recorded on another host (%s), whose noise cannot be measured here: record this host with 'accelgate baseline update --reason TEXT'",
			path, text.OneLine(why))
	}
	return file, nil
}

// writeNoise puts what was found into the baseline.
func writeNoise(e *measure.Env, path string, file *baseline.File, found resolutions, quiet bool) error {
	var all []baseline.Calibrated
	for i := range found.Cells {
		if r := &found.Cells[i]; r.Why == "" {
			all = append(all, baseline.Calibrated{CaseID: r.Cell, Metric: r.Metric, Noise: r.Noise / 100, MDE: r.MDE / 100})
		}
	}
	file, lost := baseline.Calibrate(file, all)
	for _, l := range lost {
		e.WarnAll([]string{
			fmt.Sprintf("%s has no %s of %s, so its noise is not kept: record it with 'accelgate baseline update --reason TEXT'", path,
				l.Metric, l.CaseID),
		})
	}
	if len(lost) == len(all) {
		return fmt.Errorf("%s has none of the cells that were measured: record them with 'accelgate baseline update --reason TEXT'", path)
	}
	if err := baseline.Save(path, file); err != nil {
		return err
	}
	out := e.Stdout
	if quiet {
		out = e.Stderr // what is on standard output is one document
	}
	fmt.Fprintf(out, "%s: noise of %s written\n", path, text.Plural(len(all)-len(lost), "metric"))
	return judge.Next(out, "review it and commit it", judge.Reviewed(path))
}
