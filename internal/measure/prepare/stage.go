package prepare

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/worker"
)

// Stage runs what surrounds the cells of one suite: its setup before the first, a service
// while devices measure it, the steps of each model and of each measurement, and its teardown.
// Measure may be called by several goroutines at once, each with a device of its own.
type Stage struct {
	*Checkout
	Suite  string
	Around config.Around
	Pin    func(bench.Device) []string // variables that pin a child to a device; nil pins nothing
	// Unload ends what the suite keeps running for a device, before the model's teardown.
	Unload func(bench.Device) error

	mu      sync.Mutex
	begun   bool   // the setup was run, or failed
	broken  string // why no cell can be measured
	using   []bench.Device
	service *worker.Background
	deaths  int // of services that had come up
	models  models
}

// maxDeaths is how often a service that came up may end by itself before no cell is tried
// any more.
const maxDeaths = 3

// The variables that a step of each measurement gets.
const (
	suiteVariable = "ACCELGATE_SUITE"
	cellVariable  = "ACCELGATE_CELL_ID"
)

// Measure measures a cell by inner between its steps. What cannot be prepared fails the cell
// as one that did not start. An error means what it means of inner.
func (s *Stage) Measure(ctx context.Context, cell bench.Cell, d bench.Device,
	inner func(context.Context) (bench.Result, error)) (bench.Result, error) {
	run, why, err := s.enter(ctx, d)
	if err == nil && why == "" {
		why, err = s.load(ctx, cell, d, run)
	}
	if err != nil || why != "" {
		return unstarted(cell, why), err
	}
	env := s.env(d, cellVariable, cell.ID())
	result := bench.Result{Cell: cell}
	if why, err = s.each(ctx, "setup", env); err == nil && why == "" {
		result, err = s.beside(ctx, run, cell, inner)
	} else if err == nil {
		result = unstarted(cell, "the setup of the cell failed: "+why)
	}
	after, failed := s.each(context.WithoutCancel(ctx), "teardown", env)
	if after != "" {
		result.Warnings = append(slices.Clip(result.Warnings), "the teardown of the cell failed: "+after)
	}
	if err == nil {
		err = failed
	}
	return result, err
}

// env are the variables of a step for a device.
func (s *Stage) env(d bench.Device, name, value string) []string {
	env := []string{suiteVariable + "=" + s.Suite, name + "=" + value}
	if s.Pin != nil {
		env = append(env, s.Pin(d)...)
	}
	return env
}

// unstarted is the result of a cell that could not be prepared.
func unstarted(cell bench.Cell, why string) bench.Result {
	r := bench.Result{Cell: cell}
	suite.Fail(&r, bench.CauseStart, why)
	return r
}

// enter makes the suite ready to measure on a device. It returns the service, nil without one.
func (s *Stage) enter(ctx context.Context, d bench.Device) (run *worker.Background, why string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken == "" && !s.begun {
		s.begun = true
		if s.broken, err = s.step(ctx, s.Around.Setup, "setup"); err != nil {
			return nil, "", err
		}
		if s.broken != "" {
			s.broken = "the setup failed: " + s.broken
		}
	}
	if s.service != nil && s.service.HasEnded() {
		why, err := s.bury(s.service, "between two cells")
		if err != nil {
			return nil, "", err
		}
		s.Say(why)
	}
	if s.broken == "" && s.Around.Service != nil && s.service == nil {
		if s.broken, err = s.startService(ctx); err != nil {
			return nil, "", err
		}
	}
	if s.broken != "" {
		return nil, s.broken, nil
	}
	if !slices.Contains(s.using, d) {
		s.using = append(s.using, d)
	}
	return s.service, "", nil
}

// step runs a step of the suite, if there is one.
func (s *Stage) step(ctx context.Context, step *config.Step, name string) (why string, err error) {
	return s.named(ctx, step, logName{log: logOf(s.Suite, name)}, nil)
}

