package worktree

import (
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
)

// Contents are the files of a folder with a digest of each, by their paths with slashes:
// what the folder held at one time. Folders, owners and times are no part of it.
type Contents map[string]string

// maxContents bounds the files of a folder.
const maxContents = 1_000_000

// ReadContents reads all files below dir, except those of git and of folders that are
// named: names hold at any depth. Links are read as links, and nothing leads out of dir.
func ReadContents(dir string, except ...string) (Contents, error) {
	c := Contents{}
	err := walk(dir, except, func(root *os.Root, name string, d fs.DirEntry) error {
		if len(c) == maxContents {
			return fmt.Errorf("more than %d files", maxContents)
		}
		digest, err := digestOf(root, name, d)
		c[name] = digest
		return err
	})
	return c, err
}

// walk calls f for each file below dir but those of [ReadContents].
func walk(dir string, except []string, f func(root *os.Root, name string, d fs.DirEntry) error) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && name != "." && errors.Is(err, fs.ErrNotExist): // removed since it was listed
			return nil
		case err != nil:
			return err
		case d.Name() == ".git" && !d.IsDir(): // of a worktree or a submodule
			return nil
		case d.IsDir() && (d.Name() == ".git" || slices.Contains(except, d.Name())):
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		return f(root, name, d)
	})
}

// digestOf is the digest of a file with its mode, or where a link leads.
func digestOf(root *os.Root, name string, d fs.DirEntry) (string, error) {
	switch {
	case d.Type()&fs.ModeSymlink != 0:
		target, err := root.Readlink(name)
		return "link " + target, err
	case !d.Type().IsRegular():
		return d.Type().String(), nil
	}
	f, err := root.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	kind := "file "
	if info.Mode()&0o111 != 0 {
		kind = "program "
	}
	return kind + hex.EncodeToString(sum.Sum(nil)), nil
}

// Compare returns how now differs: files that were changed or removed, and files that were
// added, both sorted.
func (c Contents) Compare(now Contents) (changed, added []string) {
	for _, name := range slices.Sorted(maps.Keys(c)) {
		if now[name] != c[name] {
			changed = append(changed, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if _, known := c[name]; !known {
			added = append(added, name)
		}
	}
	return changed, added
}

// Discard removes those of some files of a worktree that git neither tracks nor ignores,
// and the folders that are empty then.
func (r *Repository) Discard(ctx context.Context, dir string, names []string) error {
	if len(names) == 0 {
		return nil
	}
	untracked, err := r.list(ctx, dir, nil, "--others", "--exclude-standard")
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, name := range names {
		if _, found := slices.BinarySearch(untracked, name); !found {
			continue
		}
		if err := root.Remove(name); err != nil {
			return err
		}
		for parent := path.Dir(name); parent != "." && root.Remove(parent) == nil; {
			parent = path.Dir(parent)
		}
	}
	return nil
}
