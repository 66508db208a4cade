package cli

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/baseline"
	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/host"
	"github.com/accelgate/accelgate/internal/matrix"
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
	metrics  []bench.Metric // of all chosen suites
	others   []string       // ids of cells that a filter left out
	warnings []string
}

// planned is an opened suite with its selected cells.
type planned struct {
	suite suite.Suite
	cells []bench.Cell
}

// plan loads the configuration, finds out what this machine is, opens the
// suites and selects the cells. Close must be called.
func (c *Command) plan(ctx context.Context, o *options) (*plan, error) {
	p := &plan{options: o, worker: &worker.Isolated{Environ: os.Environ()}}
	err := o.check()
	if err != nil {
		return nil, err
	}
	if p.file, p.policy, err = o.load(); err != nil {
		return nil, err
	}
	if err := c.detect(ctx, p); err != nil {
		return nil, err
	}
	if err := worker.Conceal(); err != nil {
		p.warnings = append(p.warnings, fmt.Sprintf("%v: programs under test may read this process's environment", err))
	}
	if err := p.open(); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// policy settles what blocks: flag over file over built-in.
func (o *options) policy(file *config.File) (gate.Policy, error) {
	policy := gate.DefaultPolicy()
	if file.Policy.Threshold != nil {
		policy.Threshold = float64(*file.Policy.Threshold)
	}
	if o.threshold != "" {
		var percent config.Percent
		if err := percent.UnmarshalText([]byte(o.threshold)); err != nil {
			return policy, usagef("--threshold: %w", err)
		}
		policy.Threshold = float64(percent)
	}
	policy.RequireBaseline = o.requireBaseline || file.Policy.RequireBaseline != nil && *file.Policy.RequireBaseline
	return policy, nil
}

// detect names the host: flag over environment over configuration over what
// the machine looks like.
func (c *Command) detect(ctx context.Context, p *plan) (err error) {
	label := p.options.hostLabel
	for _, next := range []string{c.Getenv("ACCELGATE_HOST_LABEL"), p.file.Host.Label} {
		if label == "" {
			label = next
		}
	}
	var warnings []string
	p.host, warnings, err = host.Detect(ctx, host.Options{Label: label, Worker: p.worker})
	p.warnings = append(p.warnings, warnings...)
	if err != nil && label != "" {
		return usageError{err}
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
	executable, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	var all, chosen []bench.Cell
	for i := range p.file.Suites {
		s := &p.file.Suites[i]
		env := suite.Env{Host: p.host, Worker: p.worker, Executable: executable, Dir: p.file.Dir}
		wanted := len(p.options.suites) == 0 || slices.Contains(p.options.suites, s.Name)
		if wanted {
			env.EngineArgs = p.options.engineArgs()
		}
		opened, err := kinds[s.Kind](s, env)
		if err != nil {
			return err
		}
		cells := opened.Cells()
		if len(cells) == 0 {
			return fmt.Errorf("%w: %v", runner.ErrNoCells, s.Errorf("", "expands to no cell: loosen its exclude or add values to its axes"))
		}
		all = append(all, cells...)
		if wanted {
			p.suites = append(p.suites, planned{opened, cells})
			if err := p.addMetrics(s, opened.Metrics()); err != nil {
				return err
			}
			chosen = append(chosen, cells...)
		} else {
			p.others = append(p.others, cellIDs(cells)...)
			opened.Close()
		}
	}
	if err := matrix.Unique(all); err != nil {
		return usageError{fmt.Errorf("%s: %w", p.options.config, err)}
	}
	return p.filter(chosen)
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
		if _, ok := kinds[s.Kind]; !ok {
			return s.Errorf("kind", "unknown kind %q: use one of %s", s.Kind, kindNames())
		}
	}
	for _, name := range p.options.suites {
		if !slices.Contains(names, name) {
			return usagef("--suite: %s has no suite %q: it has %s", p.options.config, name, strings.Join(names, ", "))
		}
	}
	return nil
}

// filter applies --only and --skip over the cells of all chosen suites.
func (p *plan) filter(cells []bench.Cell) error {
	f := matrix.Filter{Only: p.options.only, Skip: p.options.skip}
	selected, others, err := f.Split(cells)
	if err != nil {
		return usageError{err}
	}
	if len(selected) == 0 {
		return usagef("--only and --skip leave none of %d cells: list the ids with 'accelgate run --list'", len(cells))
	}
	p.others = append(p.others, others...)
	dropped := make(map[string]bool, len(others))
	for _, id := range others {
		dropped[id] = true
	}
	for i := range p.suites {
		p.suites[i].cells = slices.DeleteFunc(slices.Clone(p.suites[i].cells), func(c bench.Cell) bool { return dropped[c.ID()] })
	}
	return nil
}

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
	dir := file.Baselines
	if dir == "" {
		dir = defaultBaselines
	}
	return baseline.Path(file.Resolve(dir), label)
}

// defaultBaselines is the folder of baselines, beside the configuration.
const defaultBaselines = "baselines"
