package cli

import (
	"context"
	"fmt"
	"path/filepath"
)

// planIn is plan with another folder in place of the configuration's: the same
// suites and cells of other code, such as a checkout of an earlier commit. The
// configuration stays the one of options.config, and what it names by relative
// paths is looked for in dir, where children start as well. Baselines and
// results are looked for there, too, unless the options name them. Close must be
// called.
func (e *Env) planIn(ctx context.Context, o *options, dir string) (*plan, error) {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("find the folder %s: %w", dir, err)
	}
	p, err := e.newPlan(o)
	if err != nil {
		return nil, err
	}
	p.file.Dir = absolute
	if err := e.prepare(ctx, p); err != nil {
		return nil, err
	}
	return p, nil
}
