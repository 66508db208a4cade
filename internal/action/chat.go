package action

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/github"
	"github.com/accelgate/accelgate/internal/text"
)

const chatUsage = "`/accelgate rerun` measures again after a verdict and posts again after a failed post, `/accelgate rerun CELL-GLOB` measures some cells, " +
	"`/accelgate accept CELL METRIC CEILING DAYS REASON` proposes a waiver, " +
	"`/accelgate approve-config COMMIT` approves a changed configuration, and `/accelgate refresh REASON` measures and proposes new baselines; of several configurations, `/accelgate NAME: ...` names one"

// chat answers a new comment on a pull request that begins with /accelgate.
// Whoever may push may command, by GitHub's word; everybody else gets a reason.
// Editing is not writing, as others than the author may edit, and programs may
// quote anybody.
func (a *action) chat(ctx context.Context) (int, error) {
	if c := a.event.Comment; !c.New || c.Bot {
		_, err := fmt.Fprintln(a.Stdout, "Only new comments of people are answered: write one.")
		return exit.Passed, err
	}
	words, ok, err := parseCommand(a.event.Comment.Body)
	if !ok || !a.event.Comment.OnPullRequest {
		return exit.Passed, nil // it is not for us
	}
	client, repo, cerr := a.client()
	if cerr != nil {
		return 0, cerr
	}
	t := talk{action: a, client: client, repo: repo}
	may, perr := client.Permission(ctx, repo, a.event.Comment.Author)
	switch {
	case perr != nil:
		return 0, perr
	case !may.CanWrite():
		return t.decline(ctx)
	case err != nil:
		return t.answer(ctx, "confused", err.Error()+": "+chatUsage, false)
	}
	said, err := t.addressed(ctx, words)
	if err != nil {
		return t.answer(ctx, "confused", err.Error(), false)
	}
	return t.answer(ctx, "rocket", said, true)
}

// talk is the answer to one comment.
type talk struct {
	*action
	client *github.Client
	repo   github.Repo
	all    []talk // one for each configuration that the command is for
	to     string // the name of the only one; "" where the command names none
}

// decline reacts to a command from a user without write permission, and does no
// more: whoever may comment could otherwise make the project's account post.
func (t talk) decline(ctx context.Context) (int, error) {
	if err := t.client.React(ctx, t.repo, t.event.Comment.ID, "-1"); err != nil {
		t.reportAPIError(err)
	}
	_, err := fmt.Fprintln(t.Stdout, "The command was not run: its author has no write permission in the repository; ask a maintainer.")
	return exit.Passed, err
}

// answer reacts and replies. The reply quotes nothing as it was written.
func (t talk) answer(ctx context.Context, reaction, said string, done bool) (int, error) {
	c := t.event.Comment
	if err := t.client.React(ctx, t.repo, c.ID, reaction); err != nil {
		t.reportAPIError(err)
	}
	if reply, err := t.client.Reply(ctx, t.repo, c.Issue, c.ID, said); reply.ID == 0 && err != nil {
		return 0, err
	}
	fmt.Fprintln(t.Stdout, text.OneLine(said))
	if !done {
		return exit.Usage, nil
	}
	return exit.Passed, nil
}

// command does what the words say and returns what was done. Its errors are for
// the one who wrote them.
func (t talk) command(ctx context.Context, words []string) (string, error) {
	verb, rest := "", words
	if len(words) > 0 {
		verb, rest = words[0], words[1:]
	}
	switch verb {
	case "rerun":
		return t.rerun(ctx, rest)
	case "run":
		return t.runFork(ctx, rest)
	case approveVerb:
		return t.approveConfig(ctx, words)
	case "accept":
		return t.acceptCell(ctx, rest)
	case "refresh":
		return t.dispatchRefresh(ctx, strings.Join(rest, " "))
	}
	return "", fmt.Errorf("there is no such command: %s", chatUsage)
}

// rerun runs jobs again; or, for some cells, starts the workflow on the branch.
func (t talk) rerun(ctx context.Context, words []string) (string, error) {
	switch issue := t.event.Comment.Issue; len(words) {
	case 0:
		return t.rerunCause(ctx)
	case 1:
		pull, err := t.client.GetPull(ctx, t.repo, issue)
		if err != nil {
			return "", quoted(err)
		}
		if pull.Fork(t.repo) {
			return "", fmt.Errorf(
				"a workflow cannot be started on the branch of a fork: leave the cells out, which runs the failed jobs again",
			)
		}
		inputs := t.dispatched(map[string]string{"only": words[0], "pull_request": strconv.Itoa(issue)})
		if err := t.client.Dispatch(ctx, t.repo, t.in.workflow, pull.HeadRef, inputs); err != nil {
			return "", quoted(err)
		}
		return fmt.Sprintf("%s is measured again on `%s`.", quoteCode(words[0]), pull.HeadSHA[:min(7, len(pull.HeadSHA))]), nil
	}
	return "", fmt.Errorf("rerun takes one glob of cells: put it into quotes where it has spaces")
}

// dispatchRefresh starts the workflow on the default branch.
func (t talk) dispatchRefresh(ctx context.Context, reason string) (string, error) {
	if reason == "" {
		return "", fmt.Errorf("baselines move only for a reason: write `/accelgate refresh REASON`")
	}
	if t.event.DefaultBranch == "" {
		return "", fmt.Errorf("the event does not name the default branch: start the workflow by hand")
	}
	reason = fmt.Sprintf("%s (asked for by %s in #%d)", reason, t.event.Comment.Author, t.event.Comment.Issue)
	inputs := t.dispatched(map[string]string{"update_baseline": "true", "reason": reason})
	if err := t.client.Dispatch(ctx, t.repo, t.in.workflow, t.event.DefaultBranch, inputs); err != nil {
		return "", quoted(err)
	}
	return fmt.Sprintf("All hosts measure `%s`; a pull request with new baselines follows, unless a loss there blocks. "+
		"The head of #%d is not measured for it: `/accelgate accept CELL METRIC CEILING DAYS REASON` accepts a loss of the head.",
		t.event.DefaultBranch, t.event.Comment.Issue), nil
}

// quoted is an error whose text is not ours, for Markdown.
func quoted(err error) error { return errors.New(quoteCode(err.Error())) }

// quoteCode shows what a stranger wrote as code, which mentions and links
// nothing.
func quoteCode(s string) string { return "`" + strings.ReplaceAll(text.OneLine(s), "`", "'") + "`" }
