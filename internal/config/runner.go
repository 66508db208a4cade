package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// RunsOn describes how jobs find a host. At most one of its fields is given; with none, any target can plan jobs for the host.
type RunsOn struct {
	Labels     []string    `yaml:"labels,list"` // of the GitHub runner
	Slurm      []string    `yaml:"slurm"`       // options of sbatch; empty and not nil where Slurm needs none
	Kubernetes *Kubernetes `yaml:"kubernetes"`
}

// Kubernetes is a host as pods find it.
type Kubernetes struct {
	Image string `yaml:"image,required"` // with accelgate, and with the checkout and its build as working directory
	// Nodes are labels of the nodes; nil is the label accelgate/host with the label of the host.
	Nodes map[string]string `yaml:"nodes"`
}

// OnGitHub reports whether GitHub's matrix has jobs for the host.
func (r *RunsOn) OnGitHub() bool { return r.Slurm == nil && r.Kubernetes == nil }

// OnSlurm reports whether Slurm can have jobs for the host.
func (r *RunsOn) OnSlurm() bool { return r.Labels == nil && r.Kubernetes == nil }

// OnKubernetes reports whether Kubernetes has jobs for the host.
func (r *RunsOn) OnKubernetes() bool { return r.Kubernetes != nil }

// OnCluster reports whether a batch system measures on the host.
func (r *RunsOn) OnCluster() bool { return !r.OnGitHub() }

// ownOptions are the options of sbatch that the job script sets.
var ownOptions = []string{"--array", "--job-name", "--wait", "--parsable", "--requeue", "--nodes", "--ntasks-per-node"}

// runners checks what the list of runners says of suites and of one another.
func (d *decoder) runners(f *File, n ast.Node) {
	seq, ok := d.resolve(n).(*ast.SequenceNode)
	if !ok {
		return // said already
	}
	seen := map[string]int{}
	for i := range min(len(f.Runners), len(seq.Values)) {
		r, at, path := f.Runners[i], seq.Values[i], fmt.Sprintf("runners[%d]", i)
		if first, twice := seen[r.Host]; twice && r.Host != "" {
			d.fail(start(d.at(at, path+".host")), fmt.Sprintf("%s.host: runners[%d] has %s as well", path, first, quote(r.Host)),
				"keep one entry for each host")
		}
		seen[r.Host] = i
		d.runner(f, &r, at, path)
	}
}

func (d *decoder) runner(f *File, r *Runner, at ast.Node, path string) {
	if r.Shards < 0 || r.Shards > maxShards {
		d.fail(start(d.at(at, path+".shards")), fmt.Sprintf("%s.shards: is %d", path, r.Shards), fmt.Sprintf("write 1 to %d", maxShards))
	}
	d.notNegative(at, path+".longest", r.Longest)
	if r.Longest > 0 && r.Shards > 0 {
		d.fail(start(d.at(at, path+".shards")), path+".shards: longest is given as well",
			"keep one: longest makes as many shards as it needs")
	}
	d.runsOn(&r.RunsOn, d.at(at, path+".runs_on"), path+".runs_on")
	if r.Suites != nil && len(r.Suites) == 0 {
		d.fail(start(d.at(at, path+".suites")), path+".suites: is empty", "name the suites that the host measures, or remove the key")
	}
	for _, name := range r.Suites {
		if !slices.ContainsFunc(f.Suites, func(s Suite) bool { return s.Name == name }) {
			d.fail(start(d.at(at, path+".suites")), fmt.Sprintf("%s.suites: no suite is named %s", path, quote(name)),
				"use one of "+strings.Join(suiteNames(f.Suites), ", "))
		}
	}
}

// runsOn refuses several targets, and options of sbatch that the job script sets.
func (d *decoder) runsOn(r *RunsOn, at ast.Node, path string) {
	given := 0
	for _, some := range []bool{r.Labels != nil, r.Slurm != nil, r.Kubernetes != nil} {
		if some {
			given++
		}
	}
	if given > 1 {
		d.fail(start(at), path+": several targets are given", "keep one of labels, slurm and kubernetes; a host has one")
	}
	for _, option := range r.Slurm {
		name, _, _ := strings.Cut(option, "=")
		switch {
		case !slurmOption.MatchString(option):
			d.fail(start(d.at(at, path+".slurm")), fmt.Sprintf("%s.slurm: %s is not an option of sbatch", path, quote(option)),
				"write it as one word, as in --partition=h100")
		case slices.Contains(ownOptions, name):
			d.fail(start(d.at(at, path+".slurm")), fmt.Sprintf("%s.slurm: the job script sets %s itself", path, name), "remove it")
		}
	}
}

// slurmOption is a line after #SBATCH: a name, and a value without spaces and quotes.
var slurmOption = lazyregexp.New(`^--[a-z][a-z-]*(=[^\s"'\\#]+)?$`)

func suiteNames(suites []Suite) (list []string) {
	for i := range suites {
		list = append(list, suites[i].Name)
	}
	return list
}
