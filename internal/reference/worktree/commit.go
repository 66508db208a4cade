package worktree

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/text"
)

// Files returns the files of a commit, sorted, from the repository of dir.
func (r *Repository) Files(ctx context.Context, dir, commit string) (files []string, err error) {
	objects, err := r.filesOf(ctx, dir, commit)
	for _, o := range objects {
		files = append(files, o.name)
	}
	slices.Sort(files)
	return files, err
}

// Differences returns the files of a commit, and those of them that its checkout in dir does
// not hold as they are in the commit, both sorted. Only the commit's id is trusted: each tree must have the
// digest that the one above names, so that an exchanged object of git is an error. Line ends
// and files of Git LFS count as they are in a checkout. Submodules, and files that the commit lacks, are not looked at.
func (r *Repository) Differences(ctx context.Context, dir, commit string) (files, changed []string, err error) {
	objects, err := r.filesOf(ctx, dir, commit)
	if err != nil {
		return nil, nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	for _, o := range objects {
		same, err := r.holds(ctx, root, dir, o)
		if err != nil {
			return nil, nil, err
		}
		if files = append(files, o.name); !same {
			changed = append(changed, o.name)
		}
	}
	slices.Sort(files)
	slices.Sort(changed)
	return files, changed, nil
}

// object is an entry of a tree of git.
type object struct {
	mode, id, name string
}

const (
	modeTree      = "40000"
	modeSubmodule = "160000"
	modeLink      = "120000"
)

// filesOf lists the files of a commit by their paths.
func (r *Repository) filesOf(ctx context.Context, dir, commit string) ([]object, error) {
	data, err := r.object(ctx, dir, "commit", commit)
	if err != nil {
		return nil, err
	}
	first, _, _ := strings.Cut(string(data), "\n")
	tree, ok := strings.CutPrefix(first, "tree ")
	if !ok {
		return nil, fmt.Errorf("commit %s names no tree: check it out again", text.OneLine(commit))
	}
	return r.filesBelow(ctx, dir, tree, "")
}

// filesBelow lists the files of a tree. Where the list is longer than what a child may
// print, it is read one tree at a time.
func (r *Repository) filesBelow(ctx context.Context, dir, tree, prefix string) (files []object, err error) {
	all, whole, err := r.listing(ctx, dir, tree, "-r", "-t")
	if err == nil && !whole {
		all, whole, err = r.listing(ctx, dir, tree)
	}
	if err != nil {
		return nil, err
	}
	if !whole {
		return nil, fmt.Errorf("tree %s is too large to be read: measure without pairs", tree)
	}
	children := map[string][]object{}
	for _, o := range all {
		children[path.Dir(o.name)] = append(children[path.Dir(o.name)], o)
	}
	if err := checkTree(tree, children["."]); err != nil {
		return nil, err
	}
	for _, o := range all {
		below := children[o.name]
		o.name = path.Join(prefix, o.name)
		switch {
		case o.mode == modeSubmodule:
		case o.mode != modeTree:
			files = append(files, o)
		case below != nil:
			err = checkTree(o.id, below)
		default:
			var more []object
			more, err = r.filesBelow(ctx, dir, o.id, o.name)
			files = append(files, more...)
		}
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// listing lists a tree; whole is false where git prints more than is kept.
func (r *Repository) listing(ctx context.Context, dir, tree string, args ...string) (all []object, whole bool, err error) {
	args = slices.Concat([]string{"--no-replace-objects", "ls-tree", "-z", "--full-tree"}, args, []string{tree})
	response, err := r.Worker.Do(ctx, r.Request(dir, args...))
	switch {
	case err != nil:
		return nil, false, err
	case !response.OK():
		return nil, false, fmt.Errorf("git lists no tree %s: %s: %s", text.OneLine(tree), response.Reason(),
			text.Plain(strings.TrimSpace(response.Log), maxLog))
	case response.StdoutTruncated:
		return nil, false, nil
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(string(response.Stdout), "\x00"), "\x00") {
		if line == "" {
			continue // an empty tree
		}
		about, name, ok := strings.Cut(line, "\t")
		words := strings.Fields(about) // mode, kind, id
		if !ok || len(words) != 3 || !inside(name) {
			return nil, false, fmt.Errorf("tree %s holds %s, which cannot be checked out", tree, text.Quote(line, 120))
		}
		all = append(all, object{strings.TrimLeft(words[0], "0"), words[2], name})
	}
	return all, true, nil
}

// inside reports whether a path of a tree stays in its folder, and out of git's own. It need
// not be UTF-8.
func inside(name string) bool {
	return !slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool {
		return part == "" || part == "." || part == ".." || strings.EqualFold(part, ".git")
	})
}

// checkTree refuses entries that are not those of a tree with this id.
func checkTree(tree string, entries []object) error {
	var data bytes.Buffer
	for _, o := range entries {
		id, err := hex.DecodeString(o.id)
		if err != nil {
			return fmt.Errorf("tree %s: %w", tree, err)
		}
		fmt.Fprintf(&data, "%s %s\x00%s", o.mode, path.Base(o.name), id)
	}
	return named(tree, "tree", data.Bytes())
}

// object reads an object of git.
func (r *Repository) object(ctx context.Context, dir, kind, id string) ([]byte, error) {
	response, err := r.Worker.Do(ctx, r.Request(dir, "--no-replace-objects", "cat-file", kind, id))
	switch {
	case err != nil:
		return nil, err
	case !response.OK() || response.StdoutTruncated:
		return nil, fmt.Errorf("git has no %s %s: %s: %s", kind, text.OneLine(id), response.Reason(),
			text.Plain(strings.TrimSpace(response.Log), maxLog))
	}
	return response.Stdout, named(id, kind, response.Stdout)
}

// errExchanged marks an object whose contents are not those that its id names.
var errExchanged = errors.New("is not what its id names")

func named(id, kind string, data []byte) error {
	if idOf(id, kind, data) != id {
		return fmt.Errorf("%s %s of the checkout's git %w: check it out again", kind, text.OneLine(id), errExchanged)
	}
	return nil
}

// idOf is the id of an object, by the hash function that an id of the repository is of.
func idOf(like, kind string, data []byte) string {
	sum := idHash(like)
	fmt.Fprintf(sum, "%s %d\x00", kind, len(data))
	sum.Write(data)
	return hex.EncodeToString(sum.Sum(nil))
}

func idHash(like string) hash.Hash {
	if len(like) == 2*sha256.Size {
		return sha256.New()
	}
	return sha1.New()
}

// holds reports whether a file of the checkout is that of the commit.
func (r *Repository) holds(ctx context.Context, root *os.Root, dir string, f object) (bool, error) {
	info, err := root.Lstat(f.name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.IsDir() {
		return false, nil
	} else if err != nil {
		return false, err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := root.Readlink(f.name)
		return err == nil && f.mode == modeLink && idOf(f.id, "blob", []byte(target)) == f.id, err
	}
	if !info.Mode().IsRegular() {
		return false, nil
	}
	blob, content, err := sums(root, f, info.Size())
	if err != nil || blob == f.id {
		return err == nil, err
	}
	if info.Size() <= maxText {
		data, err := root.ReadFile(f.name)
		if err != nil || idOf(f.id, "blob", bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))) == f.id {
			return err == nil, err
		}
	}
	stored, err := r.object(ctx, dir, "blob", f.id)
	if errors.Is(err, errExchanged) || err != nil && ctx.Err() != nil {
		return false, err
	}
	return err == nil && ofLFS(stored, content, info.Size()), nil
}

// maxText is the size of a file in bytes up to which its line ends may be those of another
// system.
const maxText = 16 << 20

// sums reads a file once and returns the id that it has as a blob, and the SHA-256 of its bytes.
func sums(root *os.Root, f object, size int64) (blob, content string, err error) {
	file, err := root.Open(f.name)
	if err != nil {
		return "", "", err
	}
	defer file.Close()
	id, plain := idHash(f.id), sha256.New()
	fmt.Fprintf(id, "blob %d\x00", size)
	_, err = io.Copy(io.MultiWriter(id, plain), file)
	return hex.EncodeToString(id.Sum(nil)), hex.EncodeToString(plain.Sum(nil)), err
}

// ofLFS reports whether a file with this SHA-256 and size is the one that a pointer of Git LFS names; see
// https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md.
func ofLFS(pointer []byte, content string, size int64) bool {
	const maximum = 1024
	return len(pointer) < maximum && bytes.HasPrefix(pointer, []byte("version https://git-lfs.github.com/spec/v1\n")) &&
		bytes.Contains(pointer, []byte("\noid sha256:"+content+"\n")) &&
		bytes.Contains(pointer, []byte("\nsize "+strconv.FormatInt(size, 10)+"\n"))
}
