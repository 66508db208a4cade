package measure

import (
	"cmp"
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/matrix"
	"github.com/accelgate/accelgate/internal/reference/baseline"
	"github.com/accelgate/accelgate/internal/reference/remote"
	"github.com/accelgate/accelgate/internal/reference/worktree"
	"github.com/accelgate/accelgate/internal/worker"
)

// RemoteBaseline reports whether baselines are read from another repository or branch.
func (o *Options) RemoteBaseline(file *config.File) bool {
	return o.Baseline == "" && file.Baselines.Elsewhere()
}

// BaselineLabel returns the label of the baseline that a host is compared with: its own, or the
// name that hosts with its device share.
func (o *Options) BaselineLabel(file *config.File, host bench.Host) string {
	if o.Baseline != "" {
		return host.Label
	}
	for _, one := range slices.Backward(file.Baselines.Devices) {
		if (one.Hosts == "" || matrix.Glob(one.Hosts, host.Label)) && hasDevice(host.Fingerprint, one.Model) {
			return one.Name
		}
	}
	return host.Label
}

// hasDevice reports whether all that does the work is of a model.
func hasDevice(f bench.Fingerprint, model string) bool {
	if len(f.Accelerators) == 0 {
		return f.CPU != "" && matrix.Glob(model, f.CPU)
	}
	return !slices.ContainsFunc(f.Accelerators, func(a bench.Accelerator) bool { return !matrix.Glob(model, a.Model) })
}

// RemoteBaselinePath returns where the file with a label is in its repository.
func RemoteBaselinePath(file *config.File, label string) string {
	return path.Join(cmp.Or(file.Baselines.Path, path.Join(defaultBaselines, file.Name)), filepath.Base(baseline.Path("", label)))
}

// FetchBaseline reads the file with a label where [Options.Elsewhere] is true. Errors are those of
// [remote.Fetch].
func (e *Env) FetchBaseline(ctx context.Context, o *Options, file *config.File, label string) (remote.File, error) {
	at := RemoteBaselinePath(file, label)
	if o.Remote != nil {
		if f, ok, err := o.Remote(ctx, file.Baselines, at); ok || err != nil {
			return f, err
		}
	}
	w, from := e.baselinesSource(ctx, file, at)
	return remote.Fetch(ctx, w, from, e.inCI())
}

// FetchBaselines reads all of them, by the name of the file. Errors are those of [remote.Folder].
func (e *Env) FetchBaselines(ctx context.Context, file *config.File) (map[string]remote.Read, error) {
	w, from := e.baselinesSource(ctx, file, path.Dir(RemoteBaselinePath(file, "x")))
	return remote.Folder(ctx, w, from, filepath.Base(baseline.Path("", "*")), e.inCI())
}

func (e *Env) baselinesSource(ctx context.Context, file *config.File, at string) (worker.Worker, remote.Source) {
	w := &worker.Isolated{Environ: e.Environ, MaxStdout: baseline.MaxFileSize + 1}
	return w, remote.Source{URL: e.repositoryOf(ctx, w, file), Ref: file.Baselines.Ref, Path: at}
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
