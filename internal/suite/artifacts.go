package suite

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ErrNoArtifact means that a declared glob matches no file.
var ErrNoArtifact = errors.New("matches no file: build first, or correct it")

// maxArtifacts bounds the files of one cell.
const maxArtifacts = 100_000

// Declared returns a digest of the files that match globs, by the names that
// they have below Dir and by all of their content, whatever their size. Of a
// folder, all files in it count, however deep; a link in it must lead to a file.
// It is remembered
// for each set of globs; what a program loads besides is not seen.
func (c *Contents) Declared(globs []string) (string, error) {
	key := "\x00" + strings.Join(globs, "\x00") // no path begins so
	c.mu.Lock()
	defer c.mu.Unlock()
	if d, ok := c.known[key]; ok {
		return d, nil
	}
	sum, n := sha256.New(), 0
	for _, glob := range globs {
		if err := c.declare(sum, glob, &n); err != nil {
			return "", fmt.Errorf("%q: %w", glob, err)
		}
	}
	if c.known == nil {
		c.known = map[string]string{}
	}
	c.known[key] = hex.EncodeToString(sum.Sum(nil))
	return c.known[key], nil
}

// declare adds the files of one glob, in the order of their names.
func (c *Contents) declare(sum hash.Hash, glob string, n *int) error {
	if strings.ContainsRune(glob, 0) {
		return errors.New("is not a name of a file: correct it")
	}
	if !filepath.IsAbs(glob) {
		glob = filepath.Join(escaped(c.Dir), glob)
	}
	paths, err := filepath.Glob(glob)
	if err != nil {
		return fmt.Errorf("%w: a [ needs its ]", err)
	}
	if len(paths) == 0 {
		return ErrNoArtifact
	}
	slices.Sort(paths)
	for _, path := range paths {
		add := c.artifact
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			add = c.folder
		}
		if err := add(sum, path, n); err != nil {
			return err
		}
	}
	return nil
}

// folder adds all files of a folder, and of those in it.
func (c *Contents) folder(sum hash.Hash, root string, n *int) error {
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		return err
	}
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return nil
		}
		return c.artifact(sum, path, n)
	})
}

// artifact adds one file.
func (c *Contents) artifact(sum hash.Hash, path string, n *int) error {
	if *n++; *n > maxArtifacts {
		return fmt.Errorf("has more than %d files: declare fewer", maxArtifacts)
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%q is not a file: declare what is measured, and folders behind links by themselves", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	content := sha256.New()
	if _, err := io.Copy(content, f); err != nil {
		return fmt.Errorf("read %q: %w", path, err)
	}
	fmt.Fprintf(sum, "%q %v %x\n", c.name(path), info.Mode().Perm()&0o111 != 0, content.Sum(nil))
	return nil
}

// name is the path below Dir, where it is there, so that two checkouts of one
// commit are the same.
func (c *Contents) name(path string) string {
	if rel, err := filepath.Rel(c.Dir, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return filepath.ToSlash(path)
}

// escaped makes a path a glob that matches itself alone. On Windows nothing can
// be escaped, and paths hold no such characters but brackets.
func escaped(path string) string {
	if filepath.Separator == '\\' {
		return path
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}
