package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/github"
	"github.com/accelgate/accelgate/internal/github/actions"
	"github.com/accelgate/accelgate/internal/report"
)

func (c *Command) actionCommand(code *int) *cobra.Command {
	return &cobra.Command{
		Use:   "action",
		Short: "What the GitHub Action runs: inputs and event from the runner's environment",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			*code, err = c.action(cmd.Context())
			return err
		},
	}
}

// action is one step of a workflow.
type action struct {
	*Command // writes to the guarded streams
	gh       *actions.Action
	event    actions.Event
	in       inputs
	token    redacting         // takes the token out of what is written
	api      *github.Client    // see client; nil until it is needed
	check    *github.OpenCheck // in progress; nil where there is none
	troubles []string          // what kept history from being read
	lost     error             // why the verdict is not on GitHub; nil where it is
}

// gathered is what the step judges: runs with their references, in pairs.
type gathered struct {
	file   *config.File
	policy gate.Policy
	runs   []*bench.Run
	refs   []reference
	absent []string // labels of hosts that a refresh goes on without
}

// action measures or gathers, judges, and publishes. Publishing never changes
// the exit code that the decision gives.
func (c *Command) action(ctx context.Context) (code int, err error) {
	gh := actions.New(actions.Options{Getenv: inputEnv(c.Getenv), Stdout: c.Stdout})
	guard, err := gh.Guard()
	if err != nil {
		return 0, err
	}
	inner := *c
	a := &action{Command: &inner, gh: gh, token: redacting{secrets: []string{strings.TrimSpace(gh.Input("github-token"))}}}
	inner.Stdout, inner.Stderr = hiding{a.token, guard}, hiding{a.token, c.Stderr}
	defer func() {
		if err = a.token.hidden(err); err != nil {
			a.annotate(gh.Error, couldNotJudge, err.Error())
			a.output("verdict", string(gate.StatusNoEvidence))
		}
		err = errors.Join(err, guard.Close())
	}()
	if a.event, err = gh.Event(); err != nil {
		return 0, usageError{err}
	}
	if a.in, err = readInputs(gh, a.event); err != nil {
		return 0, usageError{err}
	}
	a.in.reason = a.token.hide(a.in.reason) // which baselines keep
	if c := a.event.Comment; c != nil {
		c.Body = a.token.hide(c.Body)
	}
	if err := a.refuse(); err != nil {
		return 0, usageError{err}
	}
	if err := a.dropRoot(); err != nil {
		return 0, usageError{err}
	}
	if a.event.Comment != nil {
		return a.chat(ctx)
	}
	if err := a.resolvePull(ctx); err != nil {
		return 0, err
	}
	a.nameByHand()
	if a.ofFork() {
		if err := a.askMaintainer(ctx); err != nil || a.event.Run.Skipped {
			return ExitPassed, err
		}
	}
	if a.event.Run != nil {
		clean, err := a.foreign(ctx)
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
	a.readHistory(ctx)
	if a.in.publish && !a.in.update {
		a.begin(ctx)
		defer a.end(ctx)
	}
	if code, err = a.step(ctx); err != nil && a.in.publish && !a.in.update {
		a.publishError(ctx, err)
	}
	if cause := a.unpublished(); cause != nil && err == nil && code == ExitPassed {
		a.annotate(a.gh.Error, "accelgate could not publish", cause.Error())
		code = ExitNoMeasure // green, and no trace of it
	}
	return code, err
}

// couldNotJudge heads every trace of an error on GitHub.
const couldNotJudge = "accelgate could not judge"

func (a *action) step(ctx context.Context) (int, error) {
	g, err := a.gather(ctx)
	if err != nil {
		return 0, err
	}
	a.tellTroubles(g)
	in := report.Input{Config: a.in.options.config, Revision: a.commit(), Links: report.Links{Run: a.event.RunURL}}
	switch {
	case a.event.Run != nil:
		in.Base = a.event.SHA // what is checked out, whatever the pull request goes into
	case a.event.PullRequest != nil:
		in.Base = a.event.PullRequest.BaseSHA
	}
	in.Checked = a.checkedChanges(ctx, g.file, &g.policy)
	g.policy.NextRun = a.follows(ctx)
	j := a.judge(g.runs, g.refs, g.policy, in)
	if err := a.show(g, j); err != nil {
		return 0, err
	}
	if a.in.update {
		return a.refresh(ctx, g, j)
	}
	if a.in.publish {
		a.publish(ctx, g, j)
	}
	a.keep(ctx, g, j)
	return j.exit(), nil
}

// gather measures here, or reads the runs of other jobs.
func (a *action) gather(ctx context.Context) (gathered, error) {
	if a.in.runs != "" {
		return a.collect()
	}
	p, err := a.plan(ctx, &a.in.options)
	if err != nil {
		return gathered{}, err
	}
	defer p.close()
	if err := a.acceptUnlessUpdating(&p.policy, p.file); err != nil {
		return gathered{}, err
	}
	ref, err := p.options.reference(p.file, p.host.Label)
	if err != nil {
		return gathered{}, err
	}
	a.warn(a.gh.Group("Measure"))
	run, err := a.measure(ctx, p, ref.run())
	a.warn(a.gh.EndGroup())
	if err != nil {
		return gathered{}, err
	}
	a.output("run", p.outPath("run.json"))
	return gathered{file: p.file, policy: p.policy, runs: []*bench.Run{run}, refs: []reference{ref}}, nil
}

// acceptUnlessUpdating leaves waivers out where new baselines are proposed.
func (a *action) acceptUnlessUpdating(policy *gate.Policy, file *config.File) error {
	if a.in.update {
		return nil
	}
	return a.accept(policy, file)
}
