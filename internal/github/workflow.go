package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	gh "github.com/google/go-github/v62/github"

	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// actionsPermission is what a token needs to start workflows and to run them
// again.
const actionsPermission = "actions: write"

// validWorkflow matches the file of a workflow, or its id, of at most maxWorkflow bytes: a pattern that counts so far takes
// every process milliseconds to compile.
var validWorkflow = lazyregexp.New(`^[A-Za-z0-9_.-]+$`)

const maxWorkflow = 200

// Dispatch starts a workflow, named by its file or id, on a branch. It is not
// repeated after a failure that may have come after the start: the error says
// to look.
func (c *Client) Dispatch(ctx context.Context, repo Repo, workflow, ref string, inputs map[string]string) error {
	doing := fmt.Sprintf("start workflow %q of %s", text.Cut(workflow, 200), repo)
	err := repo.check()
	if len(workflow) > maxWorkflow || !validWorkflow.MatchString(workflow) || workflow == "." || workflow == ".." {
		err = errors.Join(err, errors.New("this is not a workflow: give the name of its file"))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	path := repo.path("actions/workflows/" + url.PathEscape(workflow) + "/dispatches")
	body := map[string]any{"ref": ref}
	if len(inputs) > 0 {
		body["inputs"] = inputs
	}
	return explainOnce(doing, actionsPermission, c.call(once(ctx), http.MethodPost, path, body, nil))
}

// RerunFailedJobs runs the jobs of a run again that failed. It is not repeated
// either; a run that is going on already is an error.
func (c *Client) RerunFailedJobs(ctx context.Context, repo Repo, run int64) error {
	return rerun(ctx, repo, run, "the failed jobs", c.api.Actions.RerunFailedJobsByID)
}

// RerunAllJobs runs all jobs of a run again, under the same conditions.
func (c *Client) RerunAllJobs(ctx context.Context, repo Repo, run int64) error {
	return rerun(ctx, repo, run, "all jobs", c.api.Actions.RerunWorkflowByID)
}

func rerun(ctx context.Context, repo Repo, run int64, what string,
	send func(context.Context, string, string, int64) (*gh.Response, error)) error {
	doing := fmt.Sprintf("run %s of run %d of %s again", what, run, repo)
	if err := repo.check(); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	_, err := send(once(ctx), repo.Owner, repo.Name, run)
	var failed *gh.ErrorResponse
	if errors.As(err, &failed) && failed.Message == "This workflow is already running" {
		return fmt.Errorf("%s: it is still running: wait until it has ended", doing)
	}
	return explainOnce(doing, actionsPermission, err)
}

// explainOnce wraps the error of something that was sent once only.
func explainOnce(doing, permission string, err error) error {
	switch {
	case err == nil:
		return nil
	case passing(err):
		return fmt.Errorf("%s: %w: it may have started all the same: look at the workflow's runs before trying again", doing, err)
	}
	return explain(doing, permission, err)
}
