package measure

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/artifact"
	"github.com/accelgate/accelgate/internal/artifact/download"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/worker"
)

// place writes the paths of artifacts in place of their placeholders. The store is nil
// where a configuration has no artifacts.
func (e *Env) place(o *Options, file *config.File) (*config.File, *artifact.Store, error) {
	if len(file.Artifacts) == 0 {
		return file, nil, nil
	}
	store, err := artifact.Open(file, e.Getenv, o.Offline)
	if err != nil {
		return nil, nil, err
	}
	store.Progress = download.Follow(e.Stderr)
	placed, err := store.Place(file)
	if err != nil {
		return nil, nil, exit.AsUsage(err)
	}
	return placed, store, nil
}

// getArtifacts gets what the suites that wanted selects by name and the build use, before
// any of them is opened, and keeps it until the session is closed.
func (w *workplace) getArtifacts(ctx context.Context, wanted func(suite string) bool) error {
	if w.config.store == nil || w.config.Options.NoFetch {
		return nil
	}
	return w.get(ctx, w.config.File.Uses(func(i int) bool { return wanted(w.config.File.Suites[i].Name) }))
}

// get gets artifacts by name.
func (w *workplace) get(ctx context.Context, names []string) error {
	if len(names) == 0 {
		return nil
	}
	defer w.Progress.Begin("get the artifacts")()
	return w.config.store.Get(ctx, names)
}

// placeBase places the artifacts of the base's own configuration, and gets those that the
// builds of its measured suites may use. They are held once the base is planned.
func (s *Session) placeBase(ctx context.Context, file *config.File) (*config.File, error) {
	placed, store, err := s.place(s.Plan.Options, file)
	if err != nil || store == nil {
		return placed, err
	}
	defer store.Release()
	measured := func(i int) bool {
		return slices.ContainsFunc(s.Plan.Suites, func(one Planned) bool { return one.Name == placed.Suites[i].Name })
	}
	return placed, store.Get(ctx, placed.Uses(measured))
}

// lacking makes an artifact that is absent the cause of an error of a suite, and reports
// whether opening it again may help, because it is there now: a suite that is left out is
// opened too, and only some kinds look into their files for that.
func (w *workplace) lacking(ctx context.Context, index int, err error) (again bool, because error) {
	if w.config.store == nil {
		return false, err
	}
	var missing []string
	if w.config.store.Mentioned(err.Error()) {
		missing = w.config.store.Missing(ctx, w.config.File.Uses(func(i int) bool { return i == index }))
	}
	switch {
	case len(missing) == 0:
		return false, err
	case !w.config.here || w.config.Options.NoFetch:
		return false, fmt.Errorf("%w; the cache lacks %s, which the suite uses: run 'accelgate fetch %s' first", err,
			strings.Join(missing, ", "), strings.Join(missing, " "))
	}
	if failed := w.get(ctx, missing); failed != nil {
		return false, failed
	}
	return true, err
}

// Artifacts returns the store of a configuration's artifacts.
func (e *Env) Artifacts(o *Options) (*artifact.Store, error) {
	file, _, err := o.Read()
	if err != nil {
		return nil, exit.AsUsage(err)
	}
	if len(file.Artifacts) == 0 {
		return nil, exit.Usagef(
			"%s has no artifacts: add them under artifacts, as in 'artifacts: {model: {url: https://example.com/model.gguf, sha256: ...}}'",
			o.Config)
	}
	_, store, err := e.place(o, file)
	return store, err
}

// downloads is the cache for suites that download by themselves: the one of artifacts.
func (c *Config) downloads() suite.Downloads {
	getenv := func(name string) string { return worker.Getenv(c.environ, name) }
	return suite.Downloads{Dir: artifact.Folder(c.File, getenv), Limit: int64(c.File.Host.CacheGiB) << 30, Offline: c.Options.Offline}
}
