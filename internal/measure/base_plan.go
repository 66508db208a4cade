package measure

import (
	"context"
	"fmt"
	"path/filepath"
)

// PlanIn is plan with another folder in place of the configuration's: the same
// suites and cells of other code, such as a checkout of an earlier commit. The
// configuration stays the one of options.config, and what it names by relative
// paths is looked for in dir, where children start as well. Baselines and
// results are looked for there, too, unless the options name them. Close must be
// called.
func (e *Env) PlanIn(ctx context.Context, o *Options, dir string) (*Plan, error) {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("find the folder %s: %w", dir, err)
	}
	p, err := e.NewPlan(o)
	if err != nil {
		return nil, err
	}
	p.File.Dir = absolute
	if err := e.prepare(ctx, p); err != nil {
		return nil, err
	}
	return p, nil
}
