package measure

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/reference/worktree"
	"github.com/accelgate/accelgate/internal/text"
)

// fromHead reads the files of the head that measure the base, too; nil if there are none.
func fromHead(ctx context.Context, s *Session, r *worktree.Repository) (*worktree.Overlay, error) {
	if s.Plan.File.AB == nil {
		return nil, nil
	}
	o, err := r.Overlay(ctx, r.Dir, s.Plan.File.AB.FromHead)
	return o, s.Plan.wrongFromHead(err)
}

// lay puts the head's files into the base. With clean it overwrites nothing that git does not have.
func lay(ctx context.Context, s *Session, r *worktree.Repository, heads *worktree.Overlay, dir string, clean bool) (*worktree.Laid, error) {
	if heads == nil {
		return nil, nil
	}
	l, err := r.Lay(ctx, heads, dir, clean)
	if none, ok := errors.AsType[*worktree.NoMatchError](err); ok {
		err = fmt.Errorf("%w, in the head or in the base: correct the path, or remove it", none)
	}
	return l, s.Plan.wrongFromHead(err)
}

func (c *Config) wrongFromHead(err error) error {
	if err == nil {
		return nil
	}
	return exit.Usagef("%s: ab.from_head: %w", c.File.AB.Position, err)
}

// openFolder opens the base in the checkout that --ab names. It has the head's files until
// the base is discarded.
func (s *Session) openFolder(ctx context.Context) (b *base, err error) {
	dir, err := filepath.Abs(s.Plan.File.Dir)
	if err != nil {
		return nil, err
	}
	if err := s.settleFolder(ctx); err != nil {
		return nil, err
	}
	r := &worktree.Repository{Worker: s.worker, Dir: dir, Now: s.Now}
	folder := s.Plan.Options.AB
	if !filepath.IsAbs(s.Plan.Options.Config) {
		folder = filepath.Dir(filepath.Join(s.Plan.Options.AB, s.Plan.Options.Config))
	}
	if s.Plan.File.AB == nil || sameFolder(dir, folder) {
		return s.openIn(ctx, nil, false, nil)
	}
	heads, err := fromHead(ctx, s, r)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(folder); err != nil {
		return nil, exit.Usagef("--ab: %s: %w", s.Plan.Options.AB, err)
	}
	laid, err := lay(ctx, s, r, heads, folder, true)
	if err != nil {
		return nil, err
	}
	if b, err = s.openIn(ctx, nil, false, laid); err != nil {
		return nil, errors.Join(err, laid.Undo())
	}
	return b, nil
}

// maxFromHead is how many files a run names.
const maxFromHead = 50

// listed names files in one line.
func listed(names []string) string {
	shown := make([]string, 0, min(len(names), maxFromHead))
	for _, name := range names[:min(len(names), maxFromHead)] {
		shown = append(shown, text.OneLine(name))
	}
	if more := len(names) - len(shown); more > 0 {
		shown = append(shown, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(shown, ", ")
}
