// Package worktree makes, leases and removes git worktrees of a repository: the
// base of a run, and the two sides of a bisection. A lease in their folder shows
// that a process uses them, so that the next process removes what a killed one left.
package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/device"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/worker"
)

// Repository is a git repository.
type Repository struct {
	Worker worker.Worker
	Dir    string // a folder in it
	Now    func() time.Time
}

// Variables would lead git to another repository than the folder says.
var Variables = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX", "GIT_NAMESPACE",
}

// Request is a git command in a folder.
func (r *Repository) Request(dir string, args ...string) worker.Request {
	return worker.Request{Args: append([]string{"git"}, args...), Dir: dir, Unset: Variables}
}

const maxLog = 300 // runes of git's output

// Git runs git in a folder and returns what it prints, trimmed.
func (r *Repository) Git(ctx context.Context, dir string, args ...string) (string, error) {
	response, err := r.Worker.Do(ctx, r.Request(dir, args...))
	if err != nil {
		return "", err
	}
	if !response.OK() {
		return "", fmt.Errorf("git %s: %s: %s", strings.Join(args, " "), response.Reason(),
			text.Plain(strings.TrimSpace(response.Log), maxLog))
	}
	return strings.TrimSpace(string(response.Stdout)), nil
}

// Tidy takes back what a build changed or left in a worktree, which would keep git
// from checking out another commit. What git ignores stays.
func (r *Repository) Tidy(ctx context.Context, dir string) error {
	_, err := r.Git(ctx, dir, "reset", "--quiet", "--hard")
	if err == nil {
		_, err = r.Git(ctx, dir, "clean", "--quiet", "--force", "-d")
	}
	return err
}

// Folder holds worktrees, and a lease of this process.
type Folder struct {
	repository *Repository
	Root       string
	lease      *device.Lease
}

// leases is the folder's entry that is no worktree.
const leases = "lease"

// Temporary makes a temporary folder whose name begins with prefix, for job.
func (r *Repository) Temporary(ctx context.Context, prefix, job string) (*Folder, error) {
	root, err := os.MkdirTemp("", prefix)
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		return nil, fmt.Errorf("make a folder for worktrees: %w: name another temporary folder with TMPDIR", err)
	}
	f, err := r.Lease(ctx, root, job)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(root))
	}
	return f, nil
}

// Lease leases a folder, which need not exist. The error is a [*host.BusyError] if
// another process uses it.
func (r *Repository) Lease(ctx context.Context, root, job string) (*Folder, error) {
	if err := os.MkdirAll(root, 0o755); err != nil {
		return nil, fmt.Errorf("make a folder for worktrees: %w: make its parent writable", err)
	}
	lease, err := device.Acquire(ctx, device.LeaseOptions{
		Dir:     filepath.Join(root, leases),
		Devices: []bench.Device{{Vendor: "git", ID: "worktree"}},
		Job:     job,
		Now:     r.Now,
	})
	if err != nil {
		return nil, err
	}
	return &Folder{r, root, lease}, nil
}

// Add checks a commit, which the repository has, out into a worktree of its own.
func (f *Folder) Add(ctx context.Context, name, commit string) (dir string, err error) {
	dir = filepath.Join(f.Root, name)
	_, err = f.repository.Git(ctx, f.repository.Dir, "worktree", "add", "--quiet", "--detach", "--force", dir, commit)
	if err != nil {
		err = fmt.Errorf("%w: make the repository writable, free space, or name another temporary folder with TMPDIR", err)
	}
	return dir, err
}

// Release ends the lease and leaves the worktrees.
func (f *Folder) Release() { f.lease.Release() }

// Remove removes the folder with its worktrees, and git's records of them.
func (f *Folder) Remove(ctx context.Context) error {
	entries, _ := os.ReadDir(f.Root) // RemoveAll reports the fault
	for _, e := range entries {
		if e.IsDir() && e.Name() != leases {
			_, _ = f.repository.Git(ctx, f.repository.Dir, "worktree", "remove", "--force", "--force",
				filepath.Join(f.Root, e.Name())) // the rest is pruned
		}
	}
	f.lease.Release()
	err := os.RemoveAll(f.Root)
	_, pruned := f.repository.Git(ctx, f.repository.Dir, "worktree", "prune")
	if err = errors.Join(err, pruned); err != nil {
		return fmt.Errorf("remove the worktrees in %s: %w: remove the folder, and type 'git worktree prune'", f.Root, err)
	}
	return nil
}

// RemoveStale removes the temporary folders with the prefix that killed processes
// left: their leases ended. It returns how many there were.
func (r *Repository) RemoveStale(ctx context.Context, prefix string) (n int, err error) {
	list, err := r.Git(ctx, r.Dir, "worktree", "list", "--porcelain")
	if err != nil {
		return 0, err
	}
	var roots []string
	for line := range strings.Lines(list) {
		tree, ok := strings.CutPrefix(strings.TrimSpace(line), "worktree ")
		root := filepath.Dir(filepath.FromSlash(tree))
		if ok && strings.HasPrefix(filepath.Base(root), prefix) && isDir(root) && !slices.Contains(roots, root) {
			roots = append(roots, root)
		}
	}
	for _, root := range roots {
		f, busy := r.Lease(ctx, root, "accelgate")
		if busy != nil {
			continue // a live process uses it
		}
		if removed := f.Remove(ctx); removed != nil {
			err = errors.Join(err, removed)
			continue
		}
		n++
	}
	return n, err
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
