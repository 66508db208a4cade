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

// GetArtifacts gets what the suites that wanted selects by name and the build use, before
// any of them is opened, and keeps it until the plan is closed.
func (e *Env) GetArtifacts(ctx context.Context, p *Plan, wanted func(suite string) bool) error {
	if p.artifacts == nil || p.Options.NoFetch {
		return nil
	}
	p.get = func(names []string) error {
		if len(names) == 0 {
			return nil
		}
		defer e.Progress.Begin("get the artifacts")()
		return p.artifacts.Get(ctx, names)
	}
	return p.get(p.File.Uses(func(i int) bool { return wanted(p.File.Suites[i].Name) }))
}

// placeBase places the artifacts of the base's own configuration, and gets those that the
// builds of its measured suites may use. They are held once the base is planned.
func (p *Plan) placeBase(ctx context.Context, file *config.File) (*config.File, error) {
	placed, store, err := p.place(file)
	if err != nil || store == nil {
		return placed, err
	}
	defer store.Release()
	measured := func(i int) bool {
		return slices.ContainsFunc(p.Suites, func(one Planned) bool { return one.Name == placed.Suites[i].Name })
	}
	return placed, store.Get(ctx, placed.Uses(measured))
}

// lacking makes an artifact that is absent the cause of an error of a suite, and reports
// whether opening it again may help, because it is there now: a suite that is left out is
// opened too, and only some kinds look into their files for that.
func (p *Plan) lacking(index int, err error) (again bool, because error) {
	if p.artifacts == nil {
		return false, err
	}
	var missing []string
	if p.artifacts.Mentioned(err.Error()) {
		missing = p.artifacts.Missing(context.Background(), p.File.Uses(func(i int) bool { return i == index }))
	}
	switch {
	case len(missing) == 0:
		return false, err
	case p.get == nil:
		return false, fmt.Errorf(
			"%w; the cache lacks %s, which the suite uses: run 'accelgate fetch %s' first",
			err,
			strings.Join(missing, ", "),
			strings.Join(missing, " "),
		)
	}
	if failed := p.get(missing); failed != nil {
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
			o.Config,
		)
	}
	_, store, err := e.place(o, file)
	return store, err
}

// downloads is the cache for suites that download by themselves: the one of artifacts.
func (p *Plan) downloads() suite.Downloads {
	getenv := func(name string) string { return worker.Getenv(p.environ, name) }
	return suite.Downloads{Dir: artifact.Folder(p.File, getenv), Limit: int64(p.File.Host.CacheGiB) << 30, Offline: p.Options.Offline}
}
