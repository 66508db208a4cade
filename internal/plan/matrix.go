package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

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
		one := o.Options
		one.HostLabel, one.Shard = r.Host, ""
		if _, known := device.FromLabel(r.Host); !known {
			e.WarnAll([]string{fmt.Sprintf("the label %s does not name a kind of host, so its jobs are planned for this host: plan on such a host, or name runners such as linux-cuda-%s", r.Host, r.Host)})
		}
		p, err := For(ctx, e, &one)
		if err != nil {
			return err
		}
		split, err := o.split(p, r.Shards)
		p.Close()
		if err != nil {
			return err
		}
		e.WarnAll(o.warning(split))
		shards := len(split.Shards)
		for i, s := range split.Shards {
			j := job{Host: r.Host, RunsOn: r.RunsOn, Cells: len(s.Cells), Minutes: math.Ceil(s.Time.Minutes()*10) / 10}
			if j.RunsOn == nil {
				j.RunsOn = []string{"self-hosted", r.Host}
			}
			if shards > 1 {
				j.Shard = fmt.Sprintf("%d/%d", i+1, shards)
			}
			include = append(include, j)
		}
	}
	data, err := json.Marshal(map[string]any{"include": include})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.Stdout, "%s\n", data)
	return err
}
