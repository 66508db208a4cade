package action

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/text"
)

// planned is a job that the called workflow is to measure in.
type planned struct {
	Host     string   `json:"host"`
	RunsOn   []string `json:"runs-on"`
	Shard    string   `json:"shard"` // "" for the whole
	Artifact string   `json:"artifact"`
}

// plan sets outputs for a called workflow: the name of the configuration, the hosts, the
// matrix of the jobs that measure, and the folder with the times of earlier runs. The input hosts wins
// over the runners of the configuration. Nothing is opened, as what suites need may be on the hosts alone.
func (a *action) plan(ctx context.Context) error {
	a.nameConfiguration(a.nameOf(ctx, a.in.options.Config))
	a.readHistory(ctx)
	times := &hostTimes{a, nil, map[string]*bench.Run{}}
	jobs, err := a.plannedJobs(ctx, times)
	if err != nil {
		return err
	}
	var hosts []string
	for _, j := range jobs {
		if len(hosts) == 0 || hosts[len(hosts)-1] != j.Host {
			hosts = append(hosts, j.Host)
		}
	}
	var matrix strings.Builder
	if err := text.WriteJSON(&matrix, "", map[string]any{"include": jobs}); err != nil {
		return err
	}
	folder := ""
	if times.file != nil {
		if folder, err = times.save(hosts); err != nil {
			return err
		}
	}
	for _, trouble := range a.troubles {
		a.warn(errors.New(trouble))
	}
	a.output("name", a.in.name)
	a.output("hosts", strings.Join(hosts, ","))
	a.output("matrix", strings.TrimSpace(matrix.String()))
	a.output("times", folder)
	_, err = fmt.Fprintf(a.Stdout, "%s on %s\n", text.Plural(len(jobs), "job"), strings.Join(hosts, ", "))
	return err
}

func (a *action) plannedJobs(ctx context.Context, times *hostTimes) (jobs []planned, err error) {
	for _, host := range slices.Compact(slices.Sorted(slices.Values(a.in.hosts))) {
		jobs = append(jobs, planned{host, selfHosted(host), "", a.artifactName("run", host)})
	}
	file, err := a.plannedFile(ctx)
	if jobs != nil { // the file is only asked for times
		times.file = file
		return jobs, nil
	}
	if err != nil {
		return nil, err
	}
	times.file = file
	for i := range file.Runners {
		if r := &file.Runners[i]; r.RunsOn.OnGitHub() && a.in.options.Measures(file, r.Host) {
			more, err := a.jobsOf(r, times)
			if err != nil {
				return nil, err
			}
			jobs = append(jobs, more...)
		}
	}
	if jobs == nil {
		return nil, exit.Usagef(
			"there is no host to measure on: set the input hosts of the workflow, or add \"runners: [{host: linux-cuda-h100}]\" to %s of the branch that the pull request goes into",
			text.OneLine(a.in.options.Config))
	}
	return jobs, nil
}

// jobsOf are the jobs of one host, and says how their number was found.
func (a *action) jobsOf(r *config.Runner, times *hostTimes) (jobs []planned, err error) {
	if err := bench.CheckLabel(r.Host); err != nil {
		return nil, exit.Usagef("%s: runners: %w", text.OneLine(a.in.options.Config), err)
	}
	labels := r.RunsOn.Labels
	if labels == nil {
		labels = selfHosted(r.Host)
	}
	shards, why := times.jobs(r)
	if why != "" {
		fmt.Fprintf(a.Stdout, "%s: %s\n", r.Host, why)
	}
	for i := range shards {
		job := planned{r.Host, labels, "", a.artifactName("run", r.Host)}
		if shards > 1 {
			job.Shard, job.Artifact = fmt.Sprintf("%d/%d", i+1, shards), fmt.Sprintf("%s.%d-of-%d", job.Artifact, i+1, shards)
		}
		jobs = append(jobs, job)
	}
	return jobs, nil
}

func selfHosted(host string) []string { return []string{"self-hosted", host} }

// plannedFile reads the configuration, of the pull request where it brings the
// configuration.
func (a *action) plannedFile(ctx context.Context) (*config.File, error) {
	file, _, err := a.Env.Load(&a.in.options)
	if !errors.Is(err, fs.ErrNotExist) {
		return file, err
	}
	if data := a.brought(ctx, a.in.options.Config); data != nil {
		file, err = config.Parse(a.in.options.Config, data)
	}
	if err != nil {
		return nil, exit.AsUsage(err)
	}
	return file, nil
}
