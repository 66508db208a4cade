package doctor

import (
	"context"
	"strings"

	"github.com/accelgate/accelgate/internal/github"
	"github.com/accelgate/accelgate/internal/reference/worktree"
	"github.com/accelgate/accelgate/internal/text"
)

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
		l.add(
			"git",
			Warning,
			"this clone has a part of the history only, so that run may not find the commit to pair with",
			"git fetch --unshallow",
		)
	} else {
		l.ok("git", "%s", text.Quote(strings.TrimPrefix(version, "git version "), 60))
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

// configuration reads accelgate.yaml as run does.
func (l *look) configuration(ctx context.Context) {
	has, absent, err := l.Check(ctx)
	if err != nil {
		first, _, more := strings.Cut(err.Error(), "\n")
		if more {
			first += " (and more)"
		}
		l.add("configuration", Error, first, "correct it until this passes: accelgate config check")
		return
	}
	l.ok("configuration", "%s", has)
	for _, program := range absent {
		l.add("programs", Error, "no folder of PATH has "+program,
			"install it, or type PATH=FOLDER:$PATH accelgate doctor with its folder; that of a runner stands in its file .path")
	}
}
