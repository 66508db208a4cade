package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/device"
	"github.com/accelgate/accelgate/internal/exit"
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

// PrintMatrix prints one job for each runner and shard.
func PrintMatrix(ctx context.Context, e *measure.Env, o *Options) error {
	file, _, err := e.Load(&o.Options)
	if err != nil {
		return err
	}
	if len(file.Runners) == 0 {
		return exit.Usagef("--github-matrix: %s has no runners: add \"runners: [{host: linux-cuda, runs_on: [self-hosted, cuda], shards: 2}]\"", o.Config)
	}
	include := []job{}
	for _, r := range file.Runners {
		if !o.Measures(file, r.Host) {
			continue
		}
		jobs, err := o.jobs(ctx, e, &r)
		if err != nil {
			return err
		}
		include = append(include, jobs...)
	}
	data, err := json.Marshal(map[string]any{"include": include})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.Stdout, "%s\n", data)
	return err
}

// jobs are those of one runner.
func (o *Options) jobs(ctx context.Context, e *measure.Env, r *config.Runner) ([]job, error) {
	one := *o.of(r)
	one.HostLabel, one.Shard = r.Host, ""
	if _, known := device.FromLabel(r.Host); !known {
		e.WarnAll([]string{fmt.Sprintf("the label %s does not name a kind of host, so its jobs are planned for this host: plan on such a host, or name runners such as linux-cuda-%s", r.Host, r.Host)})
	}
	p, err := For(ctx, e, &one.Options)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	split, err := one.split(p, r.Shards)
	if err != nil {
		return nil, err
	}
	e.WarnAll(one.warning(split))
	jobs := make([]job, len(split.Shards))
	for i, s := range split.Shards {
		jobs[i] = job{Host: r.Host, RunsOn: r.RunsOn, Cells: len(s.Cells), Minutes: math.Ceil(s.Time.Minutes()*10) / 10}
		if r.RunsOn == nil {
			jobs[i].RunsOn = []string{"self-hosted", r.Host}
		}
		if len(jobs) > 1 {
			jobs[i].Shard = fmt.Sprintf("%d/%d", i+1, len(jobs))
		}
	}
	return jobs, nil
}
