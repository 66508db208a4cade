package measure

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/measure/prepare"
	"github.com/accelgate/accelgate/internal/measure/runner"
	"github.com/accelgate/accelgate/internal/suite"
)

// logs is the folder of the logs of builds, steps and services, in the run's folder.
const logs = "logs"

// checkout is the folder that the plan is of.
func (p *Plan) checkout() (*prepare.Checkout, error) {
	dir, err := filepath.Abs(p.File.Dir)
	if err != nil {
		return nil, fmt.Errorf("find the folder of %s: %w", p.Options.Config, err)
	}
	c := &prepare.Checkout{Dir: dir, Logs: p.OutPath(logs), What: "the code under test", Worker: p.worker, Environ: p.environ,
		Hide: Secrets(p.Secrets()).Hide, Say: p.say, Now: p.now}
	if p.Options.isBase {
		c.What, c.Logs = "the base", p.Options.baseLogs
	}
	return c, nil
}

// builds are the builds that must be done before the suites are measured, by their names.
func (p *Plan) builds(wanted func(suite string) bool) map[string]*config.Build {
	builds := map[string]*config.Build{}
	if p.File.Build != nil {
		builds[prepare.Whole] = p.File.Build
	}
	for i := range p.File.Suites {
		if s := &p.File.Suites[i]; s.Build != nil && !s.Build.OnlyPairs && wanted(s.Name) {
			builds[s.Name] = s.Build
		}
	}
	return builds
}

// prepareCode builds the code under test, unless that was needed to list its cells. It notes the
// suites that could not be built.
func (e *Env) prepareCode(ctx context.Context, p *Plan) error {
	defer e.Progress.Begin("build the code under test")()
	if p.whyUnbuilt == nil {
		wanted := func(name string) bool {
			return slices.ContainsFunc(p.Suites, func(one Planned) bool { return one.Name == name })
		}
		if err := p.buildCode(ctx, wanted); err != nil {
			return err
		}
	}
	for i := range p.Suites {
		p.Suites[i].unbuilt = p.whyUnbuilt(p.Suites[i].Name)
	}
	return nil
}

// build runs builds in the plan's folder.
func (p *Plan) build(
	ctx context.Context,
	builds map[string]*config.Build,
) (*prepare.Checkout, *prepare.Hold, map[string]prepare.Failure, error) {
	c, err := p.checkout()
	if err != nil || len(builds) == 0 {
		return c, nil, nil, err
	}
	if err := hideOut(filepath.Join(c.Dir, DefaultOut)); err != nil {
		return c, nil, nil, err
	}
	wait := defaultLeaseWait
	if p.File.Limits.Lease != nil {
		wait = *p.File.Limits.Lease
	}
	hold, failed, err := c.Build(ctx, builds, prepare.Waiting{Most: wait})
	return c, hold, failed, err
}

// build builds the suites of the base that are measured in pairs.
func (b *base) build(ctx context.Context, head *Plan) (err error) {
	if sameFolder(b.plan.File.Dir, head.File.Dir) {
		return nil // it is built already
	}
	used := map[string]bool{}
	for _, of := range b.cells {
		used[of.cell.Suite] = true
	}
	if b.plan.whyUnbuilt != nil { // to list its cells
		for _, name := range slices.Sorted(maps.Keys(used)) {
			if why := b.plan.whyUnbuilt(name); why != "" {
				return noBase{why}
			}
		}
		return nil
	}
	builds := b.plan.builds(func(name string) bool { return used[name] })
	c, hold, failed, err := b.plan.build(ctx, builds)
	b.hold = hold
	for _, name := range slices.Sorted(maps.Keys(failed)) {
		return noBase{c.Explain(failed[name])}
	}
	return err
}

// nothingBuilt reports whether no suite can be measured because none could be built.
func (p *Plan) nothingBuilt() bool {
	built := func(one Planned) bool { return one.unbuilt == "" && (one.Unlisted == "" || len(one.Cells) > 0) }
	return len(p.Suites) > 0 && !slices.ContainsFunc(p.Suites, built)
}

// unmeasured is the run of a plan of which nothing could be built.
func (e *Env) unmeasured(ctx context.Context, p *Plan) (*bench.Run, error) {
	run := e.newRun(ctx, p, nil)
	if run.Context == nil {
		run.Context = map[string]string{}
	}
	run.Context[bench.Unbuilt] = "true"
	for _, one := range p.Suites {
		run.Results = slices.Concat(run.Results, one.failed(), one.unlisted(p.Options.Shard), one.Skipped)
	}
	run = redact(run, Secrets(p.Secrets()).Hide)
	if err := run.Validate(); err != nil {
		return nil, fmt.Errorf("the run is not valid: %w", err)
	}
	return run, SaveRun(p.OutPath("run.json"), run)
}

