package worktree

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"sync"
	"time"
)

// Recording is what a folder held at one time, by content, and how its files were when they
// were looked at last. It shows whether anything but the folder's own programs has changed
// it since. It is safe for concurrent use.
type Recording struct {
	// Strict means that a recorded file must keep its contents, whoever writes it.
	Strict bool

	dir    string
	except []string // names of folders that do not count

	mu       sync.Mutex
	contents Contents
	large    map[string]bool // that are recorded by their marks alone
	marks    map[string]mark
}

// mark shows most changes of a file without reading it. Programs set the time of a change of
// contents as they like; that of the inode is the system's.
type mark struct {
	mode            fs.FileMode
	size            int64
	modified, inode time.Time
	number          uint64
}

const (
	// maxLooked is the number of files up to which [Recording.Look] costs little beside a measurement.
	maxLooked = 20_000
	// maxRead is how many bytes of a folder are read; the largest files beyond them are
	// recorded by their marks.
	maxRead = 2 << 30
)

// Record reads the files of a folder but those of git and of the folders with these names.
func Record(dir string, except ...string) (*Recording, error) {
	r := &Recording{dir: dir, except: except, contents: Contents{}, large: map[string]bool{}}
	root, err := os.OpenRoot(dir)
	if err == nil {
		defer root.Close()
		r.marks, err = r.look()
	}
	if err != nil {
		return nil, fmt.Errorf("record the files of %s: %w: make it readable", dir, err)
	}
	names := slices.SortedFunc(maps.Keys(r.marks), func(a, b string) int {
		return cmp.Or(cmp.Compare(r.marks[a].size, r.marks[b].size), cmp.Compare(a, b))
	})
	left := int64(maxRead)
	for _, name := range names {
		if left -= r.marks[name].size; left >= 0 {
			r.contents[name] = digestNow(root, name)
		}
		if r.contents[name] == "" { // too large, or not readable
			delete(r.contents, name)
			r.large[name] = true
		}
	}
	return r, nil
}

// Cheap reports whether a look takes less than about a tenth of a second.
func (r *Recording) Cheap() bool { return len(r.contents)+len(r.large) <= maxLooked }

// Look returns a file that was changed since the last look by another than the folder's own
// programs, "" if there is none. own says that these have run; what they changed is recorded
// anew, unless the recording is strict.
func (r *Recording) Look(own bool) (name string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now, err := r.look()
	if err != nil {
		return "", err
	}
	root, err := os.OpenRoot(r.dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	before := r.marks
	r.marks = now
	for _, name := range slices.Sorted(maps.Keys(merged(before, now))) {
		if before[name] != now[name] && !r.accepts(root, name, own) {
			return name, nil
		}
	}
	return "", nil
}

// accepts reports whether a file that looks changed is what it may be.
func (r *Recording) accepts(root *os.Root, name string, own bool) bool {
	was, read := r.contents[name]
	mine := own && !(r.Strict && (read || r.large[name]))
	if !read {
		return mine
	}
	is := digestNow(root, name)
	if is == was {
		return true
	}
	if mine {
		r.contents[name] = is
	}
	return mine
}

// Compare reads the recorded files again and returns those that were changed or removed
// since the last look.
func (r *Recording) Compare() (changed []string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now, err := r.look()
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(r.dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	for name, was := range r.contents {
		if digestNow(root, name) != was {
			changed = append(changed, name)
		}
	}
	for name := range r.large {
		if now[name] != r.marks[name] {
			changed = append(changed, name)
		}
	}
	slices.Sort(changed)
	return changed, nil
}

func merged(a, b map[string]mark) map[string]mark {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// digestNow is the digest of a file; "" where it is gone, or cannot be read.
func digestNow(root *os.Root, name string) string {
	info, err := root.Lstat(name)
	if err != nil {
		return ""
	}
	digest, err := digestOf(root, name, fs.FileInfoToDirEntry(info))
	if err != nil {
		return ""
	}
	return digest
}

// look marks all files.
func (r *Recording) look() (map[string]mark, error) {
	marks := make(map[string]mark, len(r.marks))
	err := walk(r.dir, r.except, func(_ *os.Root, name string, d fs.DirEntry) error {
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) { // removed since it was listed
			return nil
		} else if err != nil {
			return err
		}
		m := mark{mode: info.Mode(), size: info.Size(), modified: info.ModTime()}
		m.inode, m.number = inodeOf(info)
		marks[name] = m
		return nil
	})
	return marks, err
}

// Protect takes the right to write files from their owner: those of names, which are sorted, and
// programs. It returns what gives it back. The owner can give it back as well, which the recording shows.
func (r *Recording) Protect(names []string) (undo func() error, err error) {
	root, err := os.OpenRoot(r.dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	modes := map[string]fs.FileMode{}
	undo = func() error { return chmod(r.dir, modes) }
	for name := range r.marks {
		_, named := slices.BinarySearch(names, name)
		info, err := root.Lstat(name)
		if err != nil || !info.Mode().IsRegular() || info.Mode()&0o222 == 0 || info.Mode()&0o111 == 0 && !named {
			continue
		}
		modes[name] = info.Mode().Perm()
		if err := root.Chmod(name, info.Mode().Perm()&^0o222); err != nil {
			return undo, errors.Join(fmt.Errorf("protect %s: %w", path.Join(r.dir, name), err), undo())
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.marks, err = r.look()
	return undo, err
}

func chmod(dir string, modes map[string]fs.FileMode) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for name, mode := range modes {
		if failed := root.Chmod(name, mode); failed != nil && !errors.Is(failed, fs.ErrNotExist) {
			err = failed
		}
	}
	return err
}
