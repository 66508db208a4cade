// Package action is one step of a workflow: inputs and event, measuring or
// collecting runs, judging, and publishing comment, check and pull requests.
package action

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/github"
	"github.com/accelgate/accelgate/internal/github/actions"
	"github.com/accelgate/accelgate/internal/judge"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/reference/remote"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/text"
)

// action is one step of a workflow.
type action struct {
	*measure.Env // writes to the guarded streams
	gh           *actions.Action
	event        actions.Event
	in           inputs
	token        measure.Secrets   // removes the token from all output
	reach        github.Options    // how GitHub is reached: sleep and transport
	api          *github.Client    // see client; nil until it is needed
	check        *github.OpenCheck // in progress; nil where there is none
	troubles     []string          // what kept history from being read
	lost         error             // why the verdict is not on GitHub; nil where it is
}

// collected is what the step judges: runs with their references, in pairs.
type collected struct {
	file   *config.File
	policy gate.Policy
	runs   []*bench.Run
	refs   []judge.Reference
	absent []string // labels of hosts that a refresh goes on without
}

// Run measures or gathers, judges, and publishes. A pass that cannot be published
// ends with exit code 3, and so does a verdict that leaves an earlier check run. Of reach, Sleep and Transport count.
func Run(ctx context.Context, e *measure.Env, reach github.Options) (code int, err error) {
	gh := actions.New(actions.Options{Getenv: inputEnv(e.Getenv), Stdout: e.Stdout})
	guard, err := gh.Guard()
	if err != nil {
		return 0, err
	}
	inner := *e
	a := &action{Env: &inner, gh: gh, reach: reach, token: measure.Secrets{strings.TrimSpace(gh.Input("github-token"))}}
	inner.Stdout, inner.Stderr = a.token.Writer(guard), a.token.Writer(e.Stderr)
	defer func() {
		if err = a.token.Hidden(err); err != nil {
			a.annotate(gh.Error, couldNotJudge, err.Error())
			a.output("verdict", string(gate.StatusNoEvidence))
		}
		err = errors.Join(err, guard.Close())
	}()
	if a.event, err = gh.Event(); err != nil {
		return 0, exit.AsUsage(err)
	}
	if a.in, err = readInputs(gh, a.event); err != nil {
		return 0, exit.AsUsage(err)
	}
	a.in.reason = a.token.Hide(a.in.reason) // which baselines keep
	if c := a.event.Comment; c != nil {
		c.Body = a.token.Hide(c.Body)
	}
	if err := a.refuse(); err != nil {
		return 0, exit.AsUsage(err)
	}
	switch {
	case a.in.plan:
		return exit.Passed, a.plan(ctx)
	case a.in.base:
		return exit.Passed, a.printBase(ctx)
	}
	if err := a.dropRoot(); err != nil {
		return 0, exit.AsUsage(err)
	}
	if a.event.Comment != nil {
		return a.chat(ctx)
	}
	if err := a.resolvePull(ctx); err != nil {
		return 0, err
	}
	a.nameConfiguration(a.nameOf(ctx, a.in.options.Config))
	a.nameByHand()
	unresolved := a.pullOfRun(ctx)
	if set := a.skippedBy(ctx); set.By != "" {
		return a.skip(ctx, set)
	}
	if a.event.Run == nil {
		if err := a.refuseOtherBranch(ctx); err != nil {
			return 0, err
		}
	}
	if a.ofFork() {
		if err := a.requireApproval(ctx); err != nil || a.event.Run.Skipped {
			return exit.Passed, err
		}
	}
	if a.event.Run != nil {
		clean, err := a.forkRun(ctx, unresolved)
		if clean != nil {
			defer clean()
		}
		if err != nil {
			if a.in.publish {
				a.publishError(ctx, err)
			}
			return 0, err
		}
	}
	if a.in.publish && !a.in.update {
		if runs := a.bootstrapRuns(ctx); len(runs) > 0 {
			return a.bootstrap(ctx, runs), nil
		}
	}
	a.readHistory(ctx)
	a.in.options.Remote = a.baselineOf
	if a.in.publish && !a.in.update {
		a.begin(ctx)
		defer a.end(ctx)
	}
	if err = a.tokenRefused(); err == nil {
		code, err = a.step(ctx)
	}
	if err != nil && a.in.publish && !a.in.update {
		a.publishError(ctx, err)
	}
	if err == nil {
		code = a.orUnpublished(code)
	}
	return code, err
}

