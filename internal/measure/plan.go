package measure

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/accelgate/accelgate/internal/artifact"
	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/device"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/gate/policy"
	"github.com/accelgate/accelgate/internal/matrix"
	"github.com/accelgate/accelgate/internal/measure/cluster"
	"github.com/accelgate/accelgate/internal/measure/prepare"
	"github.com/accelgate/accelgate/internal/measure/runner"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/worker"
)

// Plan is what a command is going to measure and how it will judge.
type Plan struct {
	Options  *Options
	File     *config.File
	Host     bench.Host
	worker   worker.Worker
	Policy   gate.Policy
	Suites   []Planned
	Metrics  []bench.Metric  // of all chosen suites
	Others   []string        // ids of cells that a filter left out
	LeftOut  []bench.LeftOut // cells over max_cells
	Warnings []string
	unpaired []string      // what was to be measured in pairs and is not: a clause each
	unjudged bool          // nothing is compared with a baseline, and nothing resumed
	Partial  *bench.Run    // what was measured before an error
	hold     *prepare.Hold // of the checkout, from when it was built
	foreign  []string      // suites that are not chosen, and whose cells are unknown
	// whyUnbuilt says why a suite could not be built, "" if it was; nil where nothing was built yet.
	whyUnbuilt func(suite string) string
	shield     func(context.Context) error // see [Env.shield]
	shields    bool                        // it has recorded the base's folder
	now        func() time.Time
	progress   func(suite.Progress)
	kinds      map[string]suite.Kind
	environ    []string // of this process
	say        func(string)
	stages     map[string]*prepare.Stage // of the suites that have one, by name
	attended   map[string]*watchdog      // of the suites that have one, by name

	artifacts *artifact.Store            // of the configuration; nil where it has none
	get       func(names []string) error // artifacts; nil where nothing is downloaded

	place func(*config.File) (*config.File, *artifact.Store, error)

	job      *cluster.Job // nil where no batch system started this process
	allotted []string     // devices that the job has
	nodes    int          // of the job; 0 where another host is planned for

	deviceIDs []string                // that cells are pinned to; none: cells are not pinned
	cpus      map[string]*processors  // by the suite
	root      string                  // where the folder sys of this host is
	near      map[bench.Device]int    // NUMA nodes of devices; nil where this machine is not asked
	unplaced  map[bench.Device]string // why the NUMA nodes of other devices are unknown
	needs     map[string]needs        // of devices, by the ids of cells
}

// Planned is an opened suite with its selected cells.
type Planned struct {
	Name    string
	Suite   suite.Suite
	Cells   []bench.Cell
	Skipped []bench.Result
	// Unlisted is why cells may be unknown; "" if all are known.
	Unlisted string
	unbuilt  string // why it could not be built
}

// Plan loads the configuration, finds out what this machine is, opens the
// suites and selects the cells. Close must be called.
func (e *Env) Plan(ctx context.Context, o *Options) (*Plan, error) {
	p, err := e.NewPlan(o)
	if err != nil {
		return nil, err
	}
	if err := e.prepare(ctx, p); err != nil {
		return nil, err
	}
	return p, nil
}

// prepare finds out what this machine is, opens the suites and selects the
// cells. After an error there is nothing to close.
func (e *Env) prepare(ctx context.Context, p *Plan) error {
	if err := e.Detect(ctx, p); err != nil {
		return err
	}
	p.allot(e)
	p.Policy.Shared = p.Options.Reference(p.File).Label(p.Host) != p.Host.Label
	var err error
	if p.deviceIDs, err = device.Expand(e.DeviceIDs(p), p.Host, p.environ); err != nil {
		p.Close()
		return exit.AsUsage(err)
	}
	if err := e.GetArtifacts(ctx, p, func(suite string) bool { return p.Options.Wants(p.File, p.Host.Label, suite) }); err != nil {
		p.Close()
		return err
	}
	if err := p.findNear(ctx); err != nil {
		p.Close()
		return err
	}
	if err := worker.Conceal(); err != nil {
		p.Warnings = append(p.Warnings, fmt.Sprintf("%v: programs under test may read this process's environment", err))
	}
	if err := p.Open(ctx); err != nil {
		p.Close()
		return err
	}
	return nil
}

