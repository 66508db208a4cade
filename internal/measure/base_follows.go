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
func (e *Env) follow(ctx context.Context, p *Plan, run, ref *bench.Run) {
	if ref == nil || len(ref.Earlier) == 0 || len(p.Options.EngineArgs()) > 0 || !e.onDefault(ctx, p) {
		return
	}
	if run.Context == nil {
		run.Context = map[string]string{}
	}
	run.Context[bench.DefaultBranch] = "true"
}

// onDefault reports whether HEAD is a commit of the default branch and nothing differs from it.
func (e *Env) onDefault(ctx context.Context, p *Plan) bool {
	dir, err := filepath.Abs(p.File.Dir)
	if err != nil {
		return false
	}
	k := &checkout{Repository: &worktree.Repository{Worker: p.worker, Dir: dir, Now: e.Now}}
	head, err := k.Git(ctx, dir, "rev-parse", "--verify", "--quiet", "HEAD")
	branch := k.defaultBranch(ctx)
	if err != nil || branch == "" {
		return false
	}
	if base, err := k.Git(ctx, dir, "merge-base", "HEAD", branch); err != nil || base != head {
		return false
	}
	k.commit = head
	changed, untracked, err := k.changed(ctx, p)
	return err == nil && !changed && len(untracked) == 0
}
