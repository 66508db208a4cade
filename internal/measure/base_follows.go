package measure

import (
	"context"
	"path/filepath"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/reference/worktree"
)

// follow marks a run of the default branch's newest commit, whose history came before
// it on the same branch. Only git says so, and it is asked only where there is a
// history to follow.
func (s *Session) follow(ctx context.Context, run, ref *bench.Run) {
	if ref == nil || len(ref.Earlier) == 0 || len(s.Plan.Options.EngineArgs()) > 0 || !s.onDefault(ctx) {
		return
	}
	if run.Context == nil {
		run.Context = map[string]string{}
	}
	run.Context[bench.DefaultBranch] = "true"
}

// onDefault reports whether HEAD is a commit of the default branch and nothing differs from it.
func (s *Session) onDefault(ctx context.Context) bool {
	dir, err := filepath.Abs(s.Plan.File.Dir)
	if err != nil {
		return false
	}
	k := &checkout{Repository: &worktree.Repository{Worker: s.worker, Dir: dir, Now: s.Now}}
	head, err := k.Git(ctx, dir, "rev-parse", "--verify", "--quiet", "HEAD")
	branch := k.defaultBranch(ctx)
	if err != nil || branch == "" {
		return false
	}
	if base, err := k.Git(ctx, dir, "merge-base", "HEAD", branch); err != nil || base != head {
		return false
	}
	k.commit = head
	changed, untracked, err := k.changed(ctx, s)
	return err == nil && !changed && len(untracked) == 0
}
