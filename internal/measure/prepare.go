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

// checkout is the folder of the configuration.
func (w *workplace) checkout() (*prepare.Checkout, error) {
	dir, err := filepath.Abs(w.config.File.Dir)
	if err != nil {
		return nil, fmt.Errorf("find the folder of %s: %w", w.config.Options.Config, err)
	}
	c := &prepare.Checkout{Dir: dir, Logs: w.config.OutPath(logs), What: "the code under test", Worker: w.worker, Environ: w.config.environ,
		Hide: Secrets(w.config.secrets()).Hide, Say: w.say, Now: w.Now}
	if w.config.isBase {
		c.What, c.Logs = "the base", w.config.baseLogs
	}
	return c, nil
}

// builds are the builds that must be done before the suites are measured, by their names.
func (c *Config) builds(wanted func(suite string) bool) map[string]*config.Build {
	builds := map[string]*config.Build{}
	if c.File.Build != nil {
		builds[prepare.Whole] = c.File.Build
	}
	for i := range c.File.Suites {
		if s := &c.File.Suites[i]; s.Build != nil && !s.Build.OnlyPairs && wanted(s.Name) {
			builds[s.Name] = s.Build
		}
	}
	return builds
}

// prepareCode builds the code under test, unless that was needed to list its cells.
func (s *Session) prepareCode(ctx context.Context) error {
	defer s.Progress.Begin("build the code under test")()
	if s.isBuilt {
		return nil
	}
	return s.buildCode(ctx, func(name string) bool { _, ok := s.suites[name]; return ok })
}

// build runs the builds of suites in the configuration's folder.
func (w *workplace) build(ctx context.Context, wanted func(suite string) bool) (*prepare.Hold, failures, error) {
	builds := w.config.builds(wanted)
	c, err := w.checkout()
	if err != nil || len(builds) == 0 {
		return nil, failures{}, err
	}
	if err := hideOut(filepath.Join(c.Dir, DefaultOut)); err != nil {
		return nil, nil, err
	}
	wait := defaultLeaseWait
	if w.config.File.Limits.Lease != nil {
		wait = *w.config.File.Limits.Lease
	}
	hold, failed, err := c.Build(ctx, builds, prepare.Waiting{Max: wait})
	unbuilt := failures{}
	for name, f := range failed {
		unbuilt[name] = c.Explain(f)
	}
	return hold, unbuilt, err
}

// build builds the suites of the base that are measured in pairs.
func (b *base) build(ctx context.Context, head *Plan) (err error) {
	if sameFolder(b.session.Plan.File.Dir, head.File.Dir) {
		return nil // it is built already
	}
	used := map[string]bool{}
	for _, of := range b.cells {
		used[of.cell.Suite] = true
	}
	if !b.session.isBuilt { // to list its cells
		b.session.isBuilt = true
		b.session.hold, b.session.unbuilt, err = b.session.build(ctx, func(name string) bool { return used[name] })
		for _, name := range slices.Sorted(maps.Keys(b.session.unbuilt)) {
			return noBase{b.session.unbuilt[name]}
		}
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(used)) {
		if why := b.session.whyUnbuilt(name); why != "" {
			return noBase{why}
		}
	}
	return nil
}

// nothingBuilt reports whether no suite can be measured because none could be built.
func (s *Session) nothingBuilt() bool {
	built := func(one Planned) bool {
		return s.whyUnbuilt(one.Name) == "" && (one.Unlisted == "" || len(one.Cells) > 0)
	}
	return len(s.Plan.Suites) > 0 && !slices.ContainsFunc(s.Plan.Suites, built)
}

// unmeasured is the run of a plan of which nothing could be built.
func (s *Session) unmeasured(ctx context.Context, ref *bench.Run) (*bench.Run, error) {
	run := s.newRun(ctx, nil, ref)
	if run.Context == nil {
		run.Context = map[string]string{}
	}
	run.Context[bench.Unbuilt] = "true"
	for _, one := range s.Plan.Suites {
		run.Results = slices.Concat(run.Results, one.failed(s.whyUnbuilt(one.Name)), one.unlisted(s.Plan.Options.Shard), one.Skipped)
	}
	run = redact(run, Secrets(s.Plan.secrets()).Hide)
	if err := run.Validate(); err != nil {
		return nil, fmt.Errorf("the run is not valid: %w", err)
	}
	return run, SaveRun(s.Plan.OutPath("run.json"), run)
}

