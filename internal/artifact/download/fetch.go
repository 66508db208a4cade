package download

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/text"
)

// fetch is one call of Fetch.
type fetch struct {
	*Client
	remote
	revision string
	want     func(string) bool
	cache    cache
	progress Progress
	source   URL    // where the remote is one
	held     string // snapshot
}

func (c *Client) prepare(id, revision string, want func(string) bool) (*fetch, error) {
	if err := CheckID(id); err != nil {
		return nil, err
	}
	if err := checkRevision(revision); err != nil {
		return nil, err
	}
	if c.Dir == "" {
		return nil, errors.New("no cache: name a folder for it")
	}
	remote, err := c.remote(id)
	if want == nil {
		want = func(string) bool { return true }
	}
	return &fetch{Client: c, remote: remote, revision: revision, want: want, cache: newCache(c.Dir, id)}, err
}

func (f *fetch) run(ctx context.Context) (string, error) {
	if err := f.cache.open(!f.Offline); f.Offline && errors.Is(err, fs.ErrNotExist) {
		return "", f.lacking()
	} else if err != nil {
		return "", err
	}
	defer f.cache.close()
	commit := f.revision
	if f.Offline && !pinned(commit) {
		commit = f.cache.ref(f.revision)
	}
	if pinned(commit) {
		if err := f.hold(ctx, commit); err != nil {
			return "", err
		}
		if folder, err := f.cached(ctx, commit); err != nil || folder != "" {
			return folder, err
		}
	}
	if f.Offline {
		return "", f.lacking()
	}
	info, err := f.info(ctx, f.revision)
	if err != nil {
		if known := f.cache.ref(f.revision); known != "" && ctx.Err() == nil {
			err = fmt.Errorf("%w; the cache has %.80q as commit %s: name that, or work offline", err, f.revision, known)
		}
		return "", err
	}
	return f.get(ctx, info)
}

// ErrOffline means that the cache lacks a file, and that nothing may be sent.
var ErrOffline = errors.New("offline: go online once")

func (f *fetch) lacking() error {
	if f.address != nil {
		return fmt.Errorf("the cache %s lacks it, and this is %w", f.Dir, ErrOffline)
	}
	return fmt.Errorf("the cache %s lacks revision %.80q or some of its files, and this is %w, or name a folder that has the model", f.Dir,
		f.revision, ErrOffline)
}

// cached returns the folder of a commit, or "" if it is not known to have all
// files that are wanted.
func (f *fetch) cached(ctx context.Context, commit string) (string, error) {
	r, err := f.cache.record(commit)
	if err != nil || f.address != nil && !slices.ContainsFunc(r.Files, func(file File) bool { return f.want(file.Name) }) {
		return "", nil // without a record the hub is asked
	}
	files, err := f.choose(r.Info)
	if err != nil {
		return "", err
	}
	for _, file := range files {
		if !r.verified[file] || !f.cache.has(commit, file) {
			return "", nil
		}
		if f.Reread {
			if err := f.cache.reread(ctx, commit, file); err != nil {
				return "", fmt.Errorf("%.80q: %w", file.Name, err)
			}
		}
	}
	return f.cache.folder(commit), nil
}

// choose returns the wanted files, checked.
func (f *fetch) choose(info Info) ([]File, error) {
	var files []File
	var sum int64
	limit := cmp.Or(f.MaxBytes, f.Limit, defaultLimit)
	seen := map[string]string{}
	for _, file := range info.Files {
		if !f.want(file.Name) {
			continue
		}
		if err := file.check(); err != nil {
			return nil, err
		}
		if other, ok := seen[strings.ToLower(file.Name)]; ok {
			return nil, fmt.Errorf("%.80q and %.80q are one file on some systems: choose one of them", other, file.Name)
		}
		seen[strings.ToLower(file.Name)] = file.Name
		if file.Size > limit-sum { // never overflows, as the sum does not pass the limit
			return nil, fmt.Errorf("the files have more than %d bytes: choose fewer, or raise host.cache_gib or ACCELGATE_CACHE_GIB", limit)
		}
		sum += file.Size
		files = append(files, file)
	}
	switch {
	case len(files) == 0:
		return nil, fmt.Errorf("none of its %s is wanted: name a model that has them", text.Plural(len(info.Files), "file"))
	case len(files) > MaxFiles:
		return nil, fmt.Errorf("%d files are wanted, of which at most %d are taken at once: choose fewer", len(files), MaxFiles)
	}
	f.progress.TotalBytes = sum
	return files, nil
}

func (f *fetch) get(ctx context.Context, info Info) (string, error) {
	if pinned(f.revision) && info.Commit != f.revision {
		return "", fmt.Errorf("asked for commit %s the hub answers %s: name the right endpoint", f.revision, info.Commit)
	}
	files, err := f.choose(info)
	if err != nil {
		return "", err
	}
	if err := f.hold(ctx, info.Commit); err != nil {
		return "", err
	}
	known, _ := f.cache.record(info.Commit) // without one, no file is
	if err := f.makeRoom(ctx, info, files, known); err != nil {
		return "", err
	}
	var checked []File
	for _, file := range files {
		if known.verified[file] && f.cache.has(info.Commit, file) {
			f.report(file, f.progress.Done, file.Size)
			continue
		}
		if err := f.file(ctx, info.Commit, file); err != nil {
			return "", fmt.Errorf("%.80q: %w", file.Name, err)
		}
		checked = append(checked, file)
	}
	if len(checked) > 0 {
		err = f.cache.remember(ctx, info, checked)
	}
	if err == nil && !pinned(f.revision) {
		err = f.cache.setRef(ctx, f.revision, info.Commit)
	}
	return f.cache.folder(info.Commit), err
}

// makeRoom makes room for the files that are missing, and notes that the snapshot is
// ours before anything of it is there.
func (f *fetch) makeRoom(ctx context.Context, info Info, files []File, known record) error {
	var need int64
	keep := map[string]bool{}
	for _, file := range files {
		if known.verified[file] && f.cache.has(info.Commit, file) || keep[file.Digest] {
			continue
		}
		keep[file.Digest] = true
		need += file.Size
		for _, there := range []string{blobPath(file), partPath(file)} {
			if at, err := f.cache.root.Stat(there); err == nil {
				need -= min(at.Size(), file.Size)
			}
		}
	}
	if len(keep) == 0 {
		return nil
	}
	keep[info.Commit] = true
	if err := f.room(ctx, need, keep); err != nil {
		return err
	}
	return f.cache.remember(ctx, info, nil)
}
