package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/device"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/matrix"
	"github.com/accelgate/accelgate/internal/reference/baseline"
	"github.com/accelgate/accelgate/internal/runner"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/worker"
)

// plan is what a command is going to measure and how it will judge.
type plan struct {
	options  *options
	file     *config.File
	host     bench.Host
	worker   worker.Worker
	policy   gate.Policy
	suites   []planned
	metrics  []bench.Metric  // of all chosen suites
	others   []string        // ids of cells that a filter left out
	leftOut  []bench.LeftOut // cells over max_cells
	warnings []string
	unjudged bool       // nothing is compared with a baseline, and nothing resumed
	partial  *bench.Run // what was measured before an error
	now      func() time.Time
	progress func(suite.Progress)
	kinds    map[string]suite.Kind
	environ  []string // of this process
}

// planned is an opened suite with its selected cells.
type planned struct {
	name    string
	suite   suite.Suite
	cells   []bench.Cell
	skipped []bench.Result
}

// plan loads the configuration, finds out what this machine is, opens the
// suites and selects the cells. Close must be called.
func (e *Env) plan(ctx context.Context, o *options) (*plan, error) {
	p, err := e.newPlan(o)
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
func (e *Env) prepare(ctx context.Context, p *plan) error {
	if err := e.detect(ctx, p); err != nil {
		return err
	}
	if err := worker.Conceal(); err != nil {
		p.warnings = append(p.warnings, fmt.Sprintf("%v: programs under test may read this process's environment", err))
	}
	if err := p.open(); err != nil {
		p.close()
		return err
	}
	return nil
}

// emptyPlan is a plan without a configuration.
func (e *Env) emptyPlan(o *options) (*plan, error) {
	p := &plan{options: o, worker: &worker.Isolated{Environ: e.Environ}, environ: e.Environ, now: e.Now, progress: e.showProgress(), kinds: e.Kinds}
	return p, o.check()
}

// planOf opens all of a configuration that a command made, for which there is no
// baseline; with unjudged it is neither compared nor resumed. Close must be called,
// unless there is an error.
func (e *Env) planOf(ctx context.Context, o *options, file *config.File, unjudged bool) (*plan, error) {
	p, err := e.emptyPlan(o)
	if err != nil {
		return nil, err
	}
	p.file, p.policy, p.unjudged = file, gate.DefaultPolicy(), unjudged
	if err := e.prepare(ctx, p); err != nil {
		return nil, err
	}
	return p, nil
}

// newPlan reads the configuration.
func (e *Env) newPlan(o *options) (*plan, error) {
	p, err := e.emptyPlan(o)
	if err != nil {
		return nil, err
	}
	if p.file, p.warnings, err = o.read(); err != nil {
		return nil, exit.AsUsage(err)
	}
	p.policy, err = e.policy(o, p.file)
	return p, err
}

// policy settles what blocks: flag over file over built-in.
func (e *Env) policy(o *options, file *config.File) (gate.Policy, error) {
	policy := gate.DefaultPolicy()
	if file.Policy.Threshold != nil {
		policy.Threshold = float64(*file.Policy.Threshold)
	}
	if o.threshold != "" {
		var percent config.Percent
		if err := percent.UnmarshalText([]byte(o.threshold)); err != nil {
			return policy, exit.Usagef("--threshold: %w", err)
		}
		policy.Threshold = float64(percent)
	}
	policy.RequireBaseline = o.requireBaseline || file.Policy.RequireBaseline != nil && *file.Policy.RequireBaseline
	policy.Part = o.shard != ""
	policy.Fingerprint, policy.LeftOut, policy.Compat = file.Policy.Fingerprint, file.Policy.LeftOut, file.Policy.Compat
	policy.Method, policy.Inconclusive, policy.Unhealthy = file.Policy.Method, file.Policy.Inconclusive, file.Policy.Unhealthy
	if file.Policy.FalseAlarms != nil {
		policy.FalseAlarms = float64(*file.Policy.FalseAlarms)
	}
	policy.OneLook = file.Policy.Confirm != nil && *file.Policy.Confirm == 0
	if file.Policy.Threshold != nil || o.threshold != "" {
		policy.MinEffect = max(policy.Threshold, leastEffect) // what somebody says is the limit is that of evidence, too
	}
	if m := file.Policy.MinEffect; m != nil && o.threshold == "" {
		policy.MinEffect = max(float64(*m), leastEffect)
	}
	policy.Drift = max(gate.DefaultDrift, policy.Threshold) // what is allowed in one step is no drift
	if d := file.Policy.Drift; d != nil {
		policy.Drift = float64(*d)
	}
	if f := file.Policy.Implausible; f != nil {
		policy.Implausible = float64(*f)
	}
	var err error
	if policy.Expected, err = e.expected(file); err != nil {
		return policy, err
	}
	policy.Demands, err = e.demanded(file)
	return policy, err
}

// leastEffect stands for 0 %, which the gate takes for a limit that nobody set.
const leastEffect = 0.001

// label is the host's name as its owner gave it: flag over environment over
// configuration; "" if nobody did.
func (e *Env) label(p *plan) string {
	for _, label := range []string{p.options.hostLabel, e.Getenv("ACCELGATE_HOST_LABEL"), p.file.Host.Label} {
		if label != "" {
			return label
		}
	}
	return ""
}

// detect finds out what this machine is, and names it.
func (e *Env) detect(ctx context.Context, p *plan) error {
	label := e.label(p)
	found, warnings, err := device.Detect(ctx, device.Options{Label: label, Worker: p.worker})
	p.host = found
	p.warnings = append(p.warnings, warnings...)
	if err != nil && label != "" {
		return exit.AsUsage(err)
	}
	return err
}

// open opens the suites and selects their cells. A suite that --suite leaves
// out is opened all the same, because its cells must be declared as left out.
// Ids are checked over all suites together before anything is measured.
func (p *plan) open() error {
	if err := p.checkNames(); err != nil {
		return err
	}
	env, err := p.env()
	if err != nil {
		return err
	}
	var all []bench.Cell
	for i := range p.file.Suites {
		cells, err := p.openSuite(&p.file.Suites[i], env)
		if err != nil {
			return err
		}
		all = append(all, cells...)
	}
	if err := matrix.Unique(all); err != nil {
		return exit.AsUsage(fmt.Errorf("%s: %w", p.options.config, err))
	}
	if err := checkLengths(all); err != nil {
		return exit.AsUsage(fmt.Errorf("%s: %w", p.options.config, err))
	}
	return p.narrow()
}

// checkLengths refuses ids that no run document can hold, before anything is
// measured.
func checkLengths(cells []bench.Cell) error {
	for _, c := range cells {
		if id := c.ID(); len(id) > bench.MaxID {
			return fmt.Errorf("suite %s: the case id %.60q... has %d bytes, more than %d: shorten its values", c.Suite, id, len(id), bench.MaxID)
		}
	}
	return nil
}

// env is what suites get from outside.
func (p *plan) env() (suite.Env, error) {
	executable, err := os.Executable()
	if err != nil {
		return suite.Env{}, fmt.Errorf("find this program: %w", err)
	}
	if p.options.modelDir != "" { // children start elsewhere
		if p.options.modelDir, err = filepath.Abs(p.options.modelDir); err != nil {
			return suite.Env{}, exit.Usagef("--model-dir: %w", err)
		}
	}
	dir, err := filepath.Abs(p.file.Dir)
	if err != nil {
		return suite.Env{}, fmt.Errorf("find the folder of %s: %w", p.options.config, err)
	}
	return suite.Env{Host: p.host, Worker: p.worker, Environ: p.environ, Executable: executable, Dir: dir, Base: p.options.isBase,
		ModelDir: p.options.modelDir, Pin: device.Pin, Hide: secretList(p.secrets()).hide, Now: p.now, Files: p.outPath(""), Progress: p.progress,
		RawIDs: p.policy.Compat == gate.CompatTensorSharp}, nil
}

// openSuite opens one suite and returns all of its cells, skipped ones too.
func (p *plan) openSuite(s *config.Suite, env suite.Env) ([]bench.Cell, error) {
	wanted := len(p.options.suites) == 0 || slices.Contains(p.options.suites, s.Name)
	if wanted {
		env.EngineArgs = p.options.engineArgs()
	}
	opened, err := p.kinds[s.Kind].Open(s, env)
	if err != nil {
		return nil, err
	}
	planned := planned{s.Name, opened, opened.Cells(), opened.Skipped()}
	all := planned.all()
	if len(all) == 0 {
		return nil, fmt.Errorf("%w: %v", runner.ErrNoCells, s.Errorf("", "expands to no cell: loosen its exclude or add values to its axes"))
	}
	if !wanted {
		p.others = append(p.others, cellIDs(all)...)
		return all, opened.Close()
	}
	p.warnings = append(p.warnings, opened.Warnings()...)
	p.suites = append(p.suites, planned)
	return all, p.addMetrics(s, opened.Metrics())
}

// all returns every cell, those that this host cannot run last.
func (s *planned) all() []bench.Cell {
	all := slices.Clone(s.cells)
	for _, r := range s.skipped {
		all = append(all, r.Cell)
	}
	return all
}

// addMetrics collects the suites' metrics; one name has one meaning in a run.
func (p *plan) addMetrics(s *config.Suite, metrics []bench.Metric) error {
	for _, m := range metrics {
		i := slices.IndexFunc(p.metrics, func(known bench.Metric) bool { return known.Name == m.Name })
		if i < 0 {
			p.metrics = append(p.metrics, m)
		} else if p.metrics[i] != m {
			return s.Errorf("metrics", "%s is described in another way by an earlier suite: use one description, or two names", m.Name)
		}
	}
	return nil
}

// informational reports whether a metric is only shown.
func (p *plan) informational(metric string) bool {
	i := slices.IndexFunc(p.metrics, func(m bench.Metric) bool { return m.Name == metric })
	return i >= 0 && p.metrics[i].Informational
}

// setOf makes ids fast to find.
func setOf(ids []string) map[string]bool {
	set := make(map[string]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set
}

func cellIDs(cells []bench.Cell) []string {
	ids := make([]string, 0, len(cells))
	for _, c := range cells {
		ids = append(ids, c.ID())
	}
	return ids
}

// checkNames refuses unknown kinds, and names in --suite that no suite has.
func (p *plan) checkNames() error {
	var names []string
	for i := range p.file.Suites {
		s := &p.file.Suites[i]
		names = append(names, s.Name)
		if _, ok := p.kinds[s.Kind]; !ok {
			return s.Errorf("kind", "unknown kind %q: use one of %s", s.Kind, strings.Join(slices.Sorted(maps.Keys(p.kinds)), ", "))
		}
	}
	for _, name := range p.options.suites {
		if !slices.Contains(names, name) {
			return exit.Usagef("--suite: %s has no suite %q: it has %s", p.options.config, name, strings.Join(names, ", "))
		}
	}
	return nil
}

// close releases the suites and the worker.
func (p *plan) close() {
	for _, s := range p.suites {
		s.suite.Close()
	}
	p.worker.Close()
}

// baselinePath is where this host's baseline is or will be.
func (p *plan) baselinePath() string { return p.options.baselinePath(p.file, p.host.Label) }

func (o *options) baselinePath(file *config.File, label string) string {
	if o.baseline != "" {
		return o.baseline
	}
	return baseline.Path(o.baselines(file), label)
}

// baselines is the folder of baselines.
func (o *options) baselines(file *config.File) string {
	return file.Resolve(cmp.Or(file.Baselines, defaultBaselines))
}

// defaultBaselines is the folder of baselines, beside the configuration.
const defaultBaselines = "baselines"
