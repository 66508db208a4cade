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
	"github.com/accelgate/accelgate/internal/worker"
)

// allot notes what a batch system gave to this process. Its nodes stand behind one label, and a job that is started
// again may get another one: facts that distinguish hosts of one kind are dropped.
func (p *Plan) allot(e *Env) {
	p.nodes = 1
	if p.job = cluster.Here(e.Getenv); p.job == nil {
		return
	}
	p.nodes = p.job.Nodes
	p.Host.Machine = ""
	p.Host.Accelerators = slices.Clone(p.Host.Accelerators)
	for i := range p.Host.Accelerators {
		p.Host.Accelerators[i].ID = ""
	}
	if label, _ := e.label(p); label == "" {
		p.Host.Label = labelOf(p.File.Runners, p.Host)
	}
	if !p.job.Allocates {
		for _, d := range device.Leasable(p.Host) {
			p.allotted = append(p.allotted, d.String())
		}
		return
	}
	p.allotted, p.environ = device.Allotment(p.Host, p.environ)
	p.worker = &worker.Isolated{Environ: p.environ}
}

// labelOf returns the label of the runner whose words describe the hardware best, in place of the derived label: each
// word that the derived one lacks is in the name of the device, as "h100" is in "NVIDIA H100 80GB HBM3".
func labelOf(runners []config.Runner, h bench.Host) string {
	best, most, tied := h.Label, 0, false
	hardware := strings.ToLower(h.Device())
	for _, r := range runners {
		rest, derived := strings.CutPrefix(r.Host, h.Label+"-")
		words := strings.Split(rest, "-")
		if !derived || slices.ContainsFunc(words, func(w string) bool { return w == "" || !strings.Contains(hardware, w) }) {
			continue
		}
		if tied = len(words) == most; len(words) > most {
			best, most = r.Host, len(words)
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
func (e *Env) untilEnd(ctx context.Context, p *Plan) time.Time {
	if p.job == nil {
		return time.Time{}
	}
	now := e.Now()
	left, known := p.job.Left(ctx, p.worker, now)
	if !known {
		return time.Time{}
	}
	reserve := min(jobReserve, left/10)
	p.say(fmt.Sprintf("the job may go on for %v: measuring ends %v before that", left.Round(time.Second), reserve.Round(time.Second)))
	return now.Add(left - reserve)
}

// jobOver is why cells are left out at the end of a job.
const jobOver = "the time of the job is over: give it more, as by --time of sbatch"
