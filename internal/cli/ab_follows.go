package cli

import (
	"context"
	"path/filepath"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/worktree"
)

// follow marks a run of the default branch's newest commit, whose history came before
// it on the same branch. Only git says so, and it is asked only where there is a
// history to follow.
func (c *Command) follow(ctx context.Context, p *plan, run, ref *bench.Run) {
	if ref == nil || len(ref.Earlier) == 0 || len(p.options.engineArgs()) > 0 || !c.onDefault(ctx, p) {
		return
	}
	if run.Context == nil {
		run.Context = map[string]string{}
	}
	run.Context[bench.DefaultBranch] = "true"
}

// onDefault reports whether HEAD is a commit of the default branch and nothing differs from it.
func (c *Command) onDefault(ctx context.Context, p *plan) bool {
	dir, err := filepath.Abs(p.file.Dir)
	if err != nil {
		return false
	}
	k := &checkout{repository: &repository{Repository: &worktree.Repository{Worker: p.worker, Dir: dir, Now: c.Now}}}
	head, err := k.Git(ctx, dir, "rev-parse", "--verify", "--quiet", "HEAD")
	branch := k.defaultBranch(ctx)
	if err != nil || branch == "" {
		return false
	}
	if base, err := k.Git(ctx, dir, "merge-base", "HEAD", branch); err != nil || base != head {
		return false
	}
	changed, err := k.changed(ctx, p)
	return err == nil && !changed
}