// emptyPlan is a plan without a configuration.
func (e *Env) emptyPlan(o *Options) (*Plan, error) {
	p := &Plan{
		Options:  o,
		worker:   &worker.Isolated{Environ: e.Environ},
		environ:  e.Environ,
		now:      e.Now,
		progress: e.showProgress(),
		kinds:    e.Kinds,
		needs:    map[string]needs{},
		cpus:     map[string]*processors{},
		root:     e.Root,
		say:      func(line string) { fmt.Fprintln(e.Stderr, "accelgate: "+line) },
	}
	p.place = func(file *config.File) (*config.File, *artifact.Store, error) { return e.place(o, file) }
	p.shield = func(ctx context.Context) error { return e.shield(ctx, p) }
	return p, o.Check()
}

// PlanOf opens all of a configuration that a command made, for which there is no
// baseline; with unjudged it is neither compared nor resumed. Close must be called,
// unless there is an error.
func (e *Env) PlanOf(ctx context.Context, o *Options, file *config.File, unjudged bool) (*Plan, error) {
	p, err := e.emptyPlan(o)
	if err != nil {
		return nil, err
	}
	p.File, p.Policy, p.unjudged = file, gate.DefaultPolicy(), unjudged
	if err := e.prepare(ctx, p); err != nil {
		return nil, err
	}
	return p, nil
}

// NewPlan reads the configuration.
func (e *Env) NewPlan(o *Options) (*Plan, error) {
	p, err := e.emptyPlan(o)
	if err != nil {
		return nil, err
	}
	if p.File, p.Warnings, err = o.Read(); err != nil {
		return nil, exit.AsUsage(err)
	}
	p.Warnings = slices.Concat(p.Warnings, o.leftBehind(p.File), unread(p.File))
	if p.File, p.artifacts, err = p.place(p.File); err != nil {
		return nil, err
	}
	p.Policy, err = e.Policy(o, p.File)
	return p, err
}

// Policy settles what blocks: flag over file over built-in.
func (e *Env) Policy(o *Options, file *config.File) (gate.Policy, error) {
	kinds := make(policy.Kinds, len(e.Kinds))
	for name, k := range e.Kinds {
		kinds[name] = policy.Kind{Expect: k.Expect, Demand: k.Demand, Limits: k.Limits, Shown: k.Shown}
	}
	flags := policy.Flags{
		Threshold: o.Threshold, RequireBaseline: o.RequireBaseline, Strict: o.Strict, Profile: o.Profile, Part: o.Shard != "",
	}
	return policy.Of(file, flags, kinds)
}

// Label is the host's name as its owner gave it: flag over environment over
// configuration; "" if absent.
func (e *Env) Label(p *Plan) string {
	label, _ := e.label(p)
	return label
}

// label also returns where the label was given.
func (e *Env) label(p *Plan) (label, origin string) {
	for _, given := range [][2]string{{p.Options.HostLabel, "--host-label"}, {e.Getenv(labelVariable), labelVariable},
		{p.File.Host.Label, p.Options.Config + ": host.label"}} {
		if given[0] != "" {
			return given[0], given[1]
		}
	}
	return "", ""
}

const labelVariable = "ACCELGATE_HOST_LABEL"

// Detect finds out what this machine is, and names it.
func (e *Env) Detect(ctx context.Context, p *Plan) error {
	label, origin := e.label(p)
	if label != "" {
		if err := bench.CheckLabel(label); err != nil {
			return exit.Usagef("%s: %w", origin, err)
		}
	}
	found, warnings, err := device.Detect(ctx, device.Options{Label: label, Worker: p.worker})
	p.Host = found
	p.Warnings = append(p.Warnings, warnings...)
	if err != nil && label != "" {
		return exit.AsUsage(err)
	}
	return err
}

// AnyPlan is [Env.NewPlan] for a report about host and configuration: p is never nil, so that the
// host can be detected where the configuration cannot be used, too.
func (e *Env) AnyPlan(o *Options) (p *Plan, err error) {
	if p, err = e.NewPlan(o); p == nil {
		p, _ = e.emptyPlan(o) // its error is in err
	}
	if p.File == nil {
		p.File = &config.File{}
	}
	return p, err
}

