package action

import (
	"context"
	"fmt"
	"strconv"

	"github.com/accelgate/accelgate/internal/github"
	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// unverified ends the name of the check, and of the comment, of numbers that a
// fork's own job measured: under the required name they would let it pass itself.
const unverified = " (unverified: measured by the fork)"

// headInput is the dispatch input that names the commit of a fork to measure.
const headInput = "head_sha"

var fullCommit = lazyregexp.New(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// ofFork reports whether the step is about the run of a fork's workflow.
func (a *action) ofFork() bool {
	return a.event.Run != nil && a.event.Run.HeadRepo != a.event.Repository()
}

// requireApproval makes the required check of a fork's commit one that needs a
// maintainer, and gives what the fork measured a name of its own. A verdict of this
// project's runners is of a newer run and stays.
func (a *action) requireApproval(ctx context.Context) error {
	required := a.in.checkName
	a.in.checkName += unverified
	if !a.in.publish {
		return nil
	}
	client, repo, err := a.client()
	if err != nil {
		return err
	}
	summary := "The pull request comes from a fork, whose code does not run on this project's runners unasked.\n\n" +
		"A maintainer can start this: write `/accelgate run` in a comment on the pull request, after reading its changes.\n"
	for _, trouble := range a.troubles {
		summary += "\nWarning: " + quoteCode(a.token.Hide(trouble)) + "\n"
	}
	_, err = client.UpsertCheck(ctx, repo, a.commit(),
		github.Check{Name: required, Conclusion: "action_required", Title: "not measured on this project's runners",
			Summary: summary, DetailsURL: a.event.RunURL, Seq: a.seq()})
	return err
}

// runFork starts the workflow of the default branch on the head of a fork's pull
// request. The commit travels with the start, so that a later push is not
// measured; a push after the comment was written is refused.
func (t talk) runFork(ctx context.Context, words []string) (string, error) {
	if len(words) > 0 {
		return "", fmt.Errorf("run takes nothing: write `/accelgate run`")
	}
	pull, err := t.client.GetPull(ctx, t.repo, t.event.Comment.Issue)
	switch {
	case err != nil:
		return "", quoted(err)
	case !pull.Fork(t.repo):
		return "", fmt.Errorf(
			"run is for pull requests of forks; the workflow measures this one by itself: write `/accelgate rerun` to measure again",
		)
	case t.event.DefaultBranch == "" || t.event.Comment.Created.IsZero():
		return "", fmt.Errorf("the event names no default branch or no time of the comment: start the workflow by hand")
	case pull.HeadPushed.IsZero() || !pull.HeadPushed.Before(t.event.Comment.Created): // both are in whole seconds
		return "", fmt.Errorf(
			"the fork was pushed to after the comment was written, or in the same second: read `%s`, then write `/accelgate run` again",
			pull.HeadSHA)
	}
	inputs := t.dispatched(map[string]string{"pull_request": strconv.Itoa(pull.Number), headInput: pull.HeadSHA})
	if err := t.client.Dispatch(ctx, t.repo, t.in.workflow, t.event.DefaultBranch, inputs); err != nil {
		return "", quoted(err)
	}
	return fmt.Sprintf("`%s` is measured on this project's runners; the report follows here.", pull.HeadSHA), nil
}
