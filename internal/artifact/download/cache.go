package download

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

// cache is the part of a cache folder that belongs to one model or dataset, or to
// all files by URL, whose commits are their digests. Its layout is
// that of huggingface.co/docs/hub/local-cache, so that one folder may serve
// other programs too:
//
//	blobs/DIGEST             the bytes of a file
//	blobs/DIGEST.part[.etag] what has arrived of one that is not complete
//	snapshots/COMMIT/NAME    the files of a commit: hard links to blobs
//	refs/REVISION            the commit of a branch or tag when it was last asked for
//	.accelgate/COMMIT.json   the listing, and the files whose digest was checked
//	.accelgate/COMMIT.used   its time is that of the last use
//
// and beside it .locks, one lock per digest. Others write symbolic links into
// snapshots, without checking digests; their blobs are read once before they
// count. No link is followed out of the model's folder.
type cache struct {
	dir, name, path string
	root            *os.Root
}

const (
	ownDir  = ".accelgate"
	lockAsk = 100 * time.Millisecond // between two looks at a lock that another process has
)

// The names of folders in a cache begin so (huggingface.co/docs/hub/local-cache).
const (
	modelPrefix   = "models--"
	datasetPrefix = "datasets--"
)

func newCache(dir, id string) cache {
	prefix := modelPrefix
	if rest, ok := strings.CutPrefix(id, datasets); ok {
		prefix, id = datasetPrefix, rest
	}
	name := prefix + strings.ReplaceAll(id, "/", "--")
	return cache{dir: dir, name: name, path: filepath.Join(dir, name)}
}

func (c *cache) open(create bool) error {
	if create {
		for _, sub := range []string{"blobs", "snapshots", "refs", ownDir, filepath.Join("..", ".locks", c.name)} {
			if err := os.MkdirAll(filepath.Join(c.path, sub), 0o755); err != nil {
				return fmt.Errorf("make the cache: %w", unwritable(err))
			}
		}
	}
	root, err := os.OpenRoot(c.path)
	c.root = root
	return err
}

func (c *cache) close() { _ = c.root.Close() } // nothing is written through it

func (c *cache) folder(commit string) string { return filepath.Join(c.path, "snapshots", commit) }

// lock waits until no other process works on name. Locks end with their process.
func (c *cache) lock(ctx context.Context, name string) (unlock func(), err error) {
	lock := flock.New(c.lockPath(name), flock.SetPermissions(0o644))
	if _, err := lock.TryLockContext(ctx, lockAsk); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, errLock(err)
	}
	return func() { _ = lock.Close() }, nil
}

func (c *cache) lockPath(name string) string {
	return filepath.Join(c.dir, ".locks", c.name, name+".lock")
}

// holdPath is the lock of a snapshot. It is another one than that of a digest, which
// names a snapshot as well.
func (c *cache) holdPath(snapshot string) string { return c.lockPath(snapshot + ".use") }

func errLock(err error) error {
	return fmt.Errorf("lock the cache: %w: name a folder of a file system with locks", err)
}

// read reads a file of at most limit bytes.
func (c *cache) read(name string, limit int64) ([]byte, error) {
	f, err := c.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("more than %d bytes", limit)
	}
	return text, err
}

// unwritable adds what to do to the system's error of a file of the cache.
func unwritable(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("%w: free space, or name another folder with %s", err, CacheVariable)
	}
	return fmt.Errorf("%w: make the cache writable, or name another folder with %s", err, CacheVariable)
}

// replace writes a file as a whole or not at all. What a kill leaves is
// overwritten by the next call, as all share one lock.
func (c *cache) replace(ctx context.Context, name string, text []byte) error {
	unlock, err := c.lock(ctx, "cache")
	if err != nil {
		return err
	}
	defer unlock()
	if err := c.write(name, text); err != nil {
		return unwritable(err)
	}
	c.sync(path.Dir(name))
	return nil
}

func (c *cache) write(name string, text []byte) error {
	const temp = ownDir + "/new"
	f, err := c.root.Create(temp)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = c.root.MkdirAll(path.Dir(name), 0o755)
	}
	if err == nil {
		err = c.root.Rename(temp, name)
	}
	return err
}

// sync makes renames durable. Not every system can sync a folder, and without
// it a file is at worst got again.
func (c *cache) sync(dir string) {
	if d, err := c.root.Open(dir); err == nil {
		_ = d.Sync()
		d.Close()
	}
}

