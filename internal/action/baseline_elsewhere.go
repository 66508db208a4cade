package action

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/github"
	"github.com/accelgate/accelgate/internal/reference/remote"
	"github.com/accelgate/accelgate/internal/text"
)

// maxBaseline is the most that GitHub's API carries of a file in one answer.
const maxBaseline = 1 << 20

// baselineOf reads a baseline that is kept in another repository of the GitHub server, or on
// another branch, by the API: the image has no git. It reports false where git is to try.
// The token reads what a pull request's own configuration names only in this repository.
func (a *action) baselineOf(ctx context.Context, b config.Baselines, path string) (remote.File, bool, error) {
	own := b.Repository == "" || b.Repository == a.event.Repository()
	ofBase := a.in.runs != "" || a.event.PullRequest == nil
	if a.in.options.Secret == "" || b.Repository != "" && !b.OnGitHub() || !own && !ofBase {
		return remote.File{}, false, nil
	}
	client, repo, err := a.client()
	if err == nil && !own {
		repo, err = github.ParseRepo(b.Repository)
	}
	if err != nil {
		return remote.File{}, false, err
	}
	commit, branch := b.Ref, b.Ref
	if !fullCommit.MatchString(commit) {
		if branch == "" {
			branch, err = client.DefaultBranch(ctx, repo)
		}
		if err == nil {
			commit, err = client.Head(ctx, repo, branch)
		}
		if err == nil && commit == "" {
			err = fmt.Errorf("%s has no branch %s: correct baselines.ref", repo, text.OneLine(cmp.Or(branch, "of its own")))
		}
		if err != nil {
			return remote.File{}, false, err
		}
	}
	data, err := client.FileAt(ctx, repo, commit, path, maxBaseline)
	if err == nil && data == nil {
		err = fmt.Errorf("%s of commit %.12s: %w", text.OneLine(path), commit, fs.ErrNotExist)
	}
	return remote.File{Data: data, Commit: commit}, true, err
}
