package measure

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/device"
	"github.com/accelgate/accelgate/internal/measure/cluster"
)

// allot notes what a batch system gave to this process. Its nodes stand behind one label, and a job that is started
// again may get another one: facts that distinguish hosts of one kind are dropped.
func (e *Env) allot(c *Config) {
	c.nodes = 1
	if c.job = cluster.Here(e.Getenv); c.job == nil {
		return
	}
	c.nodes = c.job.Nodes
	c.Host.Machine = ""
	c.Host.Accelerators = slices.Clone(c.Host.Accelerators)
	for i := range c.Host.Accelerators {
		c.Host.Accelerators[i].ID = ""
	}
	if label, _ := e.label(c); label == "" {
		c.Host.Label = labelOf(c.File.Runners, c.Host)
	}
	if !c.job.Allocates {
		for _, d := range device.Leasable(c.Host) {
			c.allotted = append(c.allotted, d.String())
		}
		return
	}
	c.allotted, c.environ = device.Allotment(c.Host, c.environ)
}

// labelOf returns the label of the runner whose words describe the hardware best, in place of the derived label: each
// word that the derived one lacks is in the name of the device, as "h100" is in "NVIDIA H100 80GB HBM3".
func labelOf(runners []config.Runner, h bench.Host) string {
	best, maximum, tied := h.Label, 0, false
	hardware := strings.ToLower(h.Device())
	for _, r := range runners {
		rest, derived := strings.CutPrefix(r.Host, h.Label+"-")
		words := strings.Split(rest, "-")
		if !derived || slices.ContainsFunc(words, func(w string) bool { return w == "" || !strings.Contains(hardware, w) }) {
			continue
		}
		if tied = len(words) == maximum; len(words) > maximum {
			best, maximum = r.Host, len(words)
		}
	}
	if tied {
		return h.Label
	}
	return best
}

// jobReserve is what ending takes: stopping children, steps after cells, writing the run.
const jobReserve = time.Minute

// untilEnd returns when measuring must end for the run to be written before the batch system ends the job; zero
// where nothing bounds it.
func (s *Session) untilEnd(ctx context.Context) time.Time {
	if s.Plan.job == nil {
		return time.Time{}
	}
	now := s.Now()
	left, known := s.Plan.job.Left(ctx, s.worker, now)
	if !known {
		return time.Time{}
	}
	reserve := min(jobReserve, left/10)
	s.say(fmt.Sprintf("the job may go on for %v: measuring ends %v before that", left.Round(time.Second), reserve.Round(time.Second)))
	return now.Add(left - reserve)
}

// jobOver is why cells are left out at the end of a job.
const jobOver = "the time of the job is over: give it more, as by --time of sbatch"
