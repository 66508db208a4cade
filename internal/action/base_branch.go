package action

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/github"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/text"
)

// printBase sets the output base, the commit that the posting job checks out, and prints it.
func (a *action) printBase(ctx context.Context) error {
	if err := a.resolvePull(ctx); err != nil {
		return err
	}
	if err := a.pullOfRun(ctx); err != nil {
		return err
	}
	commit, err := a.judging(ctx)
	if err != nil {
		return err
	}
	a.output("base", commit)
	_, err = fmt.Fprintf(a.Stdout, "%s judges\n", commit)
	return err
}

// judging returns the commit whose configuration, baselines and waivers apply: for a
// pull request, a commit of its base branch, whichever event started the run.
func (a *action) judging(ctx context.Context) (string, error) {
	switch pr := a.event.PullRequest; {
	case a.event.Group != nil:
		return a.event.Group.BaseSHA, nil
	case pr == nil:
		return a.event.SHA, nil
	case strings.HasPrefix(a.event.Name, "pull_request"):
		return pr.BaseSHA, nil
	}
	client, repo, err := a.client()
	if err != nil {
		return "", err
	}
	branch := a.event.PullRequest.BaseRef
	commit, err := client.Head(ctx, repo, branch)
	if err == nil && commit == "" {
		err = exit.Usagef("the pull request goes into %s, which is not there: change its base", text.OneLine(branch))
	}
	return commit, err
}

// refuseOtherBranch refuses to judge a pull request by what another branch than the one it
// goes into has: a laxer one would let it pass. One job that measures and posts has checked out the pull request.
func (a *action) refuseOtherBranch(ctx context.Context) error {
	if a.in.runs == "" && a.event.Run == nil || a.in.update || a.event.PullRequest == nil && a.event.Group == nil {
		return nil
	}
	here := a.checkedOut()
	ok, err := a.ofBase(ctx, here)
	if ok || err != nil {
		return err
	}
	return exit.Usagef("the pull request goes into %s, and the checkout here is of %s, whose limits and baselines are others: "+
		"check out the output base of the action's mode base",
		text.OneLine(a.baseBranch()), cmp.Or(here, "a commit that git does not name"))
}

// ofBase reports whether a commit is one of the branch that the pull request goes into.
// If git does not name the commit, the event does.
func (a *action) ofBase(ctx context.Context, commit string) (bool, error) {
	pr, byDefault := a.event.PullRequest, ""
	switch {
	case a.event.Group != nil:
		return commit == "" || commit == a.event.Group.BaseSHA, nil
	case a.event.Run != nil:
		byDefault = "refs/heads/" + a.event.DefaultBranch
	case a.event.Name == "workflow_dispatch":
		byDefault = a.event.Ref
	case commit == "":
		return true, nil // the workflow names what is checked out on a pull request
	}
	switch {
	case commit == "" || commit == a.event.SHA && byDefault != "":
		return byDefault == "refs/heads/"+pr.BaseRef, nil
	case commit == pr.BaseSHA:
		return true, nil
	}
	return a.earlier(ctx, commit, pr.BaseRef)
}

// earlier reports whether a commit is or was the head of a branch, which may have moved
// while the hosts measured. An older commit that is also in the default branch does not count:
// it may come from there.
func (a *action) earlier(ctx context.Context, commit, branch string) (bool, error) {
	client, repo, err := a.client()
	if err != nil {
		return false, err
	}
	if newest, err := client.Head(ctx, repo, branch); err != nil || newest == commit {
		return err == nil, err
	}
	if ok, err := a.ancestor(ctx, commit, branch); err != nil || !ok || branch == a.event.DefaultBranch {
		return ok, err
	}
	shared, err := a.ancestor(ctx, commit, a.event.DefaultBranch)
	return !shared, err
}

// ancestor reports whether a commit is in the history of a branch or commit on GitHub.
func (a *action) ancestor(ctx context.Context, commit, of string) (bool, error) {
	client, repo, err := a.client()
	if err != nil {
		return false, err
	}
	found, err := client.Compare(ctx, repo, of, commit)
	return err == nil && found.MergeBase == commit, err
}

// baseBranch is the branch that a pull request, or a group of the merge queue, goes into.
func (a *action) baseBranch() string {
	switch {
	case a.event.Group != nil:
		return a.event.Group.BaseRef
	case a.event.PullRequest != nil:
		return a.event.PullRequest.BaseRef
	}
	return ""
}

// fileOfBase reads the configuration of the branch that a pull request goes into. The
// workflow for comments has checked out the default branch.
func (a *action) fileOfBase(ctx context.Context, pull github.Pull) (*config.File, error) {
	file, _, err := a.Env.Load(&a.in.options)
	if err != nil || pull.BaseRef == a.event.DefaultBranch {
		return file, err
	}
	name, err := a.repositoryPath(a.in.options.Config)
	if err != nil {
		return nil, err
	}
	client, repo, err := a.client()
	if err != nil {
		return nil, err
	}
	commit, err := client.Head(ctx, repo, pull.BaseRef)
	if err != nil {
		return nil, err
	}
	data, err := client.FileAt(ctx, repo, commit, name, measure.MaxConfig)
	if err == nil && data == nil {
		err = fmt.Errorf("%s has no %s: add it there", text.OneLine(pull.BaseRef), text.OneLine(name))
	}
	if err != nil {
		return nil, err
	}
	return config.Parse(a.in.options.Config, data)
}

// checkedOut is the commit that the workspace is a checkout of; "" where git's own files
// do not show it. The image has no git.
func (a *action) checkedOut() string {
	root, err := os.OpenRoot(cmp.Or(a.Getenv("GITHUB_WORKSPACE"), "."))
	if err != nil {
		return ""
	}
	defer root.Close()
	const maximum = 1 << 10
	read := func(name string) string {
		if info, err := root.Stat(name); err != nil || !info.Mode().IsRegular() || info.Size() > maximum {
			return ""
		}
		data, _ := root.ReadFile(name)
		return strings.TrimSpace(string(data))
	}
	head := read(".git/HEAD")
	if ref, ok := strings.CutPrefix(head, "ref: "); ok {
		head = read(".git/" + ref)
	}
	if !fullCommit.MatchString(head) {
		return ""
	}
	return head
}