// failed are the results of a suite that could not be built.
func (s *Planned) failed(why string) (results []bench.Result) {
	for _, cell := range s.Cells {
		r := bench.Result{Cell: cell}
		suite.Fail(&r, bench.CauseStart, why)
		results = append(results, r)
	}
	return results
}

// measurable are the cells of a suite, none if it could not be built.
func (s *Session) measurable(one *Planned) []bench.Cell {
	if s.whyUnbuilt(one.Name) != "" {
		return nil
	}
	return one.Cells
}

// checkAround refuses what cannot surround the cells of a suite.
func checkAround(s *config.Suite, all []bench.Cell) error {
	if err := checkSteps(s); err != nil {
		return err
	}
	if s.PerModel != nil && !slices.ContainsFunc(all, func(c bench.Cell) bool { return c.Get(prepare.ModelAxis) != "" }) {
		return s.Errorf("per_model", "the cells have no axis %s: name models, or use setup, teardown or each", prepare.ModelAxis)
	}
	return nil
}

// group names the cells that are measured one after the other on a device, because steps
// surround those of one model; "" where the order of the matrix is kept.
func (s *Session) group(c bench.Cell) string {
	if stage := s.stages[c.Suite]; stage == nil || stage.Around.PerModel == nil {
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
func (c *Config) checkBuild() error {
	b := c.File.Build
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

// measureOnce measures a cell, with what surrounds the cells of its suite where a process is started.
func (s *Session) measureOnce(ctx context.Context, c bench.Cell, d bench.Device) (bench.Result, error) {
	measure := func(ctx context.Context) (bench.Result, error) {
		return s.suites[c.Suite].Measure(s.Plan.watching(ctx, c), c, d)
	}
	if stage := s.stages[c.Suite]; stage != nil && !s.ready(c, d) {
		return stage.Measure(ctx, c, d, measure)
	}
	return measure(ctx)
}

// Measurer measures cells by themselves, without secrets in their results. What a suite keeps running stays
// until [Session.Release].
func (s *Session) Measurer() runner.Measurer { return redacting{once{s}, s.secrets()} }

type once struct{ session *Session }

// Measure implements [runner.Measurer].
func (o once) Measure(ctx context.Context, c bench.Cell, d bench.Device) (bench.Result, error) {
	return o.session.measureOnce(ctx, c, d)
}

// secrets are those of this process and of the suites.
func (s *Session) secrets() []string {
	secrets := s.Plan.secrets()
	for _, one := range s.Plan.Suites {
		secrets = append(secrets, one.Plan.Secrets...)
	}
	return secrets
}

// Release ends what a suite keeps running for a device, and its service with the last device.
func (s *Session) Release(name string, d bench.Device) error {
	err := s.suites[name].Release(d)
	if stage := s.stages[name]; stage != nil {
		err = errors.Join(err, stage.Release(d))
	}
	return err
}

// endStages tears the suites down, the last first, also where ctx is done. It returns what failed.
func (s *Session) endStages(ctx context.Context) (warnings []string, err error) {
	for _, one := range slices.Backward(s.Plan.Suites) {
		if stage := s.stages[one.Name]; stage != nil {
			failed, stuck := stage.End(ctx)
			warnings, err = append(warnings, failed...), errors.Join(err, stuck)
		}
	}
	return warnings, err
}

// tearDown ends what surrounds the suites of both sides, whatever became of measuring.
func (s *measuring) tearDown(ctx context.Context, run *bench.Run, measured error) error {
	warnings, err := s.endStages(ctx)
	if s.inPairs() {
		more, failed := s.base.session.endStages(ctx)
		warnings, err = append(warnings, more...), errors.Join(err, failed)
	}
	s.WarnAll(warnings)
	run.Warnings = append(run.Warnings, warnings...)
	return errors.Join(measured, err)
}

// everySuite wants the builds of all suites.
func everySuite(string) bool { return true }
