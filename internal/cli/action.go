package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/actions"
	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/github"
	"github.com/accelgate/accelgate/internal/matrix"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/runner"
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

// events whose commit is the one under test.
var events = []string{"pull_request", "merge_group", "push", "schedule", "workflow_dispatch", "repository_dispatch", "workflow_run", "issue_comment"}

// refuse says why accelgate does not work for an event.
func (a *action) refuse() error {
	switch pr := a.event.PullRequest; {
	case a.event.Name == "pull_request_target" && !a.in.dangerTarget:
		return errors.New("accelgate does not run on pull_request_target, which gives a stranger's code the repository's secrets: use pull_request")
	case a.event.Name != "pull_request_target" && !slices.Contains(events, a.event.Name):
		return fmt.Errorf("accelgate does not know which commit event %s is about: use one of %s", oneLine(a.event.Name), strings.Join(events, ", "))
	case pr != nil && pr.Fork && a.in.runs == "" && a.Getenv("RUNNER_ENVIRONMENT") != "github-hosted" && !a.in.dangerForks:
		return errors.New("accelgate does not run code of a fork on a self-hosted runner, which a stranger would then own: " +
			"add to the job: if: github.event.pull_request.head.repo.full_name == github.repository")
	}
	return nil
}

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

// commit is the one under test: a pull request's head rather than the merge
// commit that GitHub checks out and forgets.
func (a *action) commit() string {
	switch pr := a.event.PullRequest; {
	case pr != nil:
		return pr.HeadSHA
	case a.event.Run != nil:
		return a.event.Run.HeadSHA
	}
	return a.event.SHA
}

// resolvePull finds the pull request that a dispatch names, where its head is
// the commit that runs here: a comment asked for some of its cells.
func (a *action) resolvePull(ctx context.Context) error {
	name := a.event.Inputs["pull_request"]
	if name == "" || a.event.Name != "workflow_dispatch" || !a.in.publish || a.in.update {
		return nil
	}
	number, err := strconv.Atoi(name)
	if err != nil || number < 1 {
		return usagef("the dispatch input pull_request is %q: give the number of one", oneLine(name))
	}
	client, repo, err := a.client()
	if err != nil {
		return err
	}
	pull, err := client.GetPull(ctx, repo, number)
	if err != nil {
		return err
	}
	if measured := cmp.Or(a.event.Inputs[headInput], a.event.SHA); pull.HeadSHA != measured {
		return usagef("the head of pull request %d is %s, and this is %s: start the workflow on the pull request's branch, or write /accelgate run for a fork's",
			number, pull.HeadSHA, oneLine(measured))
	}
	a.event.PullRequest = pullRequest(pull, repo)
	return nil
}

// Ends of the names of checks, and of the keys of comments, of runs that somebody
// started by hand. What the branch's own policy says, and what some cells come
// to, must not replace the verdict on all of them under the policy of the base.
const (
	someCells = " (some cells)"
	byHand    = " (by hand)"
)

