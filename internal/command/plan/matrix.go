package plan

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/accelgate/accelgate/internal/measure"
)

// job is one job of a workflow's matrix.
type job struct {
	Host   string   `json:"host"`
	RunsOn []string `json:"runs-on"`
	Shard  string   `json:"shard"` // "" for the whole
	Cells  int      `json:"cells"`
	// Minutes is how long the job is expected to measure; absent if unknown.
	Minutes float64 `json:"minutes,omitempty"`
}

// printMatrix prints one job for each runner and shard, for strategy.matrix of a workflow.
func printMatrix(e *measure.Env, _ *Options, hosts []host) error {
	include := []job{}
	for i := range hosts {
		include = append(include, hosts[i].jobs()...)
	}
	data, err := json.Marshal(map[string]any{"include": include})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.Stdout, "%s\n", data)
	return err
}

// jobs are those of one host.
func (h *host) jobs() []job {
	jobs := make([]job, len(h.split.Shards))
	for i, s := range h.split.Shards {
		jobs[i] = job{Host: h.Host, RunsOn: h.RunsOn.Labels, Cells: len(s.Cells), Minutes: math.Ceil(s.Time.Minutes()*10) / 10}
		if jobs[i].RunsOn == nil {
			jobs[i].RunsOn = []string{"self-hosted", h.Host}
		}
		if len(jobs) > 1 {
			jobs[i].Shard = fmt.Sprintf("%d/%d", i+1, len(jobs))
		}
	}
	return jobs
}
