package action

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/github"
	"github.com/accelgate/accelgate/internal/github/actions"
	"github.com/accelgate/accelgate/internal/github/artifact"
)

// forkRun makes the runs of a finished workflow run this step's own. Code of a
// stranger ran in there, so everything that it left is hostile: the pull request
// is the one that GitHub names for head repository, branch and commit, archives
// are bounded and refused as a whole, and what their run documents say is judged
// by this checkout's configuration and baselines. unresolved is what [action.pullOfRun]
// returned.
func (a *action) forkRun(ctx context.Context, unresolved error) (clean func(), err error) {
	dir, err := os.MkdirTemp(a.Getenv("RUNNER_TEMP"), "accelgate-runs-*") // with the permissions 0700
	if err != nil {
		return nil, fmt.Errorf("make a folder for artifacts: %w: set RUNNER_TEMP to one that is writable", err)
	}
	clean = func() { _ = os.RemoveAll(dir) }
	if unresolved != nil {
		return clean, unresolved
	}
	if err := a.refuseOtherBranch(ctx); err != nil {
		return clean, err
	}
	if err := a.download(ctx, dir); err != nil {
		return clean, err
	}
	a.in.runs = dir
	return clean, nil
}

// pullOfRun finds the pull request that a workflow run was started for. There is
// none where the branch has moved on, or was merged: then only the check is
// written, on the commit that was measured.
func (a *action) pullOfRun(ctx context.Context) error {
	run := a.event.Run
	if run == nil {
		return nil
	}
	head, err := github.ParseRepo(run.HeadRepo)
	if err != nil || run.HeadBranch == "" {
		return nil // the fork is gone, and with it what could be merged
	}
	client, repo, err := a.client()
	if err != nil {
		return err
	}
	pulls, err := client.PullsOf(ctx, repo, head, run.HeadBranch, run.HeadSHA)
	if err != nil || len(pulls) == 0 {
		return err
	}
	a.event.PullRequest = pullRequest(pulls[0], repo)
	return nil
}

// pullRequest is a pull request of the API in the words of an event.
func pullRequest(p github.Pull, repo github.Repo) *actions.PullRequest {
	return &actions.PullRequest{Number: p.Number, HeadSHA: p.HeadSHA, BaseSHA: p.BaseSHA, HeadRef: p.HeadRef, BaseRef: p.BaseRef,
		HeadRepo: p.HeadRepo.String(), Fork: p.Fork(repo)}
}

// maxRunBytes bounds the archives of one workflow run, and what they hold.
const maxRunBytes = 1 << 30

// download unpacks the artifacts that hold runs, each into a folder of its own.
func (a *action) download(ctx context.Context, dir string) error {
	client, repo, err := a.client()
	if err != nil {
		return err
	}
	all, err := client.Artifacts(ctx, repo, a.event.Run.ID)
	if err != nil {
		return err
	}
	left := artifact.Limits{Archive: maxRunBytes, Total: maxRunBytes}
	for i, one := range latest(all, a.artifactName("run", "")) {
		if i >= maxRuns || left.Archive <= 0 || left.Total <= 0 {
			return fmt.Errorf("run %d left more than %d artifacts, or a GiB of them: look at what its workflow uploads", a.event.Run.ID,
				maxRuns)
		}
		if err := a.unpack(ctx, client, repo, one, filepath.Join(dir, strconv.Itoa(i)), &left); err != nil {
			return err
		}
	}
	return nil
}

// latest are the artifacts that hold runs, of each name the last one: a job
// that ran again left another.
func latest(all []github.Artifact, prefix string) []github.Artifact {
	byName := map[string]github.Artifact{}
	for _, one := range all {
		if strings.HasPrefix(one.Name, prefix) && !one.Expired && one.ID > byName[one.Name].ID {
			byName[one.Name] = one
		}
	}
	return slices.SortedFunc(maps.Values(byName), func(a, b github.Artifact) int { return cmp.Compare(a.ID, b.ID) })
}

// unpack unpacks one artifact within what is left, and takes it off that.
func (a *action) unpack(ctx context.Context, client *github.Client, repo github.Repo, one github.Artifact, dir string,
	left *artifact.Limits) error {
	file, err := os.CreateTemp(filepath.Dir(dir), "archive-*")
	if err != nil {
		return fmt.Errorf("make a file for an artifact: %w: make room, or set RUNNER_TEMP", err)
	}
	defer os.Remove(file.Name())
	defer file.Close()
	limits := artifact.DefaultLimits()
	limits.Archive, limits.Total = min(limits.Archive, left.Archive), min(limits.Total, left.Total)
	size, err := client.DownloadArtifact(ctx, repo, one.ID, file, limits.Archive)
	if err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("make a folder for an artifact: %w: make room, or set RUNNER_TEMP", err)
	}
	names, err := artifact.Extract(file, size, dir, artifact.Options{Limits: limits})
	if err != nil {
		return fmt.Errorf("artifact %d of run %d is refused: %w: nothing of it was used", one.ID, a.event.Run.ID, err)
	}
	left.Archive -= size
	for _, name := range names {
		info, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return fmt.Errorf("look at what an artifact held: %w: run the job again", err)
		}
		left.Total -= info.Size()
	}
	return nil
}