// nameByHand gives a run that was started by hand a name of its own, unless it is
// of all cells of a pull request.
func (a *action) nameByHand() {
	switch {
	case a.event.Name != "workflow_dispatch":
	case len(a.in.options.only)+len(a.in.options.suites) > 0:
		a.in.checkName += someCells
	case a.event.PullRequest == nil:
		a.in.checkName += byHand
	}
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

// collect reads the runs of other jobs, which are not trusted. A host that
// should have delivered one and did not stands in with an empty run, which the
// gate cannot pass.
func (a *action) collect() (g gathered, err error) {
	if g.file, g.policy, err = a.in.options.load(); err != nil {
		return g, err
	}
	if err := a.acceptUnlessUpdating(&g.policy, g.file); err != nil {
		return g, err
	}
	paths, err := findRuns(a.in.runs, maxRuns)
	if err != nil {
		return g, err
	}
	if g.runs, g.refs, err = a.in.options.readRuns(g.file, paths); err != nil {
		return g, err
	}
	if pr := a.event.PullRequest; a.event.Run != nil && pr != nil && pr.BaseRef != a.event.DefaultBranch && len(g.runs) > 0 {
		g.runs[0].Warnings = append(g.runs[0].Warnings, fmt.Sprintf("the pull request goes into %s, and the configuration and baselines of %s judge it: "+
			"compare them before merging", oneLine(pr.BaseRef), a.event.DefaultBranch))
	}
	for _, run := range g.runs {
		if err := a.believe(run, g.file.Limits); err != nil {
			return g, fmt.Errorf("run of host %s: %w", oneLine(run.Host.Label), err)
		}
	}
	if err := recheck(g.file, g.runs); err != nil {
		return g, err
	}
	for _, label := range a.in.hosts {
		if slices.ContainsFunc(g.runs, func(r *bench.Run) bool { return r.Host.Label == label }) {
			continue
		}
		if a.in.update {
			g.absent = append(g.absent, label)
			continue
		}
		ref, err := a.in.options.reference(g.file, label)
		if err != nil {
			return g, err
		}
		g.runs = append(g.runs, &bench.Run{Schema: bench.RunSchema, Host: bench.Host{Label: label}, Started: a.Now(),
			Warnings: []string{fmt.Sprintf("host %s delivered no run.json: look at the log of its job", label)}})
		g.refs = append(g.refs, ref)
	}
	if len(g.runs) == 0 {
		return g, fmt.Errorf("%w: %s holds no run.json: look at the jobs that should have measured", runner.ErrNoCells, a.in.runs)
	}
	return g, nil
}

// believe checks a run against what this job knows. It must be of the commit
// that this job is about, hold what only asks for, and cannot excuse itself:
// cells that it says it left out, and that this job was not told to leave out,
// are missing; so are cells left out by a limit that the configuration has not.
func (a *action) believe(run *bench.Run, limits config.Limits) error {
	if want := a.commit(); run.Revision != want {
		return fmt.Errorf("the run is of commit %q and this workflow of %s: run the measuring job again", oneLine(run.Revision), want)
	}
	only := a.in.options.only
	for _, pattern := range only {
		if !slices.ContainsFunc(run.Results, func(r bench.Result) bool { return matrix.Glob(pattern, r.Cell.ID()) }) {
			return fmt.Errorf("no cell of the run matches only %q: correct the input, or measure that cell", oneLine(pattern))
		}
	}
	if missing := run.MissingShards(); len(missing) > 0 {
		return fmt.Errorf("shards %s delivered no run.json: look at the logs of their jobs", strings.Join(missing, ", "))
	}
	if !mayLeaveOut(run, limits) {
		run.LeftOut = nil
	}
	others, err := a.outside(run.Host)
	if err != nil {
		return err
	}
	run.Unselected = slices.DeleteFunc(run.Unselected, func(id string) bool {
		return !others[id] && (len(only) == 0 || matrix.GlobAny(only, id))
	})
	return nil
}

// mayLeaveOut reports whether the configuration's limits can have left out what
// a run says. A budget can leave out anything, and is believed; how many cells
// there must be at least is known.
func mayLeaveOut(run *bench.Run, limits config.Limits) bool {
	measured := 0
	for i := range run.Results {
		if run.Results[i].Outcome != bench.Skipped {
			measured++
		}
	}
	return limits.Budget > 0 || limits.MaxCells > 0 && measured >= limits.MaxCells
}

// outside lists the cells that the profile leaves out on a host, by this job's
// configuration and not by what a run says.
func (a *action) outside(h bench.Host) (map[string]bool, error) {
	if a.in.options.profile == "" {
		return nil, nil
	}
	o := a.in.options
	o.only = nil
	p, err := a.newPlan(&o)
	if err != nil {
		return nil, err
	}
	defer p.close()
	p.host = h
	if err := p.open(); err != nil {
		return nil, fmt.Errorf("find the cells of profile %s: %w", oneLine(o.profile), err)
	}
	return setOf(p.others), nil
}

// show writes what the runner shows: log, summary, outputs, annotations.
func (a *action) show(g gathered, j judged) error {
	if err := a.render(a.Stdout, "terminal", j); err != nil {
		return err
	}
	const summaryBytes = 900_000 // of the 1 MiB that GitHub takes
	md, err := text(report.MarkdownLimit(summaryBytes), j.report)
	if err != nil {
		return err
	}
	md = a.token.hide(md)
	path, err := a.saveReport(g, "report.md", md)
	if err != nil {
		return err
	}
	if err := a.saveJSON(g, j); err != nil {
		return err
	}
	_, err = a.gh.Summary(md)
	a.warn(err)
	a.output("report", path)
	a.output("verdict", string(j.decision.Status))
	a.annotateFindings(j)
	return nil
}

// annotateFindings puts the worst findings where GitHub shows them first, and
// the number of the others.
func (a *action) annotateFindings(j judged) {
	const most = 9 // GitHub shows ten of a kind
	findings, blocking := j.report.Findings(), 0
	for _, n := range j.decision.Blocking {
		blocking += n
	}
	findings = findings[:min(len(findings), most)]
	for _, f := range findings {
		blocking -= f.Verdicts
		a.annotate(a.gh.Error, strings.Join(slices.DeleteFunc([]string{f.Host, f.Cell, f.Metric}, func(s string) bool { return s == "" }), " "), f.Message)
	}
	if blocking > 0 {
		a.annotate(a.gh.Error, fmt.Sprintf("and %d more", blocking), "the summary of this job lists the worst, the JSON report all")
	}
}

func (a *action) annotate(issue func(actions.Annotation) error, title, message string) {
	a.warn(issue(actions.Annotation{Title: a.token.hide(title), Message: a.token.hide(message)}))
}

// output sets an output of the step.
func (a *action) output(name, value string) { a.warn(a.gh.SetOutput(name, a.token.hide(value))) }

// warn reports what could not be delivered; it never changes the outcome.
func (a *action) warn(err error) {
	if err != nil {
		fmt.Fprintf(a.Stderr, "accelgate: warning: %s\n", oneLine(err.Error()))
	}
}
