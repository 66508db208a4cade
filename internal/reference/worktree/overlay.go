package worktree

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/text"
)

// The bounds of an [Overlay].
const (
	maxOverlaid      = 10_000
	maxOverlaidBytes = 64 << 20
)

// Overlay holds files of one checkout that another one gets in place of its own. Paths
// are relative to the checkouts' folders, with slashes. It is read once, so that what
// changes in the folder later has no effect.
type Overlay struct {
	// Digest is the SHA-256 of the patterns and of all files, in hexadecimal.
	Digest   string
	patterns []string
	files    map[string]overlaid
}

// overlaid is a file, or a link where a checkout had one.
type overlaid struct {
	mode fs.FileMode
	data []byte
	link string // what a symbolic link says; then there are no data
}

// Overlay reads the files of a folder that match globs of git: "*" stands for no slash,
// "**" for any folders, and a folder for all files in it. Files that git ignores do not
// count, because builds write them. A link is read as the file it leads to, which must
// lie in the folder.
func (r *Repository) Overlay(ctx context.Context, dir string, globs []string) (*Overlay, error) {
	o := &Overlay{patterns: globs, files: map[string]overlaid{}}
	names, err := r.list(ctx, dir, globs, "--cached", "--others", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	left := int64(maxOverlaidBytes)
	for _, name := range names {
		switch file, err := readFile(root, name, left); {
		case errors.Is(err, fs.ErrNotExist): // deleted, and git has it still
		case err != nil:
			return nil, fmt.Errorf("%s: %w", text.OneLine(name), err)
		default:
			left -= int64(len(file.data))
			o.files[name] = file
		}
	}
	o.Digest = o.digest()
	return o, nil
}

func (o *Overlay) digest() string {
	sum := sha256.New()
	fmt.Fprintf(sum, "%q\n", o.patterns)
	for _, name := range slices.Sorted(maps.Keys(o.files)) {
		f := o.files[name]
		fmt.Fprintf(sum, "%q %t %d\n", name, f.mode&0o100 != 0, len(f.data))
		sum.Write(f.data)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// list lists files that match globs, sorted.
func (r *Repository) list(ctx context.Context, dir string, globs []string, which ...string) ([]string, error) {
	args := append(append([]string{"ls-files", "-z"}, which...), "--")
	for _, glob := range globs {
		args = append(args, ":(glob)"+glob)
	}
	response, err := r.Worker.Do(ctx, r.Request(dir, args...))
	switch {
	case err != nil:
		return nil, err
	case !response.OK():
		return nil, fmt.Errorf("git lists no files of %s: %s: %s: use a git checkout, or remove ab",
			dir, response.Reason(), text.Plain(strings.TrimSpace(response.Log), maxLog))
	case response.StdoutTruncated:
		return nil, fmt.Errorf("more than %d files: name fewer", maxOverlaid)
	}
	var names []string
	for name := range strings.SplitSeq(string(response.Stdout), "\x00") {
		if name != "" && !strings.HasSuffix(name, "/") { // a repository in the folder, such as the base's checkout
			names = append(names, name)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) > maxOverlaid {
		return nil, fmt.Errorf("%d files, more than %d: name fewer", len(names), maxOverlaid)
	}
	return names, nil
}

// readFile reads a regular file below root of at most left bytes.
func readFile(root *os.Root, name string, left int64) (overlaid, error) {
	if !localPath(name) {
		return overlaid{}, errors.New("leaves the checkout: name files inside of it")
	}
	info, err := root.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if link, linkErr := root.Lstat(name); linkErr == nil && link.Mode()&fs.ModeSymlink != 0 {
			return overlaid{}, errors.New("is a link to nothing: remove it, or name other files")
		}
		return overlaid{}, err
	case err != nil:
		return overlaid{}, fmt.Errorf("%w: name files inside of the checkout", err)
	case !info.Mode().IsRegular():
		return overlaid{}, errors.New("is not a regular file, but a submodule, a link to a folder or a device: name files")
	}
	f, err := root.Open(name)
	if err != nil {
		return overlaid{}, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, left+1))
	if err == nil && int64(len(data)) > left {
		err = fmt.Errorf("with it the files have more than %d MiB: name fewer", maxOverlaidBytes>>20)
	}
	return overlaid{mode: info.Mode().Perm(), data: data}, err
}

// localPath reports whether a path that git lists stays in its folder, and out of git's own.
func localPath(name string) bool {
	return fs.ValidPath(name) &&
		!slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool { return strings.EqualFold(part, ".git") })
}

// Laid is an [Overlay] in a checkout.
type Laid struct {
	// Names are the files that the overlay changed, added or removed, sorted.
	Names  []string
	dir    string
	digest string
	old    map[string]*overlaid // what they were; nil for files that were not there
}

// Digest is that of the overlay. It may be called on nil, which has none.
func (l *Laid) Digest() string {
	if l == nil {
		return ""
	}
	return l.digest
}

// Lay gives a checkout the files of the overlay, and removes those that match its globs and
// that the overlay lacks. With clean, no file of both may differ from what git has
// of it: it would be lost with this process, or be what a killed one left. After an error the checkout is as it was.
func (r *Repository) Lay(ctx context.Context, o *Overlay, dir string, clean bool) (*Laid, error) {
	l := &Laid{dir: dir, digest: o.Digest, old: map[string]*overlaid{}}
	own, err := r.list(ctx, dir, o.patterns, "--cached")
	if err != nil {
		return nil, err
	}
	if err := r.matched(ctx, o, dir); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	both := slices.Compact(slices.Sorted(slices.Values(slices.Concat(own, slices.Collect(maps.Keys(o.files))))))
	for _, name := range both {
		if err := l.compare(root, o, name); err != nil {
			return nil, fmt.Errorf("%s: %w", text.OneLine(name), err)
		}
	}
	if clean {
		if err := r.unchanged(ctx, dir, o.patterns, both); err != nil {
			return nil, err
		}
	}
	after := make(map[string]*overlaid, len(l.Names))
	for _, name := range l.Names {
		if f, ok := o.files[name]; ok {
			after[name] = &f
		}
	}
	if err := write(root, l.Names, after); err != nil {
		return nil, errors.Join(err, l.Undo())
	}
	return l, nil
}

// compare notes a file that is to change, with what it is now.
func (l *Laid) compare(root *os.Root, o *Overlay, name string) error {
	if err := plainFolders(root, name); err != nil {
		return err
	}
	want, wanted := o.files[name]
	info, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		if wanted {
			l.Names, l.old[name] = append(l.Names, name), nil
		}
		return nil
	}
	var now overlaid
	switch {
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		now.link, err = root.Readlink(name)
	case !info.Mode().IsRegular():
		return errors.New("is not a file in the base: name paths that are files on both sides")
	default:
		now, err = readFile(root, name, maxOverlaidBytes)
	}
	if err != nil {
		return err
	}
	if !wanted || now.link != "" || now.mode&0o100 != want.mode&0o100 || !bytes.Equal(now.data, want.data) {
		l.Names, l.old[name] = append(l.Names, name), &now
	}
	return nil
}