// Open opens the suites and selects their cells. A suite that --suite leaves
// out is opened all the same, because its cells must be declared as left out.
// Ids are checked over all suites together before anything is measured.
func (p *Plan) Open(ctx context.Context) error {
	if err := errors.Join(p.checkNames(), p.checkHost(), p.checkBuild()); err != nil {
		return err
	}
	env, err := p.Env()
	if err != nil {
		return err
	}
	opened, err := p.openAll(ctx, env)
	var all []bench.Cell
	for i := range opened {
		if err != nil {
			_ = opened[i].suite.Close() // the error matters more
			continue
		}
		var cells []bench.Cell
		cells, err = p.add(&opened[i])
		all = append(all, cells...)
	}
	if err != nil {
		return err
	}
	if err := matrix.Unique(all); err != nil {
		return exit.AsUsage(fmt.Errorf("%s: %w", p.Options.Config, err))
	}
	if err := checkLengths(all); err != nil {
		return exit.AsUsage(fmt.Errorf("%s: %w", p.Options.Config, err))
	}
	return p.narrow()
}

// openAll opens all suites, and lists the cells of those that a program lists. What is
// returned with an error must be closed.
func (p *Plan) openAll(ctx context.Context, env suite.Env) (all []opened, err error) {
	for i := range p.File.Suites {
		one, err := p.openSuite(i, env)
		if err != nil {
			return all, err
		}
		all = append(all, one)
	}
	return all, p.list(ctx, all)
}

// checkLengths refuses ids that no run document can hold, before anything is
// measured.
func checkLengths(cells []bench.Cell) error {
	for _, c := range cells {
		if id := c.ID(); len(id) > bench.MaxID {
			return fmt.Errorf(
				"suite %s: the case id %.60q... has %d bytes, more than %d: shorten its values",
				c.Suite,
				id,
				len(id),
				bench.MaxID,
			)
		}
	}
	return nil
}

// Env is what suites get from outside.
func (p *Plan) Env() (suite.Env, error) {
	executable, err := os.Executable()
	if err != nil {
		return suite.Env{}, fmt.Errorf("find this program: %w", err)
	}
	if p.Options.ModelDir != "" { // children start elsewhere
		if p.Options.ModelDir, err = filepath.Abs(p.Options.ModelDir); err != nil {
			return suite.Env{}, exit.Usagef("--model-dir: %w", err)
		}
	}
	dir, err := filepath.Abs(p.File.Dir)
	if err != nil {
		return suite.Env{}, fmt.Errorf("find the folder of %s: %w", p.Options.Config, err)
	}
	return suite.Env{Host: p.Host, Worker: p.worker, Environ: p.environ, Executable: executable, Dir: dir, Base: p.Options.isBase,
		ModelDir: p.Options.ModelDir, Hide: Secrets(p.Secrets()).Hide, Now: p.now, Files: p.OutPath(""), Progress: p.progress,
		Downloads: p.downloads(), RawIDs: p.Policy.Compat == gate.CompatTensorSharp}, nil
}

// opened is a suite that is not yet a part of the plan.
type opened struct {
	of       *config.Suite
	suite    suite.Suite
	wanted   bool
	cpus     *processors
	unlisted string // why cells may be unknown
}

// openSuite opens one suite.
func (p *Plan) openSuite(index int, env suite.Env) (o opened, err error) {
	s := &p.File.Suites[index]
	o = opened{of: s, wanted: p.Options.Wants(p.File, p.Host.Label, s.Name)}
	if o.wanted {
		env.EngineArgs = p.Options.EngineArgs()
	}
	if o.cpus, err = p.processorsOf(s); err != nil {
		return o, err
	}
	p.cpus[s.Name], env.Pin = o.cpus, o.cpus.pin
	o.suite, err = p.kinds[s.Kind].Open(s, env)
	if err != nil {
		var again bool
		if again, err = p.lacking(index, err); again {
			o.suite, err = p.kinds[s.Kind].Open(s, env)
		}
	}
	if err != nil {
		return o, err
	}
	if remote, ok := o.suite.(suite.Remote); ok && remote.Address() != "" && len(s.CPUs)+len(s.NUMA) > 0 {
		key := "numa"
		if len(s.CPUs) > 0 {
			key = "cpus"
		}
		return o, errors.Join(s.Errorf(key, "the server runs already: remove cpus and numa, or let accelgate start it by server.command"),
			o.suite.Close())
	}
	return o, nil
}

