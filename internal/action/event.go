package action

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/text"
)

// events whose commit is the one under test.
var events = []string{
	"pull_request", "merge_group", "push", "schedule", "workflow_dispatch", "repository_dispatch", "workflow_run",
	"issue_comment",
}

// refuse returns why accelgate does not work for an event.
func (a *action) refuse() error {
	switch pr := a.event.PullRequest; {
	case a.event.Name == "pull_request_target" && !a.in.dangerTarget:
		return errors.New(
			"accelgate does not run on pull_request_target, which gives the code of a fork the repository's secrets: use pull_request",
		)
	case a.event.Name != "pull_request_target" && !slices.Contains(events, a.event.Name):
		return fmt.Errorf("event %s names no commit to measure: use one of %s", text.OneLine(a.event.Name), strings.Join(events, ", "))
	case pr != nil && pr.Fork && a.in.runs == "" && !a.in.plan && !a.in.base && a.Getenv("RUNNER_ENVIRONMENT") != "github-hosted" &&
		!a.in.dangerForks:
		return errors.New("accelgate does not run code of a fork on a self-hosted runner, because that code could take over the runner: " +
			"add to the job: if: github.event.pull_request.head.repo.full_name == github.repository")
	}
	return nil
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
	if name == "" || a.event.Name != "workflow_dispatch" || !a.in.publish && !a.in.base || a.in.update {
		return nil
	}
	number, err := strconv.Atoi(name)
	if err != nil || number < 1 {
		return exit.Usagef("the dispatch input pull_request is %q: give the number of one", text.OneLine(name))
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
		return exit.Usagef(
			"the head of pull request %d is %s, and this is %s: start the workflow on the pull request's branch, or write /accelgate run for a fork's",
			number, pull.HeadSHA, text.OneLine(measured))
	}
	a.event.PullRequest = pullRequest(pull, repo)
	return nil
}

// Ends of the names of checks, and of the keys of comments, of runs that were
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
	case len(a.in.options.Only)+len(a.in.options.Suites) > 0:
		a.in.checkName += someCells
	case a.event.PullRequest == nil:
		a.in.checkName += byHand
	}
}
