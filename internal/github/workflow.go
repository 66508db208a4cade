package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	gh "github.com/google/go-github/v62/github"

	"github.com/accelgate/accelgate/internal/lazyregexp"
)

// actionsPermission is what a token needs to start workflows and to run them
// again.
const actionsPermission = "actions: write"

// WorkflowRun is a run of a workflow as GitHub has it.
type WorkflowRun struct {
	ID, Attempt         int64
	Event               string
	Status, Conclusion  string // Conclusion is "" while it runs
	HeadRepo            Repo
	HeadBranch, HeadSHA string
	URL                 string // for people
}

// GetRun returns a run of a workflow.
func (c *Client) GetRun(ctx context.Context, repo Repo, id int64) (WorkflowRun, error) {
	doing := fmt.Sprintf("read run %d of %s", id, repo)
	if err := repo.check(); err != nil {
		return WorkflowRun{}, fmt.Errorf("%s: %w", doing, err)
	}
	run, _, err := c.api.Actions.GetWorkflowRunByID(ctx, repo.Owner, repo.Name, id)
	if err != nil {
		return WorkflowRun{}, explain(doing, "actions: read", err)
	}
	head := run.GetHeadRepository()
	return WorkflowRun{
		ID: run.GetID(), Attempt: int64(run.GetRunAttempt()), Event: run.GetEvent(), Status: run.GetStatus(),
		Conclusion: run.GetConclusion(), HeadRepo: Repo{head.GetOwner().GetLogin(), head.GetName()},
		HeadBranch: run.GetHeadBranch(), HeadSHA: run.GetHeadSHA(), URL: run.GetHTMLURL(),
	}, nil
}

// validWorkflow matches the file of a workflow, or its id, of at most maxWorkflow bytes: a pattern that counts so far takes
// every process milliseconds to compile.
var validWorkflow = lazyregexp.New(`^[A-Za-z0-9_.-]+$`)

const maxWorkflow = 200

// Dispatch starts a workflow, named by its file or id, on a branch. It is not
// repeated after a failure that may have come after the start: the error says
// to look.
func (c *Client) Dispatch(ctx context.Context, repo Repo, workflow, ref string, inputs map[string]string) error {
	doing := fmt.Sprintf("start workflow %q of %s", cut(workflow, 200), repo)
	err := repo.check()
	if len(workflow) > maxWorkflow || !validWorkflow.MatchString(workflow) || workflow == "." || workflow == ".." {
		err = errors.Join(err, errors.New("this is no workflow: give the name of its file"))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	path := fmt.Sprintf("repos/%s/%s/actions/workflows/%s/dispatches", repo.Owner, repo.Name, url.PathEscape(workflow))
	body := map[string]any{"ref": ref}
	if len(inputs) > 0 {
		body["inputs"] = inputs
	}
	return explainOnce(doing, actionsPermission, c.call(once(ctx), http.MethodPost, path, body, nil))
}

// DispatchEvent starts the workflows that wait for a repository_dispatch event
// of a type, with a payload of at most ten members. It is not repeated either.
func (c *Client) DispatchEvent(ctx context.Context, repo Repo, event string, payload map[string]any) error {
	doing := fmt.Sprintf("send the event %q to %s", cut(event, 100), repo)
	if err := repo.check(); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	path := fmt.Sprintf("repos/%s/%s/dispatches", repo.Owner, repo.Name)
	body := map[string]any{"event_type": event}
	if len(payload) > 0 {
		body["client_payload"] = payload
	}
	return explainOnce(doing, contentsPermission, c.call(once(ctx), http.MethodPost, path, body, nil))
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

func rerun(ctx context.Context, repo Repo, run int64, what string, send func(context.Context, string, string, int64) (*gh.Response, error)) error {
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