// each runs a step of each measurement.
func (s *Stage) each(ctx context.Context, name string, env []string) (why string, err error) {
	logs := logName{logOf(s.Suite, "each-"+name), logOf(s.Suite, "each-"+name+"-failed")}
	return s.named(ctx, stepOf(s.Around.Each, name), logs, env)
}

func (s *Stage) named(ctx context.Context, step *config.Step, name logName, env []string) (why string, err error) {
	if step == nil {
		return "", nil
	}
	return s.run(ctx, step, name, defaultStepTimeout, env...)
}

// stepOf is a step of a pair; nil if there is none.
func stepOf(pair *config.Pair, name string) *config.Step {
	switch {
	case pair == nil:
		return nil
	case name == "setup":
		return pair.Setup
	}
	return pair.Teardown
}

// beside measures by inner while the service lives. A cell whose service ends is stopped and
// fails, whatever it measured, unless its answer is wrong.
func (s *Stage) beside(ctx context.Context, run *worker.Background, cell bench.Cell,
	inner func(context.Context) (bench.Result, error)) (bench.Result, error) {
	if run == nil {
		return inner(ctx)
	}
	with, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-run.Ended:
			cancel(errEnded)
		case <-with.Done():
		}
	}()
	result, err := inner(with)
	if !run.HasEnded() || ctx.Err() != nil {
		return result, err
	}
	why, ended := s.died(run)
	if ended != nil {
		return result, ended
	}
	if result.Outcome != bench.Incorrect {
		result.Cell, result.Samples = cell, nil
		suite.Fail(&result, bench.CauseCrash, why)
	}
	return result, nil
}

// died takes away a service that ended by itself while a cell was measured, and says why it did.
func (s *Stage) died(run *worker.Background) (why string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bury(run, "while the cell was measured")
}

// bury takes away a service that ended by itself. After several there is no other.
func (s *Stage) bury(run *worker.Background, when string) (why string, err error) {
	if s.service == run { // else another device has noticed it
		if err := s.endService("service-failed"); err != nil {
			return "", err
		}
		s.deaths++
	}
	ended := endOf(run.Response)
	if line := s.meaningful(run.Response); line != "" {
		ended += ": " + line
	}
	ended += "; see " + s.logPath("service-failed")
	name := quoted(s.Around.Service.Command)
	if s.deaths >= maxDeaths {
		s.broken = fmt.Sprintf("the service %s ended %s while cells were measured, the last time: %s", name, text.Plural(s.deaths, "time"),
			ended)
	}
	return fmt.Sprintf("the service %s ended %s: %s", name, when, ended), nil
}

func (s *Stage) logPath(log string) string { return filepath.Join(s.Logs, logOf(s.Suite, log)) }

// Release says that a device measures other suites next, and that what the suite kept running
// for it has ended. Its model is torn down, and the service ends with its last device.
func (s *Stage) Release(d bench.Device) error {
	if err := s.tearDownModel(d); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.using = slices.DeleteFunc(s.using, func(used bench.Device) bool { return used == d })
	if len(s.using) > 0 {
		return nil
	}
	return s.endService("service")
}

// End tears the models down, ends the service and runs the teardown, if the setup was run or
// tried. It returns what failed of that. No Measure may follow or run.
func (s *Stage) End(ctx context.Context) (failed []string, err error) {
	if s.begun && ctx.Err() != nil && s.Around.TearsDown() {
		s.Say(fmt.Sprintf("running the teardown of suite %s; a second signal ends it at once", s.Suite))
	}
	err = s.unloadAll()
	s.mu.Lock()
	defer s.mu.Unlock()
	failed, s.models.failed = s.models.failed, nil
	err = errors.Join(err, s.endService("service"))
	if !s.begun {
		return failed, err
	}
	s.begun, s.broken = false, "the suite was torn down"
	why, stuck := s.step(context.WithoutCancel(ctx), s.Around.Teardown, "teardown")
	if why != "" {
		failed = append(failed, fmt.Sprintf("the teardown of suite %s failed: %s", s.Suite, why))
	}
	return failed, errors.Join(err, stuck)
}
