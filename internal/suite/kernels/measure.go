package kernels

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/suite/kernels/evaluator"
	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
	"github.com/accelgate/accelgate/internal/suite/kernels/harness"
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
	if err == nil {
		err = s.profile(ctx, l, o, d)
	}
	result.WallMS = float64(s.env.Now().Sub(began).Microseconds()) / 1000
	if err != nil {
		return result, err
	}
	o.fill(&result)
	if result.Outcome == bench.Passed && p.settings.ProfileBaseline.V && result.Sample("speedup_factor") == nil {
		result.Absent = []bench.Absent{{Metric: "speedup_factor", At: "profile_baseline"}}
	}
	if s.body.Traces != "" && o.status != evaluator.Skipped && !p.virtual {
		if err := s.appendTrace(p, o); err != nil {
			result.Warnings = append(result.Warnings, fmt.Sprintf("no trace was written: %v", err))
		}
	}
	return result, nil
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
	failed   *evaluator.Result // the first verdict that is not Passed
	measured harness.Measurement
	hello    harness.HelloReply // of the solution's worker
	secret   harness.Secret     // of the inputs
	// reference is the kind of the reference's worker, and cold whether caches
	// were emptied: numbers under different ones are not compared.
	reference string
	cold      bool
	warnings  []string
	profiles  []flashinfer.Profile
}

// outcome measures a case. An error means that nothing can be measured here any
// more.
func (s *Suite) outcome(ctx context.Context, l *lane, p *point, d bench.Device) (*outcome, error) {
	o := &outcome{point: p}
	c, err := s.kase(p)
	o.secret = c.Secret
	if err == nil {
		limit := cmp.Or(suite.WatchdogOf(ctx).Timeout, time.Duration(p.settings.TimeoutSeconds.V)*time.Second)
		inner, cancel := context.WithTimeoutCause(ctx, limit, harness.ErrTooLong)
		defer cancel()
		err = s.measure(inner, l, o, c, d)
		if ctx.Err() == nil && errors.Is(context.Cause(inner), harness.ErrTooLong) {
			err = o.late(err, limit)
		}
	}
	return o, o.explain(err)
}

// late makes an error the outcome of a case that took longer than its limit. One that is known to
// be wrong stays wrong: a timeout may be measured again.
func (o *outcome) late(err error, limit time.Duration) error {
	switch status := o.measured.Status; {
	case err == nil || errors.As(err, new(*harness.Failure)):
		return err
	case status != "" && status != evaluator.Passed:
		o.conclude()
		return nil
	}
	o.status, o.reason = evaluator.Timeout, fmt.Sprintf(
		"it took more than %v: raise timeout_seconds or cell_timeouts, or choose a smaller workload", limit)
	if ended := (*harness.Cancelled)(nil); errors.As(err, &ended) {
		o.log = ended.Log
	}
	return nil
}

// explain turns what keeps one case from being measured into its outcome, and
// returns every other error.
func (o *outcome) explain(err error) error {
	var failure *harness.Failure
	var absent unavailable
	var input inputProblem
	switch {
	case err == nil:
	case errors.As(err, &input):
		o.status, o.reason, o.cause = evaluator.RuntimeError, input.Error(), bench.CauseInput
	case errors.As(err, &failure):
		o.status, o.reason, o.log, o.cause = failure.Kind.Status(), failure.Error(), failure.Words(), causeOf(failure)
	case errors.As(err, &absent):
		o.status, o.reason = evaluator.Skipped, absent.Error()
	default:
		return err
	}
	return nil
}

// measure starts the workers and runs the procedure.
func (s *Suite) measure(ctx context.Context, l *lane, o *outcome, c harness.Case, d bench.Device) (err error) {
	p := o.point
	j, err := s.newJudge(ctx, p, c)
	if err != nil {
		return inputProblem{err}
	}
	if c.Draws, err = j.needed(); err != nil {
		return inputProblem{err}
	}
	j.kase = c
	if err := s.startEarly(ctx, l, p, d); err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, l.dropEarly()) }()
	reference, refBuild, err := s.trusted(ctx, l, p, d)
	if err != nil {
		return err
	}
	solution, err := s.solution(ctx, l, p, d)
	if err != nil {
		return err
	}
	build, err := s.buildOf(l, p)
	if err != nil {
		return err
	}
	o.hello, o.reference = solution.Hello(), reference.Hello().Kind
	if err := onDevice(p.solution, o.hello); err != nil {
		return err
	}
	if s.body.Reference == "auto" && refBuild.Language == "go" && p.solution.Language != "go" {
		o.warnings = append(o.warnings,
			"the reference is the Go worker's kernel, because Python has no torch here: install it, or set reference: go")
	}
	settings := s.settingsOf(p, j, o.hello)
	o.cold = settings.ColdCache
	gpu := s.clocks(ctx, d, o.hello)
	defer gpu.stop()
	o.measured, err = harness.Measure(ctx, c, harness.Program{Session: reference, Build: refBuild},
		harness.Program{Session: solution, Build: build}, settings)
	gpu.fill(o.measured.Solution.Device)
	o.verdict, o.judged = j.combined()
	o.failed = j.failed
	o.log = solution.Log()
	if err != nil {
		return err
	}
	o.conclude()
	return nil
}