// plainFolders refuses a path that leads through a link, which could lead into git's own
// folder, or through a file.
func plainFolders(root *os.Root, name string) error {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if info, err := root.Lstat(dir); err == nil && !info.IsDir() {
			return fmt.Errorf("%s is a link or a file in the base: name files in folders of both sides", text.OneLine(dir))
		}
	}
	return nil
}

// NoMatchError is a glob that matches no file.
type NoMatchError struct{ Glob string }

func (e *NoMatchError) Error() string {
	return text.Quote(e.Glob, 80) + " matches no file that git tracks or would add"
}

// matched refuses globs that match a file on neither side.
func (r *Repository) matched(ctx context.Context, o *Overlay, dir string) error {
	for _, glob := range o.patterns {
		for _, where := range []string{r.Dir, dir} {
			found, err := r.list(ctx, where, []string{glob}, "--cached", "--others", "--exclude-standard")
			if err != nil {
				return err
			}
			if len(found) > 0 {
				glob = ""
				break
			}
		}
		if glob != "" {
			return &NoMatchError{glob}
		}
	}
	return nil
}

// unchanged refuses files that differ from what git has of them. The names are sorted.
func (r *Repository) unchanged(ctx context.Context, dir string, globs, names []string) error {
	changed, err := r.list(ctx, dir, globs, "--modified", "--others", "--exclude-standard")
	for _, name := range changed {
		if _, found := slices.BinarySearch(names, name); err == nil && found {
			err = fmt.Errorf("%s of %s has changes, which would be overwritten: commit them, or type 'git -C %s stash -u'",
				text.OneLine(name), dir, text.ShellWord(dir))
		}
	}
	return err
}

// write makes each file what it is to be; nil removes it.
func write(root *os.Root, names []string, files map[string]*overlaid) error {
	for _, name := range names {
		if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("replace %s: %w: make its folder writable", text.OneLine(name), err)
		}
	}
	for _, name := range names {
		if f := files[name]; f != nil {
			if err := f.write(root, name); err != nil {
				return fmt.Errorf("write %s: %w: make its folder writable", text.OneLine(name), err)
			}
		}
	}
	return nil
}

func (f *overlaid) write(root *os.Root, name string) error {
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	if f.link != "" {
		return root.Symlink(f.link, name)
	}
	out, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, f.mode)
	if err != nil {
		return err
	}
	_, err = out.Write(f.data)
	return cmp.Or(err, out.Close())
}

// Undo makes the files what they were. It may be called on nil.
func (l *Laid) Undo() error {
	if l == nil {
		return nil
	}
	root, err := os.OpenRoot(l.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return write(root, l.Names, l.old)
}