// failed are the results of a suite that could not be built.
func (s *Planned) failed() (results []bench.Result) {
	for _, cell := range s.Cells {
		r := bench.Result{Cell: cell}
		suite.Fail(&r, bench.CauseStart, s.unbuilt)
		results = append(results, r)
	}
	return results
}

// measurable are the cells of a suite, none if it could not be built.
func (s *Planned) measurable() []bench.Cell {
	if s.unbuilt != "" {
		return nil
	}
	return s.Cells
}

// addStage notes what surrounds the cells of a suite.
func (p *Plan) addStage(s *config.Suite, opened suite.Suite, all []bench.Cell, cpus *processors) error {
	if err := checkSteps(s); err != nil || s.Empty() {
		return err
	}
	if s.PerModel != nil && !slices.ContainsFunc(all, func(c bench.Cell) bool { return c.Get(prepare.ModelAxis) != "" }) {
		return s.Errorf("per_model", "the cells have no axis %s: name models, or use setup, teardown or each", prepare.ModelAxis)
	}
	c, err := p.checkout()
	if err != nil {
		return err
	}
	if p.stages == nil {
		p.stages = map[string]*prepare.Stage{}
	}
	p.stages[s.Name] = &prepare.Stage{Checkout: c, Suite: s.Name, Around: s.Around, Pin: cpus.pin, Unload: opened.Release}
	return nil
}

// group names the cells that are measured one after the other on a device, because steps
// surround those of one model; "" where the order of the matrix is kept.
func (p *Plan) group(c bench.Cell) string {
	if stage := p.stages[c.Suite]; stage == nil || stage.Around.PerModel == nil {
		return ""
	}
	return fmt.Sprintf("%q %q", c.Suite, c.Get(prepare.ModelAxis))
}

// checkSteps refuses variables that would never reach a child.
func checkSteps(s *config.Suite) error {
	envs := map[string]map[string]string{}
	for key, step := range s.Steps() {
		envs[key+".env"] = step.Env
	}
	if s.Build != nil {
		envs["build.env"] = s.Build.Env
	}
	if s.Service != nil {
		envs["service.env"] = s.Service.Env
	}
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(envs)) {
		errs = append(errs, suite.CheckEnv(s, key, envs[key])...)
	}
	return errors.Join(errs...)
}

// checkBuild is checkSteps for the build of all suites.
func (p *Plan) checkBuild() error {
	b := p.File.Build
	if b == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(b.Env)) {
		if err := suite.BadVariable(name); err != nil {
			return exit.AsUsage(&config.Error{Position: b.Position, Message: "build.env: " + err.Error()})
		}
	}
	return nil
}

// Measure measures a cell once, with what surrounds the cells of its suite.
func (p *Plan) Measure(ctx context.Context, of suite.Suite, c bench.Cell, d bench.Device) (bench.Result, error) {
	if suite.Ready(of, c, d) { // nothing is started
		return of.Measure(ctx, c, d)
	}
	if stage := p.stages[c.Suite]; stage != nil {
		return stage.Measure(ctx, c, d, func(ctx context.Context) (bench.Result, error) { return of.Measure(p.watching(ctx, c), c, d) })
	}
	return of.Measure(p.watching(ctx, c), c, d)
}

// Measurer measures cells of a suite by [Plan.Measure].
func (p *Plan) Measurer(of suite.Suite) runner.Measurer { return prepared{p, of} }

type prepared struct {
	plan *Plan
	of   suite.Suite
}

// Measure implements [runner.Measurer].
func (m prepared) Measure(ctx context.Context, c bench.Cell, d bench.Device) (bench.Result, error) {
	return m.plan.Measure(ctx, m.of, c, d)
}

// Release ends what a suite keeps running for a device, and its service with the last device.
func (p *Plan) Release(name string, of suite.Suite, d bench.Device) error {
	err := of.Release(d)
	if stage := p.stages[name]; stage != nil {
		err = errors.Join(err, stage.Release(d))
	}
	return err
}

// endStages tears the suites down, the last first, also where ctx is done. It returns what failed.
func (p *Plan) endStages(ctx context.Context) (warnings []string, err error) {
	for i := range slices.Backward(p.Suites) {
		if stage := p.stages[p.Suites[i].Name]; stage != nil {
			failed, stuck := stage.End(ctx)
			warnings, err = append(warnings, failed...), errors.Join(err, stuck)
		}
	}
	return warnings, err
}

// tearDown ends what surrounds the suites of both sides, whatever became of measuring.
func (s *session) tearDown(ctx context.Context, run *bench.Run, measured error) error {
	warnings, err := s.plan.endStages(ctx)
	if s.base != nil {
		more, failed := s.base.plan.endStages(ctx)
		warnings, err = append(warnings, more...), errors.Join(err, failed)
	}
	s.WarnAll(warnings)
	run.Warnings = append(run.Warnings, warnings...)
	return errors.Join(measured, err)
}

// everySuite wants the builds of all suites.
func everySuite(string) bool { return true }
