package measure

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/reference"
	"github.com/accelgate/accelgate/internal/reference/baseline"
	"github.com/accelgate/accelgate/internal/reference/remote"
	"github.com/accelgate/accelgate/internal/reference/worktree"
	"github.com/accelgate/accelgate/internal/worker"
)

// Reference returns what runs are compared with.
func (o *HostOptions) Reference(file *config.File) reference.Baselines {
	return reference.Baselines{File: file, Named: o.Baseline}
}

// FetchBaseline reads the file with a label where [reference.Baselines.Remote] is true. Errors are those of
// [remote.Fetch].
func (e *Env) FetchBaseline(ctx context.Context, o *Options, file *config.File, label string) (remote.File, error) {
	at := o.Reference(file).Path(label)
	if file.Baselines.Stored() {
		return e.Store(file).Read(ctx, at)
	}
	if o.Remote != nil {
		if f, ok, err := o.Remote(ctx, file.Baselines, at); ok || err != nil {
			return f, err
		}
	}
	w, from := e.baselinesSource(ctx, file, at)
	return remote.Fetch(ctx, w, from, e.inCI())
}

// Store is where the commands of the configuration keep baselines.
func (e *Env) Store(file *config.File) remote.Store {
	return remote.Store{Worker: &worker.Isolated{Environ: e.Environ}, Dir: file.Dir,
		Fetch: file.Baselines.Fetch, Publish: file.Baselines.Publish, MaxSize: baseline.MaxFileSize}
}

// fetchStored reads the files of all hosts that the configuration names. A store has no list of its files.
func (e *Env) fetchStored(ctx context.Context, o *Options, file *config.File) (map[string]remote.Read, error) {
	labels := []string{cmp.Or(o.HostLabel, file.Host.Label)}
	for _, r := range file.Runners {
		labels = append(labels, r.Host)
	}
	for _, d := range file.Baselines.Devices {
		labels = append(labels, d.Name)
	}
	files := map[string]remote.Read{}
	for _, label := range labels {
		if label == "" {
			continue
		}
		name := o.Reference(file).Path(label)
		f, err := e.Store(file).Read(ctx, name)
		if !errors.Is(err, fs.ErrNotExist) {
			files[name] = remote.Read{Data: f.Data, Err: err}
		}
	}
	return files, nil
}

// FetchBaselines reads all of them, by the name of the file. Errors are those of [remote.Folder].
func (e *Env) FetchBaselines(ctx context.Context, o *Options, file *config.File) (map[string]remote.Read, error) {
	if file.Baselines.Stored() {
		return e.fetchStored(ctx, o, file)
	}
	w, from := e.baselinesSource(ctx, file, reference.Baselines{File: file}.RemoteFolder())
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