// add makes an opened suite a part of the plan, unless it was not chosen, and returns all of
// its cells, skipped ones too.
func (p *Plan) add(o *opened) ([]bench.Cell, error) {
	s := o.of
	planned := Planned{Name: s.Name, Suite: o.suite, Cells: o.suite.Cells(), Skipped: o.suite.Skipped(), Unlisted: o.unlisted}
	all := planned.All()
	if len(all) == 0 && o.unlisted == "" {
		return nil, errors.Join(fmt.Errorf("%w: %v", runner.ErrNoCells,
			s.Errorf("", "expands to no cell: loosen its exclude or add values to its axes")), o.suite.Close())
	}
	metrics := withResources(s, o.suite.Metrics())
	var limits error
	if len(all) > 0 {
		limits = errors.Join(policy.Check(s, metrics, all, p.Host.Label), checkWidths(s, all))
		p.wide(s, &planned)
	}
	if !o.wanted {
		if o.unlisted != "" {
			p.foreign = append(p.foreign, s.Name)
		}
		p.Others = append(p.Others, CellIDs(all)...)
		return all, errors.Join(limits, o.suite.Close())
	}
	p.Warnings = append(p.Warnings, o.suite.Warnings()...)
	p.Suites = append(p.Suites, planned)
	if len(all) > 0 {
		limits = errors.Join(limits, p.addStage(s, o.suite, all, o.cpus), p.watch(s, all))
	}
	return all, errors.Join(limits, p.AddMetrics(s, metrics))
}

// All returns every cell, those that this host cannot run last.
func (s *Planned) All() []bench.Cell {
	all := slices.Clone(s.Cells)
	for _, r := range s.Skipped {
		all = append(all, r.Cell)
	}
	return all
}

// AddMetrics collects the suites' metrics; one name has one meaning in a run. A metric that
// any suite gates is gated; the policy has the suites that only show it.
func (p *Plan) AddMetrics(s *config.Suite, metrics []bench.Metric) error {
	for _, m := range metrics {
		i := slices.IndexFunc(p.Metrics, func(known bench.Metric) bool { return known.Name == m.Name })
		if i < 0 {
			p.Metrics = append(p.Metrics, m)
			continue
		}
		gated, shown := m, p.Metrics[i]
		if m.Informational {
			gated, shown = shown, gated
		}
		if p.Policy.Compat == "" && !gated.Informational && shown.Informational {
			shown.Informational, shown.Exact = false, gated.Exact // a metric that is only shown need not be equal
		}
		p.Metrics[i] = gated
		if shown != gated {
			return s.Errorf("metrics", "%s is described in another way by an earlier suite: use one description, or two names", m.Name)
		}
	}
	return nil
}

// informational reports whether the cell's suite only shows a metric, as it does with
// resources that it does not report itself.
func (p *Plan) informational(c bench.Cell, metric string) bool {
	for _, one := range p.Suites {
		if one.Name == c.Suite {
			m := (&bench.Run{Metrics: one.Suite.Metrics()}).Metric(metric)
			return m == nil || m.Informational
		}
	}
	return false
}

// SetOf makes ids fast to find.
func SetOf(ids []string) map[string]bool {
	set := make(map[string]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set
}

// CellIDs are the ids of cells, in their order.
func CellIDs(cells []bench.Cell) []string {
	ids := make([]string, 0, len(cells))
	for _, c := range cells {
		ids = append(ids, c.ID())
	}
	return ids
}

// Close releases the suites and the worker.
func (p *Plan) Close() {
	_, _ = p.endStages(context.Background()) // they have ended unless measuring could not begin
	for _, s := range p.Suites {
		s.Suite.Close()
	}
	p.worker.Close()
	p.artifacts.Release()
	p.hold.Release()
	if p.shields {
		p.unshield()
	}
}

// BaselineFile is where this host's baseline is or will be, for those who write it. It is an
// error where there is none to write.
func (p *Plan) BaselineFile() (string, error) {
	return p.Options.Reference(p.File).PathOf(p.Host), p.Options.Writable(p.File)
}

// Writable refuses to write baseline files where others are compared with.
func (o *Options) Writable(file *config.File) error {
	at := o.Reference(file)
	if at.Remote() {
		return exit.Usagef(
			"%s: the baselines are in %s: clone that, name the file with --baseline, and push it",
			o.Config,
			file.Baselines.In(at.Path("LABEL")),
		)
	}
	if at.FromHistory() {
		return exit.Usagef(
			"%s: baselines.from is history, so there is no baseline file: accept a level with 'accelgate baseline update --reason TEXT', or name a file with --baseline",
			o.Config,
		)
	}
	return nil
}
