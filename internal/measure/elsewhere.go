package measure

import (
	"cmp"
	"context"
	"path"
	"path/filepath"
	"strings"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/reference/baseline"
	"github.com/accelgate/accelgate/internal/reference/remote"
	"github.com/accelgate/accelgate/internal/worker"
	"github.com/accelgate/accelgate/internal/worktree"
)

// Elsewhere reports whether baselines are read from another repository or branch.
func (o *Options) Elsewhere(file *config.File) bool {
	return o.Baseline == "" && file.Baselines.Elsewhere()
}

// BaselineElsewhere returns where the file of a host is in its repository.
func BaselineElsewhere(file *config.File, label string) string {
	return path.Join(file.Baselines.Folder(), filepath.Base(baseline.Path("", label)))
}

// FetchBaseline reads the file of a host where [Options.Elsewhere] is true. Errors are those of
// [remote.Fetch].
func (e *Env) FetchBaseline(ctx context.Context, o *Options, file *config.File, label string) (remote.File, error) {
	at := BaselineElsewhere(file, label)
	if o.Remote != nil {
		if f, ok, err := o.Remote(ctx, file.Baselines, at); ok || err != nil {
			return f, err
		}
	}
	w := &worker.Isolated{Environ: e.Environ, MaxStdout: baseline.MaxFileSize + 1}
	from := remote.Source{URL: e.repositoryOf(ctx, w, file), Ref: file.Baselines.Ref, Path: at}
	return remote.Fetch(ctx, w, from, e.inCI())
}

// repositoryOf is what git fetches the baselines from.
func (e *Env) repositoryOf(ctx context.Context, w worker.Worker, file *config.File) string {
	b := file.Baselines
	dir, err := filepath.Abs(file.Dir)
	switch {
	case b.Repository == "" && err == nil:
		r := &worktree.Repository{Worker: w, Dir: dir, Now: e.Now}
		if origin, err := r.Git(ctx, dir, "remote", "get-url", "origin"); err == nil && origin != "" {
			if strings.HasPrefix(origin, ".") {
				return filepath.Join(dir, filepath.FromSlash(origin))
			}
			return origin
		}
		return dir
	case b.OnGitHub():
		return strings.TrimSuffix(cmp.Or(e.Getenv("GITHUB_SERVER_URL"), "https://github.com"), "/") + "/" + b.Repository
	case b.IsPath() && !filepath.IsAbs(b.Repository):
		return filepath.Join(dir, filepath.FromSlash(b.Repository))
	}
	return b.Repository
}
