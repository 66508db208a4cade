package action

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/text"
)

// timesFolder is where the plan leaves the times of earlier runs, for the jobs that measure.
const timesFolder = "times"

// hostTimes are the times of earlier runs of the hosts of a plan.
type hostTimes struct {
	action *action
	file   *config.File
	runs   map[string]*bench.Run // by host; nil where there are none
}

// of returns how long the cells of a host took; nil where no run says it. A history that cannot
// be read is a warning, and no times: the plan must not depend on it.
func (h *hostTimes) of(host string) *bench.Run {
	if run, known := h.runs[host]; known {
		return run
	}
	kept, err := h.action.in.options.Kept(h.file, host)
	if err != nil {
		h.action.warn(fmt.Errorf("the times of earlier runs of %s are not used: %w", text.OneLine(host), err))
	}
	h.runs[host] = nil
	if err == nil && kept != nil {
		h.runs[host] = kept.Times(host)
	}
	return h.runs[host]
}

// jobs returns how many jobs measure on a host, and in words why, where times decide it.
func (h *hostTimes) jobs(r *config.Runner) (n int, why string) {
	o := &h.action.in.options
	switch {
	case len(o.Only) > 0: // there may be fewer cells than shards
		return 1, ""
	case r.Longest == 0:
		return max(r.Shards, 1), ""
	case len(o.Suites) > 0 || o.Profile != "":
		return 1, "longest is not applied to some of the cells: one job"
	}
	run := h.of(r.Host)
	if run == nil {
		return 1, "longest is not applied, because no times of earlier runs are known: one job, until a run of the default branch is recorded in the history"
	}
	s := measure.FitRun(run, r.Longest)
	why = fmt.Sprintf("%s by the times of earlier runs, the longest of %s", text.Plural(len(s.Shards), "job"),
		s.Makespan.Round(time.Second))
	if s.Makespan > r.Longest {
		why += fmt.Sprintf(", because one cell takes longer than %s: raise longest, or split the cell", r.Longest)
	}
	return len(s.Shards), why
}

// save writes the times that were found, and returns their folder; "" if there are none.
func (h *hostTimes) save(hosts []string) (folder string, err error) {
	dir := h.action.in.options.OutPath(h.file, timesFolder)
	if err := os.RemoveAll(dir); err != nil {
		return "", fmt.Errorf("remove old times: %w: make the folder writable", err)
	}
	for _, host := range hosts {
		run := h.of(host)
		if run == nil {
			continue
		}
		if err := measure.SaveRun(filepath.Join(dir, host, "run.json"), run); err != nil {
			return "", err
		}
		folder = filepath.ToSlash(dir)
	}
	return folder, nil
}
