package measure

import (
	"errors"
	"fmt"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/gate/policy"
	"github.com/accelgate/accelgate/internal/matrix"
	"github.com/accelgate/accelgate/internal/measure/runner"
	"github.com/accelgate/accelgate/internal/suite"
)

// Plan is what a command is going to measure and how it will judge. [NewPlan] makes it,
// and nothing changes it.
type Plan struct {
	Config
	Suites  []Planned
	Metrics []bench.Metric  // of all chosen suites
	Others  []string        // ids of cells that a filter left out
	LeftOut []bench.LeftOut // cells over max_cells

	foreign   []string               // suites that are not chosen, and whose cells are unknown
	cpus      map[string]*processors // by the suite
	needs     map[string]needs       // of devices, by the ids of cells
	watchdogs map[string]*watchdog   // of the suites that have one, by name
}

// Planned is a suite with its selected cells.
type Planned struct {
	Name    string
	Plan    suite.Plan // with the cells that are not selected
	Cells   []bench.Cell
	Skipped []bench.Result
	// Unlisted is why cells may be unknown; "" if all are known.
	Unlisted string
}

// opened is a suite that is not yet a part of a plan.
type opened struct {
	of       *config.Suite
	suite    suite.Suite
	plan     suite.Plan
	wanted   bool
	cpus     *processors
	unlisted string // why cells may be unknown
}

// NewPlan selects the cells of opened suites. The cells of a suite that --suite leaves out are
// declared as left out. Ids are checked over all suites together.
func NewPlan(c *Config, suites []opened) (*Plan, error) {
	p := &Plan{Config: *c, cpus: map[string]*processors{}, needs: map[string]needs{}, watchdogs: map[string]*watchdog{}}
	p.Warnings = slices.Clone(c.Warnings)
	var all []bench.Cell
	for i := range suites {
		cells, err := p.add(&suites[i])
		if err != nil {
			return nil, err
		}
		all = append(all, cells...)
	}
	if err := matrix.Unique(all); err != nil {
		return nil, exit.AsUsage(fmt.Errorf("%s: %w", p.Options.Config, err))
	}
	if err := checkLengths(all); err != nil {
		return nil, exit.AsUsage(fmt.Errorf("%s: %w", p.Options.Config, err))
	}
	return p, p.narrow()
}

// checkLengths refuses ids that no run document can hold, before anything is
// measured.
func checkLengths(cells []bench.Cell) error {
	for _, c := range cells {
		if id := c.ID(); len(id) > bench.MaxID {
			return fmt.Errorf("suite %s: the case id %.60q... has %d bytes, more than %d: shorten its values", c.Suite, id, len(id),
				bench.MaxID)
		}
	}
	return nil
}

// add makes an opened suite a part of the plan, unless it was not chosen, and returns all of
// its cells, skipped ones too.
func (p *Plan) add(o *opened) ([]bench.Cell, error) {
	s := o.of
	planned := Planned{Name: s.Name, Plan: o.plan, Cells: o.plan.Cells, Skipped: o.plan.Skipped, Unlisted: o.unlisted}
	all := planned.All()
	if len(all) == 0 && o.unlisted == "" {
		return nil, fmt.Errorf("%w: %v", runner.ErrNoCells, s.Errorf("", "expands to no cell: loosen its exclude or add values to its axes"))
	}
	p.cpus[s.Name] = o.cpus
	metrics, limits := withRelations(s, withResources(s, o.plan.Metrics))
	if len(all) > 0 && limits == nil {
		limits = errors.Join(policy.Check(s, metrics, all, p.Host.Label), checkWidths(s, all), p.checkRelations(s, all))
		p.wide(s, &planned)
	}
	if !o.wanted {
		if o.unlisted != "" {
			p.foreign = append(p.foreign, s.Name)
		}
		p.Others = append(p.Others, CellIDs(all)...)
		return all, limits
	}
	p.Warnings = append(p.Warnings, o.plan.Warnings...)
	p.Suites = append(p.Suites, planned)
	if len(all) > 0 {
		limits = errors.Join(limits, checkAround(s, all), p.watch(s, all))
	}
	return all, errors.Join(limits, p.addMetrics(s, metrics))
}

// All returns every cell, those that this host cannot run last.
func (s *Planned) All() []bench.Cell {
	all := slices.Clone(s.Cells)
	for _, r := range s.Skipped {
		all = append(all, r.Cell)
	}
	return all
}

// addMetrics collects the suites' metrics; one name has one meaning in a run. A metric that
// any suite gates is gated; the policy has the suites that only show it.
func (p *Plan) addMetrics(s *config.Suite, metrics []bench.Metric) error {
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
		if p.Policy.Compat.Rules().Entries && !gated.Informational && shown.Informational {
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
			m := (&bench.Run{Metrics: one.Plan.Metrics}).Metric(metric)
			return m == nil || m.Informational
		}
	}
	return false
}

// sharing is what processes of a suite share; nil where each measures one cell.
func (p *Plan) sharing(of string) *suite.Sharing {
	i := slices.IndexFunc(p.Suites, func(one Planned) bool { return one.Name == of })
	if i < 0 {
		return nil
	}
	return p.Suites[i].Plan.Sharing
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
