package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/device"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/measure/cluster"
)

// target is a system that starts the jobs of a matrix.
type target struct {
	name  string
	takes func(*config.RunsOn) bool // the hosts that it can start jobs on
	entry string                    // an example of runners
	print func(*measure.Env, *Options, []host) error
}

var targets = []target{
	{"github", (*config.RunsOn).OnGitHub, "{host: linux-cuda, runs_on: [self-hosted, cuda], shards: 2}", printMatrix},
	{cluster.Slurm, (*config.RunsOn).OnSlurm, "{host: linux-cuda, runs_on: {slurm: [--partition=gpu]}, shards: 2}", printScript},
	{cluster.Kubernetes, (*config.RunsOn).OnKubernetes, "{host: linux-cuda, runs_on: {kubernetes: {image: IMAGE}}, shards: 2}",
		printManifests},
}

// Targets are the names of all targets.
func Targets() (names []string) {
	for _, t := range targets {
		names = append(names, t.name)
	}
	return names
}

// targetOf returns the target that --for names.
func (o *Options) target() (target, error) {
	if i := slices.IndexFunc(targets, func(t target) bool { return t.name == o.For }); i >= 0 {
		return targets[i], nil
	}
	return target{}, exit.Usagef("--for: unknown target %.40q: use %s", o.For, strings.Join(Targets(), ", "))
}

// host is a runner of the configuration with the shards of its jobs.
type host struct {
	config.Runner
	split  measure.Sharding
	demand cluster.Demand
}

// PrintFor prints the jobs for a target.
func PrintFor(ctx context.Context, e *measure.Env, o *Options) error {
	t, err := o.target()
	if err != nil {
		return err
	}
	file, _, err := e.Load(o.options())
	if err != nil {
		return err
	}
	o.name, o.Runs = file.Name, map[string]*bench.Run{}
	hosts := []host{}
	some := false
	for _, r := range file.Runners {
		if !t.takes(&r.RunsOn) || o.HostLabel != "" && o.HostLabel != r.Host {
			continue
		}
		some = true
		if !o.Measures(file, r.Host) {
			continue
		}
		h, err := o.host(ctx, e, r)
		if err != nil {
			return err
		}
		hosts = append(hosts, h)
	}
	if !some {
		return exit.Usagef("--for %s: %s has no such runners: add \"runners: [%s]\"", t.name, o.Config, t.entry)
	}
	return t.print(e, o, hosts)
}

// host packs the cells of one runner.
func (o *Options) host(ctx context.Context, e *measure.Env, r config.Runner) (h host, err error) {
	one := *o.of(&r)
	one.HostLabel, one.Shard = r.Host, ""
	if _, known := device.FromLabel(r.Host); !known {
		e.WarnAll([]string{fmt.Sprintf("the label %s does not name a kind of host, so its jobs are planned for this host: "+
			"plan on such a host, or name runners such as linux-cuda-%s", r.Host, r.Host)})
	}
	s, err := e.OpenPlanFor(ctx, one.options())
	if err != nil {
		return h, err
	}
	defer s.Close()
	split, err := one.split(s.Plan, r.Shards)
	if err != nil {
		return h, err
	}
	e.WarnAll(one.warning(split))
	return host{r, split, s.Plan.Demand()}, nil
}

// checkFor refuses options that do not go with --for.
func (o *Options) checkFor() error {
	switch {
	case o.For == "" && len(o.Args) > 0:
		return exit.Usagef("%.60q after -- is for jobs: add --for slurm or --for kubernetes, or leave it out", o.Args[0])
	case o.For == "":
		return nil
	case o.List || o.JSON:
		return exit.Usagef("--list, --json and --for exclude each other: keep one")
	case o.For == targets[0].name:
		if len(o.Args) > 0 {
			return exit.Usagef("--for github prints no command that flags after -- could go into: leave them out")
		}
		return nil
	}
	for _, folder := range o.Durations {
		if inside(folder, cluster.Folder) || inside(cluster.Folder, folder) {
			return exit.Usagef(
				"--durations: the jobs write into %s while others of them read the times there: name a copy in another folder",
				cluster.Folder)
		}
	}
	return nil
}

// inside reports whether a path is a folder, or below it.
func inside(path, folder string) bool {
	from, err := filepath.Abs(folder)
	to, also := filepath.Abs(path)
	rel, third := filepath.Rel(from, to)
	return cmp.Or(errors.Join(err, also, third)) == nil && filepath.IsLocal(rel)
}
