package measure

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/accelgate/accelgate/internal/artifact"
	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/device"
	"github.com/accelgate/accelgate/internal/device/watch"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/gate/policy"
	"github.com/accelgate/accelgate/internal/measure/cluster"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/worker"
)

// Config is a configuration as it holds on one host. Its owner may change it until
// [Env.Open] makes a plan of it.
type Config struct {
	Options  *Options // a copy
	File     *config.File
	Policy   gate.Policy
	Host     bench.Host
	Warnings []string

	unjudged bool // nothing is compared with a baseline, and nothing resumed
	kinds    map[string]suite.Kind
	environ  []string        // of children
	store    *artifact.Store // of the artifacts; nil where there are none
	built    BuildResult
	gpus     *watch.Host // reads the state of NVIDIA GPUs for all; that of the head for its base

	isBase    bool     // it is the base of another one, which is the head
	headDir   string   // folder of the head's code
	baseLogs  string   // where the base's logs go
	notListed []string // suites of the base that the head leaves out

	here      bool         // this machine is the host, and what follows is known
	job       *cluster.Job // nil where no batch system started this process
	allotted  []string     // devices that the job has
	nodes     int          // of the job
	deviceIDs []string     // that cells are pinned to; none: cells are not pinned
	near      map[bench.Device]int
	unplaced  map[bench.Device]string // why the NUMA nodes of other devices are unknown
}

// Configure reads the configuration. With an error the result still has the options, so that the
// host can be detected where the configuration cannot be used.
func (e *Env) Configure(o *Options) (Config, error) {
	c := e.newConfig(o)
	if err := o.check(); err != nil {
		return c, err
	}
	file, warnings, err := o.Read()
	if err != nil {
		return c, exit.AsUsage(err)
	}
	placed, store, err := e.place(o, file)
	if err != nil {
		return c, err
	}
	if c.Options.pipedConfig = o.pipedConfig; o.ModelDir != "" { // children start elsewhere
		if c.Options.ModelDir, err = filepath.Abs(o.ModelDir); err != nil {
			return c, exit.Usagef("--model-dir: %w", err)
		}
	}
	c.File, c.store, c.Warnings = placed, store, slices.Concat(warnings, o.leftBehind(file), unread(file))
	c.Policy, err = e.Policy(o, c.File)
	return c, err
}

// ConfigOf is a configuration that a command made, for which there is no baseline; with
// unjudged it is neither compared nor resumed.
func (e *Env) ConfigOf(o *Options, file *config.File, unjudged bool) (Config, error) {
	c := e.newConfig(o)
	c.File, c.Policy, c.unjudged = file, gate.DefaultPolicy(), unjudged
	return c, o.check()
}

func (e *Env) newConfig(o *Options) Config {
	own := *o
	return Config{Options: &own, File: &config.File{}, kinds: e.Kinds, environ: e.Environ, gpus: watch.New(e.Environ, e.Now)}
}

// In is the configuration with another folder in place of its own: the same
// suites and cells of other code, such as a checkout of an earlier commit. What
// it names by relative paths is looked for in dir, where children start as well. Baselines and
// results are looked for there, too, unless the options name them.
func (c Config) In(dir string) (Config, error) {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return c, fmt.Errorf("find the folder %s: %w", dir, err)
	}
	file := *c.File
	file.Dir, c.File = absolute, &file
	return c, nil
}

// Use adds what [Env.Build] built.
func (c *Config) Use(b BuildResult) {
	c.built = b
	if b.unpaired != "" {
		c.Options.AB = ""
	}
}

// Policy settles what blocks: flag over file over built-in.
func (e *Env) Policy(o *Options, file *config.File) (gate.Policy, error) {
	kinds := make(policy.Kinds, len(e.Kinds))
	for name, k := range e.Kinds {
		kinds[name] = policy.Kind{Expect: k.Expect, Operators: k.Operators, Demand: k.Demand, Limits: k.Limits, Shown: k.Shown}
	}
	flags := policy.Flags{
		Threshold: o.Threshold, RequireBaseline: o.RequireBaseline, Strict: o.Strict, Profile: o.Profile, Part: o.Shard != "",
	}
	return policy.Of(file, flags, kinds)
}

// Label is the host's name as its owner gave it: flag over environment over
// configuration; "" if absent.
func (e *Env) Label(c *Config) string {
	label, _ := e.label(c)
	return label
}

// label also returns where the label was given.
func (e *Env) label(c *Config) (label, origin string) {
	for _, given := range [][2]string{{c.Options.HostLabel, "--host-label"}, {e.Getenv(labelVariable), labelVariable},
		{c.File.Host.Label, c.Options.Config + ": host.label"}} {
		if given[0] != "" {
			return given[0], given[1]
		}
	}
	return "", ""
}

const labelVariable = "ACCELGATE_HOST_LABEL"

// Detect finds out what this machine is, and names it.
func (e *Env) Detect(ctx context.Context, c *Config) error {
	label, origin := e.label(c)
	if label != "" {
		if err := bench.CheckLabel(label); err != nil {
			return exit.Usagef("%s: %w", origin, err)
		}
	}
	w := &worker.Isolated{Environ: c.environ}
	defer w.Close()
	found, warnings, err := device.Detect(ctx, device.Options{Label: label, Worker: w})
	c.Host = found
	c.Warnings = append(c.Warnings, warnings...)
	if err != nil && label != "" {
		return exit.AsUsage(err)
	}
	return err
}

// detectDevices makes this machine the host, and finds its devices.
func (e *Env) detectDevices(ctx context.Context, c *Config) (err error) {
	if err := e.Detect(ctx, c); err != nil {
		return err
	}
	c.here = true
	e.allot(c)
	c.Policy.Shared = c.Options.Reference(c.File).Label(c.Host) != c.Host.Label
	if c.deviceIDs, err = device.Expand(e.DeviceIDs(c), c.Host, c.environ); err != nil {
		return exit.AsUsage(err)
	}
	return e.findNear(ctx, c)
}