// starting distinguishes a worker that this host does not have from a fault: what ended
// because ctx did is neither.
func starting(ctx context.Context, err error) error {
	var failure *harness.Failure
	switch {
	case err == nil || ctx.Err() != nil:
		return err
	case errors.Is(err, worker.ErrNotFound):
		return unavailable{fmt.Errorf("%w: install it, or set python", err)}
	case errors.As(err, &failure) && failure.Op == "hello":
		return unavailable{fmt.Errorf("the worker does not start: %w: %.500s", err, failure.Log)}
	}
	return err
}

// onDevice refuses a solution whose code is for a device that its worker does not
// have. One that names the CPU as a target runs there.
func onDevice(sol *flashinfer.Solution, h harness.HelloReply) error {
	kind := ""
	if len(h.Devices) > 0 {
		kind = h.Devices[0].Kind
	}
	if !slices.Contains(deviceLanguages, sol.Language) || kind == "cuda" || kind == "cpu" && slices.Contains(sol.TargetHardware, "cpu") {
		return nil
	}
	return unavailable{
		fmt.Errorf("%s runs on a GPU, and Python's torch sees none here: run it on a host with a GPU and a torch that is built for it",
			sol.Language),
	}
}

// settingsOf are the settings of the procedure.
func (s *Suite) settingsOf(p *point, j *judge, h harness.HelloReply) harness.Settings {
	r := p.settings
	cold := len(h.Devices) > 0 && h.Devices[0].Kind != "cpu" // whose caches are what programs find them in
	if s.body.ColdCache != nil {
		cold = *s.body.ColdCache
	}
	return harness.Settings{
		Warmup:        r.WarmupRuns.V,
		Iterations:    r.Iterations.V,
		Trials:        r.NumTrials.V,
		Sets:          sets,
		MinTime:       s.minTime,
		MaxIterations: s.maxCalls,
		MaxFresh:      s.fresh,
		NoBaseline:    !r.ProfileBaseline.V,
		ColdCache:     cold,
		Graph:         s.body.CUDAGraph,
		Dir:           s.outputs,
		Judge:         j.judge,
	}
}

// causeOf is the cause of a failure, where its status does not say it.
func causeOf(f *harness.Failure) bench.Cause {
	switch {
	case f.Kind == harness.TimedOut:
		return bench.CauseTimeout
	case f.Kind == harness.Silent:
		return bench.CauseSilent
	case f.Kind == harness.OutOfMemory:
		return bench.CauseOOM
	case f.Kind == harness.Died && f.Signalled:
		return bench.CauseCrash
	}
	return ""
}

// conclude takes over what the procedure found.
func (o *outcome) conclude() {
	m := &o.measured
	o.status, o.reason, o.warnings = m.Status, m.Reason, append(o.warnings, m.Warnings...)
	if m.Failed != nil {
		o.reason, o.log, o.cause = m.Failed.Error(), m.Failed.Words(), causeOf(m.Failed)
		if m.Blame == "reference" { // which must not judge a solution
			o.status, o.cause = evaluator.RuntimeError, cmp.Or(o.cause, bench.CauseInput)
			o.reason = "the reference failed: " + o.reason
		}
	}
}

// fill makes a result of the outcome.
func (o *outcome) fill(r *bench.Result) {
	r.Outcome, r.Cause = flashinfer.Status(o.status).Outcome()
	if o.cause != "" && r.Outcome != bench.Passed {
		r.Cause = o.cause
	}
	r.Warnings = o.warnings
	r.SetFacts(o.context(), conditions)
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
	if r.Outcome == bench.Passed {
		r.Checked = bench.CheckedOutput
	}
}

// why is the reason in one line: the status, and the worst output of the first
// set of inputs that was wrong.
func (o *outcome) why() string {
	text := string(o.status)
	if o.failed != nil && o.failed.Status == o.status {
		for _, out := range o.failed.Outputs {
			if out.Status != evaluator.Passed {
				text += fmt.Sprintf(": output %s is off by %.4g at %v, %.4g of it matches", out.Name, float64(out.MaxAbsoluteError),
					out.WorstIndex, out.MatchedRatio)
				break
			}
		}
		if o.reason == "" && o.failed.Log != "" {
			text += ": " + o.failed.Log
		}
	}
	if o.reason != "" {
		text += ": " + o.reason
	}
	return text
}
