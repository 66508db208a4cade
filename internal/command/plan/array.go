package plan

import (
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/judge"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/measure/cluster"
	"github.com/accelgate/accelgate/internal/text"
)

// array is the jobs of a host for a batch system.
func (o *Options) array(h *host) *cluster.Array {
	one, judging := o.options(), judge.Typing{Options: &measure.Options{HostOptions: measure.HostOptions{Config: o.Config}}}
	one.HostLabel = h.Host
	t := judge.Typing{Options: one}
	run := t.Planned("accelgate run").Add("--durations", o.Durations...)
	made := t.Planned("accelgate plan --for "+o.For).Add("--durations", o.Durations...)
	if o.Shards.given() {
		made = made.Add("--shards", o.Shards.text())
	}
	if o.Longest > 0 {
		made = made.Add("--max-minutes", fmt.Sprint(o.Longest.Minutes()))
	}
	var more strings.Builder
	for _, arg := range o.Args {
		more.WriteString(" " + text.ShellWord(arg))
	}
	a := &cluster.Array{
		Name: cluster.JobName(o.name, h.Host), Host: h.Host, Shards: len(h.split.Shards), Run: string(run) + more.String(),
		Judge: string(judging.Planned("accelgate report")), Folder: path.Join(cluster.Folder, o.name),
		Made: string(made), Limit: limit(h), Demand: h.demand,
	}
	if len(o.Args) > 0 {
		a.Made += " --" + more.String()
	}
	return a
}

// limit leaves a job twice the time that it is expected to take, because pairs and repeated measurements take longer; 0
// where no time is known.
func limit(h *host) time.Duration {
	expected := max(h.split.Makespan, h.Longest)
	if expected == 0 {
		return 0
	}
	return (2*expected + 10*time.Minute).Truncate(time.Minute)
}

// printScript prints the job script of one host.
func printScript(e *measure.Env, o *Options, hosts []host) error {
	if len(hosts) != 1 {
		var labels []string
		for i := range hosts {
			labels = append(labels, hosts[i].Host)
		}
		return exit.Usagef("--for slurm prints the script of one host: choose it with --host-label, one of %s", strings.Join(labels, ", "))
	}
	h := &hosts[0]
	return cluster.SlurmScript(e.Stdout, o.array(h), h.RunsOn.Slurm)
}

// printManifests prints a Job for each host.
func printManifests(e *measure.Env, o *Options, hosts []host) error {
	for i := range hosts {
		h := &hosts[i]
		if h.demand.Nodes > 1 {
			return exit.Usagef("--for kubernetes: cells of %s span %d nodes, which no Job does: "+
				"plan them for Slurm, or choose other suites with --suite", h.Host, h.demand.Nodes)
		}
		if i > 0 {
			fmt.Fprintln(e.Stdout, "---")
		}
		if err := cluster.KubernetesManifest(e.Stdout, o.array(h), h.RunsOn.Kubernetes); err != nil {
			return err
		}
	}
	return nil
}
