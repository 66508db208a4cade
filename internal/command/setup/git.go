package setup

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/github"
	"github.com/accelgate/accelgate/internal/reference/worktree"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/text/lazyregexp"
	"github.com/accelgate/accelgate/internal/worker"
)

// onGitHub returns owner/name of an address that git has for a repository, or "" if it is
// not on github.com.
func onGitHub(address string) string {
	if host, repository := github.Hosted(address); host == "github.com" {
		return repository
	}
	return ""
}

// branchName is what the workflow may hold as a pattern of branches; others would need escapes.
var branchName = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9_./-]*$`)

// git returns the repository on GitHub and the default branch.
func (r *repository) git(ctx context.Context) (remote, branch string, err error) {
	ask := func(args ...string) string {
		if err != nil {
			return ""
		}
		request := worker.Request{Args: append([]string{"git"}, args...), Dir: r.Dir, Unset: worktree.Variables, Timeout: 10 * time.Second}
		response, failed := r.worker.Do(ctx, request)
		if err = failed; err != nil || !response.OK() {
			return ""
		}
		return strings.TrimSpace(string(response.Stdout))
	}
	if prefix := ask("rev-parse", "--show-prefix"); prefix != "" {
		return "", "", exit.Usagef("this folder is not the root of the git repository: cd %s, and run the command again",
			text.ShellWord(strings.Repeat("../", strings.Count(prefix, "/"))))
	}
	remote = onGitHub(ask("remote", "get-url", "origin"))
	branch = strings.TrimPrefix(ask("symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD"), "origin/")
	for _, usual := range []string{"main", "master"} {
		if branch == "" && ask("rev-parse", "--verify", "--quiet", "refs/heads/"+usual) != "" {
			branch = usual
		}
	}
	if branch = cmp.Or(branch, ask("symbolic-ref", "--quiet", "--short", "HEAD")); !branchName.MatchString(branch) {
		branch = "main"
	}
	return remote, branch, err
}
