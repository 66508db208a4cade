// Package artifact finds the artifacts of a configuration in the cache, gets those that
// are missing and checks them. Where an artifact lies follows from the configuration and
// the cache alone, so that plans and verdicts need no network.
package artifact

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/artifact/download"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/exit"
)

// Store has the artifacts of one configuration in one cache. Its methods may be used
// concurrently after Progress is set.
type Store struct {
	Progress func(download.Progress) // as that of a client; may be nil
	client   *download.Client
	declared map[string]config.Artifact
	holds    *download.Holds
}

// Folder is the cache that a configuration names; "" leaves it to the environment.
func Folder(file *config.File, getenv func(string) string) string {
	if file.Host.Cache == "" || getenv(download.CacheVariable) != "" {
		return ""
	}
	return file.Resolve(file.Host.Cache)
}

// Open returns the store of a configuration. Nothing is read or sent. Offline adds to what
// the environment says.
func Open(file *config.File, getenv func(string) string, offline bool) (*Store, error) {
	client, err := download.New(getenv, Folder(file, getenv))
	if err != nil {
		return nil, exit.AsUsage(err)
	}
	if client.Dir, err = filepath.Abs(client.Dir); err != nil {
		return nil, fmt.Errorf("find the cache of artifacts: %w", err)
	}
	if strings.ContainsAny(client.Dir, "{}") {
		return nil, exit.Usagef("the cache of artifacts is %q, and braces are placeholders in commands: name another folder with %s",
			client.Dir, download.CacheVariable)
	}
	if client.Limit == 0 {
		client.Limit = int64(file.Host.CacheGiB) << 30
	}
	client.Offline = client.Offline || offline
	s := &Store{client: client, declared: file.Artifacts, holds: &download.Holds{}}
	client.Holds = s.holds
	return s, s.check()
}

// check refuses what the configuration's own types cannot.
func (s *Store) check() error {
	for _, name := range s.names() {
		a := s.declared[name]
		if a.URL != "" {
			if err := urlOf(a).Check(); err != nil {
				return &config.Error{Position: a.Position, Message: fmt.Sprintf("artifacts.%s: %v", name, err)}
			}
			continue
		}
		if err := download.CheckID(a.Hub); err != nil {
			return &config.Error{Position: a.Position, Message: fmt.Sprintf("artifacts.%s.hub: %q is %v", name, a.Hub, err)}
		}
		if a.File != "" && !filepath.IsLocal(filepath.FromSlash(a.File)) {
			return &config.Error{
				Position: a.Position,
				Message:  fmt.Sprintf("artifacts.%s.file: %q is not a file of the hub: write its name as the hub shows it", name, a.File),
			}
		}
	}
	return nil
}

// names are those of all artifacts, sorted.
func (s *Store) names() []string { return slices.Sorted(maps.Keys(s.declared)) }

// Place returns the configuration with the paths of its artifacts.
func (s *Store) Place(file *config.File) (*config.File, error) {
	paths := map[string]string{}
	for name := range s.declared {
		paths[name] = s.path(name)
	}
	return file.Place(paths)
}

// path is where an artifact is once the cache has it.
func (s *Store) path(name string) string {
	a := s.declared[name]
	if a.URL != "" {
		return urlOf(a).Path(s.client.Dir)
	}
	return filepath.Join(s.client.Snapshot(a.Hub, a.Revision), filepath.FromSlash(a.File))
}

func urlOf(a config.Artifact) download.URL {
	return download.URL{Address: a.URL, SHA256: a.SHA256, Size: int64(a.Size), Name: a.File}
}

// Mentioned reports whether a message names a file of the cache, or the beginning of its
// path: messages cut long names.
func (s *Store) Mentioned(message string) bool {
	const enough = 40
	dir := s.client.Dir[:min(len(s.client.Dir), enough)]
	return strings.Contains(message, dir) || strings.Contains(message, strings.Trim(strconv.Quote(dir), `"`))
}

// Get gets artifacts that the cache lacks, and keeps all of them from eviction until
// Release.
func (s *Store) Get(ctx context.Context, names []string) error {
	client := *s.client
	client.Progress = s.Progress
	return s.each(ctx, &client, names)
}

// Missing returns those of the names that the cache lacks. Nothing is sent.
func (s *Store) Missing(ctx context.Context, names []string) (missing []string) {
	for _, name := range names {
		if s.Check(ctx, name, false) != nil {
			missing = append(missing, name)
		}
	}
	return missing
}

// Check reports why the cache does not have an artifact. With reread the bytes of its
// files are compared with their digests again, and those that differ are removed. Nothing
// is sent.
func (s *Store) Check(ctx context.Context, name string, reread bool) error {
	client := *s.client
	client.Offline, client.Reread, client.Holds = true, reread, nil
	return s.each(ctx, &client, []string{name})
}

func (s *Store) each(ctx context.Context, client *download.Client, names []string) error {
	for _, name := range names {
		a := s.declared[name]
		var err error
		if a.URL != "" {
			_, err = client.Get(ctx, urlOf(a))
		} else {
			_, err = client.Fetch(ctx, a.Hub, a.Revision, a.Wants)
		}
		if errors.Is(err, download.ErrOffline) {
			err = fmt.Errorf("the cache %s lacks %s, and nothing may be downloaded: run 'accelgate fetch %s' with a network first",
				client.Dir, name, name)
		}
		if err != nil {
			return fmt.Errorf("artifact %s (%s): %w", name, a.Position, err)
		}
	}
	return nil
}

// Release ends the holds of Get. It may be called more than once.
func (s *Store) Release() {
	if s != nil {
		s.holds.Release()
	}
}
