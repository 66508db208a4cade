package download

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// shelf is the part of a cache that belongs to one model, with how many snapshots
// have each of its blobs.
type shelf struct {
	cache
	users map[string]int
	sizes map[string]int64
}

// unit is what is evicted at once: a snapshot, or a blob or part of one that no
// snapshot has.
type unit struct {
	*shelf
	snapshot string   // "" for a loose file
	loose    string   // name in blobs
	digests  []string // of the files
	used     time.Time
}

// room evicts what was used longest ago until need further bytes are within the
// limit of the cache. What a process holds stays, and so do the snapshot, blobs and
// parts in keep, which the call goes on with.
func (c *Client) room(ctx context.Context, need int64, keep map[string]bool) error {
	limit := cmp.Or(c.Limit, defaultLimit)
	if need > limit {
		return c.full(need, 0)
	}
	shelves := c.shelves()
	defer func() {
		for _, s := range shelves {
			s.close()
		}
	}()
	var units []unit
	var total int64
	for _, s := range shelves {
		units = append(units, s.units()...)
		for _, size := range s.sizes {
			total += size
		}
	}
	slices.SortStableFunc(units, func(a, b unit) int { return a.used.Compare(b.used) })
	for _, u := range units {
		if total+need <= limit {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if !keep[u.snapshot] {
			total -= u.evict(keep)
		}
	}
	if total+need > limit {
		return c.full(need, total)
	}
	return nil
}

func (c *Client) full(need, total int64) error {
	limit := cmp.Or(c.Limit, defaultLimit)
	return fmt.Errorf(
		"%s more do not fit into the cache %s, which may hold %s, with %s that are in use: raise host.cache_gib or ACCELGATE_CACHE_GIB",
		gib(need), c.Dir, gib(limit), gib(total))
}

func gib(bytes int64) string { return fmt.Sprintf("%.2f GiB", float64(bytes)/(1<<30)) }

// shelves opens all parts of the cache. What another program left there is not ours
// to evict, and does not count.
func (c *Client) shelves() (list []*shelf) {
	entries, _ := os.ReadDir(c.Dir) // a folder that is not there holds nothing
	for _, e := range entries {
		name := e.Name()
		if !e.IsDir() || name != urlsName && !strings.HasPrefix(name, modelPrefix) && !strings.HasPrefix(name, datasetPrefix) {
			continue
		}
		s := &shelf{cache{dir: c.Dir, name: name, path: filepath.Join(c.Dir, name)}, map[string]int{}, map[string]int64{}}
		if s.open(false) != nil {
			continue
		}
		if s.foreign() {
			s.close()
			continue
		}
		list = append(list, s)
	}
	return list
}

func (c *cache) names(dir string) (names []string) {
	entries, _ := fs.ReadDir(c.root.FS(), dir)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// foreign reports a snapshot that another program made.
func (s *shelf) foreign() bool {
	return slices.ContainsFunc(s.names("snapshots"), func(name string) bool {
		_, err := s.root.Lstat(recordPath(name))
		return err != nil
	})
}

// units lists what a shelf can lose, and counts what it has.
func (s *shelf) units() (units []unit) {
	for _, name := range s.names("snapshots") {
		r, err := s.record(name)
		if err != nil {
			continue
		}
		u := unit{shelf: s, snapshot: name, used: s.usedAt(name)}
		for _, f := range r.Files {
			if f.Digest == "" || !s.has(name, f) {
				continue
			}
			if !slices.Contains(u.digests, f.Digest) {
				u.digests = append(u.digests, f.Digest)
				s.users[f.Digest]++
			}
			s.sizes[f.Digest] = f.Size
		}
		units = append(units, u)
	}
	for _, name := range s.names("blobs") {
		info, err := s.root.Lstat(path.Join("blobs", name))
		if err != nil || s.users[name] > 0 || !info.Mode().IsRegular() {
			continue
		}
		s.sizes[name] = info.Size()
		units = append(units, unit{shelf: s, loose: name, used: info.ModTime()})
	}
	return units
}

// usedAt is when a snapshot was last used; long ago, if that is not known.
func (s *shelf) usedAt(snapshot string) time.Time {
	info, err := s.root.Stat(usedPath(snapshot))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// evict removes a unit unless it is held, and returns how many bytes that freed.
func (u *unit) evict(keep map[string]bool) (freed int64) {
	if u.loose != "" {
		return u.drop(u.loose, keep)
	}
	unlock, ok := try(u.holdPath(u.snapshot))
	if !ok {
		return 0
	}
	defer unlock()
	if err := u.root.RemoveAll(path.Join("snapshots", u.snapshot)); err != nil {
		return 0
	}
	for _, digest := range u.digests {
		if u.users[digest]--; u.users[digest] == 0 {
			freed += u.drop(digest, keep)
		}
	}
	_ = u.root.Remove(usedPath(u.snapshot))
	_ = u.root.Remove(recordPath(u.snapshot)) // last: what a kill leaves is still known to be ours
	return freed
}

// drop removes a file of blobs, unless a process works on its digest. Where a
// snapshot had the only copy there is none, and its bytes are free already.
func (u *unit) drop(name string, keep map[string]bool) int64 {
	digest, _, _ := strings.Cut(name, ".")
	if keep[digest] {
		return 0
	}
	unlock, ok := try(u.lockPath(digest))
	if !ok {
		return 0
	}
	defer unlock()
	if err := u.root.Remove(path.Join("blobs", name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0
	}
	return u.sizes[name]
}