// orUnpublished is the exit code of a step: green without any trace of it on GitHub
// is not green, and a verdict beside a check in progress is none.
func (a *action) orUnpublished(code int) int {
	cause := a.unpublished()
	if cause == nil || code != exit.Passed && !errors.Is(cause, github.ErrCheckStays) {
		return code
	}
	a.annotate(a.gh.Error, "accelgate could not publish", cause.Error())
	return exit.NoMeasure
}

// couldNotJudge heads every trace of an error on GitHub.
const couldNotJudge = "accelgate could not judge"

func (a *action) step(ctx context.Context) (int, error) {
	g, err := a.collect(ctx)
	if err != nil {
		return 0, err
	}
	a.checkBases(ctx, g.runs)
	a.reportTroubles(g)
	in := report.Input{Config: a.in.options.Config, Name: a.in.name, Revision: a.commit(), Links: a.links()}
	switch {
	case a.event.Run != nil:
		in.Base = cmp.Or(a.checkedOut(), a.event.SHA)
	case a.in.runs != "" && a.baseBranch() != "":
		in.Base = a.checkedOut()
	}
	if a.event.PullRequest != nil {
		in.Base = cmp.Or(in.Base, a.event.PullRequest.BaseSHA)
	}
	if in.Base != "" && (a.in.runs != "" || a.event.Run != nil) {
		in.BaseBranch = a.baseBranch()
	}
	in.Checked = a.checkedChanges(ctx, g.file, &g.policy)
	if err := a.tokenRefused(); err != nil {
		return 0, err
	}
	g.policy.NextRun = a.follows(ctx)
	g.policy.Strict = !g.policy.NextRun // there, the next run decides
	j := judge.Judge(a.Env, g.runs, g.refs, g.policy, in)
	if err := a.show(g, j); err != nil {
		return 0, err
	}
	if a.in.update && a.in.options.Reference(g.file).FromHistory() {
		return a.accept(ctx, g, j)
	}
	if a.in.update && a.in.options.Reference(g.file).Remote() {
		return a.store(ctx, g, j)
	}
	if a.in.update {
		return a.refresh(ctx, g, j)
	}
	if a.in.publish {
		a.publish(ctx, j)
	}
	a.commentOnCommits(ctx, j)
	a.keep(ctx, g, j)
	return j.Exit(), nil
}

// collect measures here, or reads the runs of other jobs.
func (a *action) collect(ctx context.Context) (collected, error) {
	if a.in.runs != "" {
		return a.collectRuns(ctx)
	}
	built, err := a.build(ctx)
	if err != nil {
		return collected{}, err
	}
	settled, err := a.Env.Configure(&a.in.options)
	if err != nil {
		return collected{}, err
	}
	settled.Use(built)
	if err := a.acceptUnlessUpdating(ctx, &settled.Policy, settled.File); err != nil {
		return collected{}, err
	}
	s, err := a.Env.OpenHere(ctx, &settled)
	if err != nil {
		return collected{}, err
	}
	defer s.Close()
	p := s.Plan
	ref, err := judge.ReferenceFor(ctx, a.Env, p.Options, p.File, p.Host)
	if unread, ok := errors.AsType[*remote.Error](err); ok && !a.in.publish { // another job judges
		a.troubles = append(a.troubles,
			"cells that look slower are not measured again, because the baseline could not be read: "+text.OneLine(unread.Error()))
		ref, err = judge.Reference{Typed: &judge.Typing{Options: p.Options, File: p.File}}, nil
	}
	if err != nil {
		return collected{}, err
	}
	a.warn(a.gh.Group("Measure"))
	run, err := s.Measure(ctx, ref.Run())
	a.warn(a.gh.EndGroup())
	if err != nil {
		return collected{}, err
	}
	a.output("run", p.OutPath("run.json"))
	return collected{file: p.File, policy: p.Policy, runs: []*bench.Run{run}, refs: []judge.Reference{ref}}, nil
}

// build runs the input build in both checkouts.
func (a *action) build(ctx context.Context) (measure.BuildResult, error) {
	if a.in.build == "" {
		return measure.BuildResult{}, nil
	}
	a.warn(a.gh.Group("Build"))
	built, err := a.Env.Build(ctx, &a.in.options, a.in.build)
	a.warn(a.gh.EndGroup())
	return built, err
}

// acceptUnlessUpdating leaves waivers out where new baselines are proposed, and lets gains
// pass.
func (a *action) acceptUnlessUpdating(ctx context.Context, policy *gate.Policy, file *config.File) error {
	if a.in.update && a.in.options.Reference(file).Remote() && file.Baselines.Publish == nil {
		return a.in.options.Writable(file)
	}
	if a.in.update {
		*policy = policy.Recording()
		return nil
	}
	return judge.Accept(a.Env, policy, file, a.trigger(ctx))
}
