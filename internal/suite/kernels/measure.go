package kernels

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/evaluator"
	"github.com/accelgate/accelgate/internal/flashinfer"
	"github.com/accelgate/accelgate/internal/kernel"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/worker"
)

// defaultLimit bounds what has no limit of its own.
const defaultLimit = 5 * time.Minute

func (s *Suite) limit() time.Duration {
	if s.body.Timeouts.Build > 0 {
		return s.body.Timeouts.Build
	}
	return defaultLimit
}

// Measure computes and times one case, with a worker for the reference and one
// for the solution.
func (s *Suite) Measure(ctx context.Context, cell bench.Cell, d bench.Device) (bench.Result, error) {
	p := s.byID[cell.ID()]
	if earlier, ok := s.earlier(p); ok {
		return earlier, nil
	}
	result := bench.Result{Cell: cell, Outcome: bench.Passed}
	l := s.lane(d)
	l.mu.Lock()
	defer l.mu.Unlock()
	began := s.env.Now()
	o, err := s.outcome(ctx, l, p, d)
	result.WallMS = float64(s.env.Now().Sub(began).Microseconds()) / 1000
	if err != nil {
		return result, err
	}
	o.fill(&result)
	if s.body.Traces != "" && o.status != evaluator.Skipped {
		err = s.appendTrace(p, o)
	}
	return result, err
}

// outcome is what became of one case.
type outcome struct {
	point    *point
	status   evaluator.Status
	reason   string // why not passed
	log      string
	cause    bench.Cause // "" is by the status
	verdict  evaluator.Result
	judged   bool
	measured kernel.Measurement
	hello    kernel.HelloReply // of the solution's worker
	warnings []string
}

// outcome measures a case. An error means that nothing can be measured here any
// more.
func (s *Suite) outcome(ctx context.Context, l *lane, p *point, d bench.Device) (*outcome, error) {
	o := &outcome{point: p}
	c, err := s.kase(p)
	if err == nil {
		err = s.measure(ctx, l, o, c, d)
	}
	return o, o.explain(err)
}

// explain turns what keeps one case from being measured into its outcome, and
// returns every other error.
func (o *outcome) explain(err error) error {
	var failure *kernel.Failure
	var absent unavailable
	var input inputProblem
	switch {
	case err == nil:
	case errors.As(err, &input):
		o.status, o.reason, o.cause = evaluator.RuntimeError, input.Error(), bench.CauseInput
	case errors.As(err, &failure):
		o.status, o.reason, o.log = failure.Kind.Status(), failure.Error(), failure.Log
	case errors.As(err, &absent):
		o.status, o.reason = evaluator.Skipped, absent.Error()
	default:
		return err
	}
	return nil
}

// measure starts the workers and runs the procedure.
func (s *Suite) measure(ctx context.Context, l *lane, o *outcome, c kernel.Case, d bench.Device) error {
	p := o.point
	j, err := s.newJudge(p, c)
	if err != nil {
		return inputProblem{err}
	}
	if c.Draws, err = j.needed(); err != nil {
		return inputProblem{err}
	}
	j.kase = c
	reference, refBuild, err := s.trusted(ctx, l, p, d)
	if err != nil {
		return s.starting(err)
	}
	solution, err := s.solution(ctx, l, p, d)
	if err != nil {
		return err
	}
	build, err := s.build(p.solution, solutionSide)
	if err != nil {
		return err
	}
	o.hello = solution.Hello()
	o.measured, err = kernel.Measure(ctx, c, kernel.Program{Session: reference, Build: refBuild}, kernel.Program{Session: solution, Build: build},
		s.settingsOf(p, j, o.hello))
	o.verdict, o.judged = j.combined()
	o.log = solution.Log()
	if err != nil {
		return err
	}
	o.conclude()
	return nil
}

// starting tells a worker that this host cannot start from a fault.
func (s *Suite) starting(err error) error {
	var failure *kernel.Failure
	if err == nil {
		return nil
	}
	if errors.Is(err, worker.ErrNotFound) {
		return unavailable{fmt.Errorf("%w: install it, or set python", err)}
	}
	if errors.As(err, &failure) && failure.Op == "hello" {
		return unavailable{fmt.Errorf("the worker does not start: %w: %.500s", err, failure.Log)}
	}
	return err
}

// settingsOf are the settings of the procedure.
func (s *Suite) settingsOf(p *point, j *judge, h kernel.HelloReply) kernel.Settings {
	r := p.settings
	cold := len(h.Devices) > 0 && h.Devices[0].Kind != "cpu" // whose caches are what programs find them in
	if s.body.ColdCache != nil {
		cold = *s.body.ColdCache
	}
	return kernel.Settings{Warmup: r.WarmupRuns.V, Iterations: r.Iterations.V, Trials: r.NumTrials.V,
		NoBaseline: !r.ProfileBaseline.V, ColdCache: cold, Dir: s.scratch(), Judge: j.Judge}
}

// scratch is where outputs are written.
func (s *Suite) scratch() string {
	if s.body.Scratch != "" {
		return s.resolve(s.body.Scratch)
	}
	return s.dir
}

// conclude takes over what the procedure found.
func (o *outcome) conclude() {
	m := &o.measured
	o.status, o.reason, o.warnings = m.Status, m.Reason, m.Warnings
	if m.Failed != nil {
		o.reason, o.log = m.Failed.Error(), m.Failed.Log
		if m.Blame == "reference" { // which nobody is to judge a solution by
			o.status, o.cause = evaluator.RuntimeError, bench.CauseInput
			o.reason = "the reference failed: " + o.reason
		}
	}
	if o.status != evaluator.Passed && o.reason == "" && o.judged {
		o.reason = o.verdict.Log
	}
}

// fill makes a result of the outcome.
func (o *outcome) fill(r *bench.Result) {
	r.Outcome, r.Cause = flashinfer.Status(o.status).Outcome()
	if o.cause != "" && r.Outcome != bench.Passed {
		r.Cause = o.cause
	}
	r.Warnings, r.Context = o.warnings, o.context()
	if r.Outcome != bench.Passed {
		r.Reason, r.Log = o.why(), o.log
		if r.Outcome == bench.Skipped {
			return
		}
	}
	if o.judged || o.status == evaluator.Passed {
		r.Samples = o.samples()
	}
	if r.Outcome == bench.Passed && len(r.Samples) == 0 {
		suite.Fail(r, bench.CauseOutput, "nothing was timed: raise iterations")
	}
}

// why is the reason in one line: the status and the worst output.
func (o *outcome) why() string {
	text := string(o.status)
	for _, out := range o.verdict.Outputs {
		if o.judged && out.Status != evaluator.Passed {
			text += fmt.Sprintf(": output %s is off by %.4g (relative %.4g) at %v, %.4g of it matches", out.Name, float64(out.MaxAbsoluteError),
				float64(out.MaxRelativeError), out.WorstIndex, out.MatchedRatio)
			break
		}
	}
	if o.reason != "" {
		text += ": " + o.reason
	}
	return text
}
