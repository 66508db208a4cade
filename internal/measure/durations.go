package measure

import (
	"fmt"
	"math"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/reference/history"
	"github.com/accelgate/accelgate/internal/stats"
)

// earlierRuns is what runs say of cells beside their numbers, by id.
type earlierRuns struct {
	times   map[string]time.Duration // of one measurement; the median of all runs
	devices map[string]string        // as [bench.Device] writes them, of the newest run of this host that says it
}

// times returns how long one measurement of each cell took.
func (p *Plan) times() (map[string]time.Duration, error) {
	earlier, err := p.earlierRuns(p.Options.Durations)
	return earlier.times, err
}

// earlierRuns reads runs. Those of
// this host count where there are any; failed cells end early and count only
// where none passed.
func (p *Plan) earlierRuns(files []string) (earlierRuns, error) {
	paths, err := filesBelow(files, func(name string) bool {
		_, kept := history.Label(name)
		return kept || name == runFile
	})
	if err != nil {
		return earlierRuns{}, err
	}
	var runs []*bench.Run
	own := false
	for _, path := range paths {
		run, known := p.Options.Runs[path]
		if !known {
			if run, err = readTimes(path); err != nil {
				return earlierRuns{}, fmt.Errorf("--durations: %w", err)
			}
		}
		if p.Options.Runs != nil {
			p.Options.Runs[path] = run
		}
		if run == nil {
			continue // a history without times
		}
		mine := run.Host.Label == p.Host.Label
		if mine && !own {
			runs, own = nil, true
		}
		if mine || !own {
			runs = append(runs, run)
		}
	}
	if !own {
		return earlierRuns{times: timesOf(runs)}, nil
	}
	return earlierRuns{timesOf(runs), devicesOf(runs)}, nil
}

// readTimes reads a run, or the times of a history; nil if it holds none.
func readTimes(path string) (*bench.Run, error) {
	label, kept := history.Label(path)
	if !kept {
		return ReadRun(path)
	}
	file, err := history.Load(path)
	if err != nil {
		return nil, err
	}
	return file.Times(label), nil
}

func timesOf(runs []*bench.Run) map[string]time.Duration {
	passed, any := map[string][]float64{}, map[string][]float64{}
	for _, run := range runs {
		for i := range run.Results {
			r := &run.Results[i]
			if !(r.WallMS > 0) || math.IsInf(r.WallMS, 1) {
				continue
			}
			id, one := r.Cell.ID(), r.WallMS/float64(measurements(r))
			if any[id] = append(any[id], one); r.Outcome == bench.Passed {
				passed[id] = append(passed[id], one)
			}
		}
	}
	times := map[string]time.Duration{}
	for id, ms := range any {
		if len(passed[id]) > 0 {
			ms = passed[id]
		}
		times[id] = milliseconds(stats.Median(ms))
	}
	return times
}

func devicesOf(runs []*bench.Run) map[string]string {
	devices, since := map[string]string{}, map[string]time.Time{}
	for _, run := range runs {
		for i := range run.Results {
			r := &run.Results[i]
			if id := r.Cell.ID(); r.Device != "" && !run.Started.Before(since[id]) {
				devices[id], since[id] = r.Device, run.Started
			}
		}
	}
	return devices
}

// measurements is how often a cell was measured: once for each value.
func measurements(r *bench.Result) (n int) {
	for _, s := range r.Samples {
		n = max(n, len(s.Values))
	}
	return max(n, 1)
}

// milliseconds bounds what a file says to a year, so that sums stay small.
func milliseconds(ms float64) time.Duration {
	const maximum = 365 * 24 * time.Hour
	return max(1, time.Duration(min(ms, float64(maximum/time.Millisecond))*float64(time.Millisecond)))
}

// median is what a cell with one of these ids took in the middle; 0 if nothing is known.
func median(times map[string]time.Duration, ids []string) time.Duration {
	var known []float64
	for _, id := range ids {
		if took, ok := times[id]; ok {
			known = append(known, float64(took))
		}
	}
	if len(known) == 0 {
		return 0
	}
	return time.Duration(stats.Median(known))
}
