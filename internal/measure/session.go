package measure

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/device"
	"github.com/accelgate/accelgate/internal/measure/prepare"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/worker"
)

// Session is a plan with what is open for it: suites, artifacts, builds, services. Its owner
// closes it.
type Session struct {
	*workplace
	Plan   *Plan
	suites map[string]suite.Suite    // of the plan, by name
	stages map[string]*prepare.Stage // of the suites that have one, by name

	// What measuring finds out.
	Partial  *bench.Run // what was measured before an error
	NextBase string     // what --ab is to be next time, where it was not given; "" if that is not known
	warnings []string   // those of the plan, and more
	sameAs   string     // base that nothing differs from
	unpaired []string   // what was to be measured in pairs and is not: a clause each
}

// OpenPlan reads the configuration, finds out what this machine is, opens the suites and
// selects the cells.
func (e *Env) OpenPlan(ctx context.Context, o *Options) (*Session, error) {
	c, err := e.Configure(o)
	if err != nil {
		return nil, err
	}
	return e.OpenHere(ctx, &c)
}

// OpenPlanFor plans for the host of a label, without asking this machine where the
// label says what it is. Nothing is downloaded.
func (e *Env) OpenPlanFor(ctx context.Context, o *Options) (*Session, error) {
	c, err := e.Configure(o)
	if err != nil {
		return nil, err
	}
	return e.OpenFor(ctx, &c)
}

// OpenFor is [Env.OpenPlanFor] for a configuration that was read.
func (e *Env) OpenFor(ctx context.Context, c *Config) (*Session, error) {
	c.Options.NoFetch = true
	simulated, ok := device.FromLabel(c.Options.HostLabel)
	if !ok {
		return e.OpenHere(ctx, c)
	}
	c.Host = simulated
	return e.Open(ctx, c)
}

// OpenHere is [Env.Open] on this machine.
func (e *Env) OpenHere(ctx context.Context, c *Config) (*Session, error) {
	if err := e.detectDevices(ctx, c); err != nil {
		return nil, err
	}
	if err := worker.Conceal(); err != nil {
		c.Warnings = append(c.Warnings, fmt.Sprintf("%v: programs under test may read this process's environment", err))
	}
	return e.Open(ctx, c)
}

// Open opens the suites and makes a plan for the host. A suite that --suite leaves
// out is opened all the same, because its cells must be declared as left out.
func (e *Env) Open(ctx context.Context, c *Config) (*Session, error) {
	if err := errors.Join(c.checkNames(), c.checkHost(), c.checkBuild()); err != nil {
		return nil, err
	}
	if !c.isBase {
		c.Warnings = append(c.Warnings, c.ungated()...)
	}
	w := e.newWorkplace(c)
	return w.plan(w.openAll(ctx))
}

// OpenSuite opens one suite in another way than its kind does, and plans all of its cells. What the
// configuration says of the cells that the suite has otherwise does not hold for them.
func (e *Env) OpenSuite(ctx context.Context, c *Config, s *config.Suite, open func(suite.Env) (suite.Suite, error)) (*Session, error) {
	of := *s
	of.Limits, of.Levels, of.Fits, of.Relations, of.Devices, of.CellTimeouts = nil, nil, nil, nil, nil, nil
	c.Options.SelectOptions = SelectOptions{MaxCells: math.MaxInt}
	w := e.newWorkplace(c)
	return w.plan(w.openOne(ctx, &of, open))
}

// plan plans the cells of opened suites, and closes the suites and the workplace if anything failed.
func (w *workplace) plan(suites []opened, err error) (*Session, error) {
	if err == nil {
		var p *Plan
		if p, err = NewPlan(w.config, suites); err == nil {
			return w.session(p, suites)
		}
	}
	for i := range suites {
		_ = suites[i].suite.Close() // the error matters more
	}
	w.close()
	return nil, err
}

// session keeps the suites of a plan open, and closes the others.
func (w *workplace) session(p *Plan, suites []opened) (*Session, error) {
	s := &Session{workplace: w, Plan: p, suites: map[string]suite.Suite{}, stages: map[string]*prepare.Stage{},
		warnings: slices.Clip(p.Warnings)}
	var errs []error
	for i := range suites {
		o := &suites[i]
		if !o.wanted {
			errs = append(errs, o.suite.Close())
			continue
		}
		s.suites[o.of.Name] = o.suite
		if !o.of.Empty() {
			stage, err := w.stage(o)
			s.stages[o.of.Name], errs = stage, append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// stage is what surrounds the cells of a suite.
func (w *workplace) stage(o *opened) (*prepare.Stage, error) {
	c, err := w.checkout()
	return &prepare.Stage{Checkout: c, Suite: o.of.Name, Around: o.of.Around, Pin: o.cpus.pin, Unload: o.suite.Release}, err
}

// Close releases the suites and the worker.
func (s *Session) Close() {
	_, _ = s.endStages(context.Background()) // they have ended unless measuring could not begin
	for _, one := range s.Plan.Suites {
		s.suites[one.Name].Close()
	}
	s.workplace.close()
}

// ready reports whether the next result of a cell is there, because a process has measured it with another cell.
func (s *Session) ready(c bench.Cell, d bench.Device) bool {
	sharing := s.Plan.sharing(c.Suite)
	return sharing != nil && sharing.Ready(c, d)
}

// choose has the suites measure these cells next where a process measures several.
func (s *Session) choose(cells []bench.Cell) {
	chosen := map[string][]bench.Cell{}
	for _, c := range cells {
		chosen[c.Suite] = append(chosen[c.Suite], c)
	}
	for name, wanted := range chosen {
		if sharing := s.Plan.sharing(name); sharing != nil {
			sharing.Choose(wanted)
		}
	}
}
