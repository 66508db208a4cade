package cluster

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/worker"
)

// The batch systems by name.
const (
	Slurm      = "slurm"
	Kubernetes = "kubernetes"
)

// Job is what a batch system gave to this process.
type Job struct {
	System string
	ID     string // that [States] finds the array by
	Nodes  int
	// Allocates is true where the variables for visible devices name all devices of the job, and one that is absent
	// or empty means none. Otherwise the job has all devices that it sees.
	Allocates bool

	id  string // of this task
	end string // seconds since the epoch; "" if the system must be asked
}

// Here returns the job of a process with this environment; nil if it is in none.
func Here(getenv func(string) string) *Job {
	switch {
	case getenv("SLURM_JOB_ID") != "" && getenv("SLURMD_NODENAME") != "": // not a shell on a login node that holds an allocation
		j := &Job{System: Slurm, ID: getenv("SLURM_ARRAY_JOB_ID"), Allocates: true, Nodes: 1}
		j.id, j.end = getenv("SLURM_JOB_ID"), getenv("SLURM_JOB_END_TIME")
		j.ID = cmp.Or(j.ID, j.id)
		if n, err := strconv.Atoi(getenv("SLURM_JOB_NUM_NODES")); err == nil && n > 0 {
			j.Nodes = n
		}
		return j
	case getenv("KUBERNETES_SERVICE_HOST") != "" && getenv("JOB_COMPLETION_INDEX") != "":
		return &Job{System: Kubernetes, ID: getenv("JOB_UID"), Nodes: 1}
	}
	return nil
}

// queryLimit bounds a query of a batch system, whose controller may be busy.
const queryLimit = 30 * time.Second

// Left returns how long the job may go on; ok is false where nothing says it. The worker runs squeue where the
// environment does not hold the end.
func (j *Job) Left(ctx context.Context, w worker.Worker, now time.Time) (left time.Duration, ok bool) {
	if seconds, err := strconv.ParseInt(j.end, 10, 64); err == nil {
		return time.Unix(seconds, 0).Sub(now), true
	}
	if j.System != Slurm {
		return 0, false
	}
	r, err := w.Do(ctx, worker.Request{Args: []string{"squeue", "--noheader", "--jobs=" + j.id, "--format=%L"}, Timeout: queryLimit})
	if err != nil || !r.OK() {
		return 0, false
	}
	return slurmTime(strings.TrimSpace(string(r.Stdout)))
}

// slurmTime reads "days-hours:minutes:seconds", of which days and hours may be absent.
func slurmTime(text string) (d time.Duration, ok bool) {
	days, clock, some := strings.Cut(text, "-")
	if !some {
		days, clock = "0", text
	}
	n, err := strconv.ParseUint(days, 10, 16)
	if err != nil {
		return 0, false
	}
	parts := strings.Split(clock, ":")
	if len(parts) < 2 || len(parts) > 3 {
		return 0, false
	}
	for _, part := range parts {
		v, err := strconv.ParseUint(part, 10, 16)
		if err != nil {
			return 0, false
		}
		d = d*60 + time.Duration(v)*time.Second
	}
	return d + time.Duration(n)*24*time.Hour, true
}
