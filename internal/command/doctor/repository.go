package doctor

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/accelgate/accelgate/internal/github"
	"github.com/accelgate/accelgate/internal/reference/worktree"
)

// atRoot goes to the root of the repository, where workflows are. Without git it stays.
func (l *look) atRoot(ctx context.Context) {
	r := worktree.Repository{Worker: l.Worker, Dir: l.Dir, Now: l.Now}
	if up, err := r.Git(ctx, l.Dir, "rev-parse", "--show-cdup"); err == nil {
		l.Dir = filepath.Join(l.Dir, up)
	}
}

// git looks at the repository. Pairs need the commit that a pull request starts from.
func (l *look) git(ctx context.Context) {
	r := worktree.Repository{Worker: l.Worker, Dir: l.Dir, Now: l.Now}
	ask := func(args ...string) (string, error) { return r.Git(ctx, l.Dir, args...) }
	version, err := ask("version")
	if err != nil {
		l.add("git", Error, "git does not run: "+err.Error(), "install git")
		return
	}
	if _, err = ask("rev-parse", "--verify", "--quiet", "HEAD"); err != nil {
		l.add("git", Error, "this folder is in no git repository with a commit", "git init && git add --all && git commit --message first")
		return
	}
	if shallow, err := ask("rev-parse", "--is-shallow-repository"); err == nil && shallow == "true" && !l.Job {
		l.add("git", Warning, "this clone has a part of the history only, so that run may not find the commit to pair with",
			"git fetch --unshallow")
	} else {
		l.ok("git", "version %s", strings.TrimPrefix(version, "git version "))
	}
	l.remote = l.repository(ask)
}

// repository is that of the command line, or of the remote origin; the zero value if
// there is none on the server. The token goes to no host that only the remote names.
func (l *look) repository(ask func(args ...string) (string, error)) github.Repo {
	name := l.Repo
	if name == "" {
		address, err := ask("remote", "get-url", "origin")
		if err != nil {
			return github.Repo{}
		}
		if l.elsewhere, name = github.Hosted(address); l.elsewhere == l.server() {
			l.elsewhere = ""
		} else {
			name = ""
		}
	}
	repo, err := github.ParseRepo(name)
	if err != nil {
		return github.Repo{}
	}
	return repo
}
