package setup

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/lazyregexp"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/worker"
	"github.com/accelgate/accelgate/internal/worktree"
)

// onGitHub finds owner and name in the addresses that git has for a repository.
var onGitHub = lazyregexp.New(`^(?:https://|ssh://git@|git@|git://)(?:[^/@]*@)?github\.com[:/]([A-Za-z0-9-]+/[A-Za-z0-9._-]+?)(?:\.git)?/?$`)

// OnGitHub returns owner/name of an address that git has for a repository, or "" if it is
// not on github.com.
func OnGitHub(address string) string {
	if m := onGitHub.FindStringSubmatch(strings.TrimSpace(address)); m != nil {
		return m[1]
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
		return "", "", exit.Usagef("this folder is no root of the git repository: cd %s, and run the command again", text.ShellWord(strings.Repeat("../", strings.Count(prefix, "/"))))
	}
	remote = OnGitHub(ask("remote", "get-url", "origin"))
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