// ref returns the commit that a branch or tag was last known by, or "".
func (c *cache) ref(revision string) string {
	text, err := c.read(path.Join("refs", revision), 64)
	if commit := strings.TrimSpace(string(text)); err == nil && isCommit(commit) {
		return commit
	}
	return ""
}

func (c *cache) setRef(ctx context.Context, revision, commit string) error {
	if c.ref(revision) == commit {
		return nil
	}
	return c.replace(ctx, path.Join("refs", revision), []byte(commit))
}

// record is what is known of a commit.
type record struct {
	Info
	verified map[File]bool
}

type recordFile struct {
	listing
	Verified []string `json:"verified"`
}

func usedPath(snapshot string) string { return path.Join(ownDir, snapshot+".used") }

func recordPath(commit string) string { return path.Join(ownDir, commit+".json") }

func (c *cache) record(commit string) (record, error) {
	text, err := c.read(recordPath(commit), MaxInfo)
	if err != nil {
		return record{}, err
	}
	info, err := parse(text)
	var file recordFile
	if err == nil {
		err = json.Unmarshal(text, &file)
	}
	if err == nil && info.Commit != commit {
		err = errors.New("the record is of another commit")
	}
	names, r := map[string]bool{}, record{info, map[File]bool{}}
	for _, name := range file.Verified {
		names[name] = true
	}
	for _, f := range info.Files {
		r.verified[f] = names[f.Name]
	}
	return r, err
}

// remember records that files of a listing were checked, beside those that the
// same listing had before.
func (c *cache) remember(ctx context.Context, info Info, files []File) error {
	checked := map[File]bool{}
	if old, err := c.record(info.Commit); err == nil {
		checked = old.verified
	}
	for _, f := range files {
		checked[f] = true
	}
	file := recordFile{listing: listing{SHA: info.Commit}}
	for _, f := range info.Files {
		file.Siblings = append(file.Siblings, f.sibling())
		if checked[f] {
			file.Verified = append(file.Verified, f.Name)
		}
	}
	text, err := json.Marshal(file)
	if err != nil {
		return err
	}
	return c.replace(ctx, recordPath(info.Commit), text)
}

func snapshotPath(commit string, f File) string { return path.Join("snapshots", commit, f.Name) }

// has reports whether a commit's folder has a file, by its size.
func (c *cache) has(commit string, f File) bool {
	info, err := c.root.Stat(snapshotPath(commit, f))
	return err == nil && info.Mode().IsRegular() && info.Size() == f.Size
}

// hasBlob reports whether the bytes of a file are there, by their digest.
func (c *cache) hasBlob(ctx context.Context, f File) (bool, error) {
	blob, err := c.root.Open(blobPath(f))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	defer blob.Close()
	info, err := blob.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() != f.Size {
		return false, err
	}
	return f.matches(ctx, blob)
}

// link gives a file its name in a commit's folder: a hard link, so that readers
// find a file, and commits that share its bytes keep them once. Where there are
// no hard links the file moves, and another commit gets it again.
func (c *cache) link(commit string, f File) error {
	blob, name := blobPath(f), snapshotPath(commit, f)
	if same(c.root, blob, name) {
		return nil
	}
	err := c.root.MkdirAll(path.Dir(name), 0o755)
	if err == nil {
		err = c.root.Remove(name)
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		if err = c.root.Link(blob, name); err != nil {
			err = c.root.Rename(blob, name)
		}
	}
	if err != nil {
		return unwritable(err)
	}
	c.sync(path.Dir(name))
	return nil
}

func same(root *os.Root, a, b string) bool {
	x, err := root.Stat(a)
	y, otherErr := root.Stat(b)
	return err == nil && otherErr == nil && os.SameFile(x, y)
}

// reread compares a file of a commit's folder with its digest. One that differs is
// removed, so that the next call gets it again.
func (c *cache) reread(ctx context.Context, commit string, f File) error {
	file, err := c.root.Open(snapshotPath(commit, f))
	if err != nil {
		return err
	}
	defer file.Close()
	ok, err := f.matches(ctx, file)
	if err != nil || ok {
		return err
	}
	if err := c.root.Remove(snapshotPath(commit, f)); err != nil {
		return fmt.Errorf("its bytes do not have the digest %s: %w: remove the file", f.Digest, err)
	}
	return fmt.Errorf("its bytes did not have the digest %s any more, and the file was removed: get it again", f.Digest)
}
