package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/atomicfile"
	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/device"
	"github.com/accelgate/accelgate/internal/worker"
)

// repository is the git repository around the configuration.
type repository struct {
	worker worker.Worker
	dir    string // folder of the configuration
	prefix string // of dir, from the root; "" where it is the root
	state  string // folder of ours in git's own, which all worktrees share
}

// gitVariables would lead git to another repository than the folder says.
var gitVariables = []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX", "GIT_NAMESPACE"}

func (r *repository) request(dir string, args ...string) worker.Request {
	return worker.Request{Args: append([]string{"git"}, args...), Dir: dir, Unset: gitVariables}
}

// git runs git in a folder and returns what it prints, trimmed.
func (r *repository) git(ctx context.Context, dir string, args ...string) (string, error) {
	response, err := r.worker.Do(ctx, r.request(dir, args...))
	if err != nil {
		return "", err
	}
	if !response.OK() {
		return "", fmt.Errorf("git %s: %s: %s", strings.Join(args, " "), response.Reason(), oneLine(strings.TrimSpace(response.Log)))
	}
	return strings.TrimSpace(string(response.Stdout)), nil
}

// tidy takes back what a build changed or left in a worktree of ours, which would
// keep git from checking out the next commit. What git ignores stays.
func (r *repository) tidy(ctx context.Context, dir string) error {
	_, err := r.git(ctx, dir, "reset", "--quiet", "--hard")
	if err == nil {
		_, err = r.git(ctx, dir, "clean", "--quiet", "--force", "-d")
	}
	return err
}

// openRepository finds the repository of a folder.
func openRepository(ctx context.Context, w worker.Worker, dir string) (*repository, error) {
	r := &repository{worker: w, dir: dir}
	var err error
	if r.prefix, err = r.git(ctx, dir, "rev-parse", "--show-prefix"); err != nil {
		return nil, usagef("%w: bisect needs the configuration in a git repository", err)
	}
	common, err := r.git(ctx, dir, "rev-parse", "--git-common-dir")
	if err != nil {
		return nil, err
	}
	if !filepath.IsAbs(common) {
		common = filepath.Join(dir, common)
	}
	r.state = filepath.Join(common, "accelgate-bisect")
	return r, nil
}

// commit resolves what a user calls a commit.
func (r *repository) commit(ctx context.Context, flag, name string) (string, error) {
	sha, err := r.git(ctx, r.dir, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if err != nil {
		return "", usagef("%s: %q is no commit of this repository: name one, and fetch it first where the checkout is shallow", flag, oneLine(name))
	}
	return sha, nil
}

// lock keeps a second bisect out of the repository.
func (r *repository) lock(ctx context.Context, now func() time.Time) (*device.Lease, error) {
	return device.Acquire(ctx, device.LeaseOptions{Dir: r.state, Devices: []bench.Device{{Vendor: "bisect", ID: "repository"}}, Job: "accelgate bisect in " + r.dir, Now: now})
}

// trees are the two worktrees of a bisection, in a temporary folder. The folder's
// name is noted in the repository before anything is put there, so that the next
// bisection removes what a killed one left.
type trees struct {
	*repository
	root string // temporary
}

const treesPrefix = "accelgate-bisect-"

func (r *repository) note() string { return filepath.Join(r.state, "worktrees") }

// trees makes the folder for worktrees.
func (r *repository) trees() (*trees, error) {
	root, err := os.MkdirTemp("", treesPrefix)
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		return nil, fmt.Errorf("make a folder for worktrees: %w: name another temporary folder with TMPDIR", err)
	}
	if err := atomicfile.Write(r.note(), []byte(root+"\n")); err != nil {
		_ = os.Remove(root) // it is empty
		return nil, err
	}
	return &trees{r, root}, nil
}

// add checks a commit out into a worktree of its own.
func (t *trees) add(ctx context.Context, name, commit string) (dir string, err error) {
	dir = filepath.Join(t.root, name)
	_, err = t.git(ctx, t.dir, "worktree", "add", "--quiet", "--detach", "--force", dir, commit)
	return dir, err
}

// remove removes the worktrees and what git knows of them, its state of the
// bisection included.
func (t *trees) remove(ctx context.Context) error {
	for _, name := range []string{"good", "head"} {
		dir := filepath.Join(t.root, name)
		if _, err := os.Lstat(dir); err == nil {
			_, _ = t.git(ctx, t.dir, "worktree", "remove", "--force", "--force", dir) // what is left is pruned
		}
	}
	err := os.RemoveAll(t.root)
	_, pruned := t.git(ctx, t.dir, "worktree", "prune")
	if err = errors.Join(err, pruned); err != nil {
		return fmt.Errorf("remove the worktrees in %s: %w: remove the folder, and type 'git worktree prune'", t.root, err)
	}
	return os.Remove(t.note())
}

// removeStale removes what a killed bisection left, which holds the lock no
// more. It reports whether there was something.
func (r *repository) removeStale(ctx context.Context) (bool, error) {
	data, err := os.ReadFile(r.note())
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	root := strings.TrimSpace(string(data))
	if err != nil || !filepath.IsAbs(root) || !strings.HasPrefix(filepath.Base(root), treesPrefix) {
		return false, fmt.Errorf("%s does not name a folder of accelgate bisect: remove the file", r.note())
	}
	return true, (&trees{r, root}).remove(ctx)
}

// bisection is what the steps need to know, which are processes of their own.
type bisection struct {
	Config    string   `json:"config"` // absolute
	HostLabel string   `json:"host_label"`
	ModelDir  string   `json:"model_dir,omitempty"`
	Devices   []string `json:"devices,omitempty"`
	Only      string   `json:"only"` // id or glob
	Cell      string   `json:"cell"` // id, "" before it is known
	Metric    string   `json:"metric"`
	Good      string   `json:"good"` // commits
	Bad       string   `json:"bad"`
	GoodDir   string   `json:"good_dir"` // roots of worktrees
	HeadDir   string   `json:"head_dir"`
	Prefix    string   `json:"prefix"` // of the configuration's folder, from a root
	State     string   `json:"state"`  // folder of what is written on the way
	Build     []string `json:"build,omitempty"`
	Limit     float64  `json:"limit"` // relative slow-down from which a commit is bad
	Attempts  int      `json:"attempts"`
}

func (b *bisection) options() options {
	o := options{config: b.Config, hostLabel: b.HostLabel, modelDir: b.ModelDir, devices: b.Devices, only: []string{b.Only}}
	if b.Cell != "" {
		o.only = []string{b.Cell}
	}
	return o
}

func (b *bisection) path() string      { return filepath.Join(b.State, "bisect.json") }
func (b *bisection) stepsPath() string { return filepath.Join(b.State, "steps.jsonl") }

func (b *bisection) logPath() string { return filepath.Join(b.State, "bisect.log") }

// discardOld removes what the bisection before this one wrote.
func (b *bisection) discardOld() error {
	for _, path := range []string{b.path(), b.stepsPath(), b.logPath()} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove what the bisection before this one wrote: %w: choose another folder with --out", err)
		}
	}
	return nil
}

func (b *bisection) save() error {
	data, err := json.Marshal(b)
	if err != nil {
		return err
	}
	return atomicfile.Write(b.path(), data)
}

func loadBisection(path string) (*bisection, error) {
	data, err := readBounded(path)
	if err != nil {
		return nil, err
	}
	b := &bisection{}
	return b, json.Unmarshal(data, b)
}

// build builds a checkout. An unusable error says that it cannot be built.
func (b *bisection) build(ctx context.Context, w worker.Worker, root string) error {
	if len(b.Build) == 0 {
		return nil
	}
	response, err := w.Do(ctx, worker.Request{Args: b.Build, Dir: filepath.Join(root, b.Prefix)})
	if err != nil {
		return err
	}
	if errors.Is(response.StartErr, worker.ErrNotFound) {
		return usagef("build command: %w: correct what stands after --", response.StartErr)
	}
	if !response.OK() {
		words := "it cannot be built: " + response.Reason() + ": " + oneLine(lastLine(response.Log))
		return unusable{errors.New(strings.TrimSuffix(words, ": "))}
	}
	return nil
}

func lastLine(log string) string {
	log = strings.TrimSpace(log)
	return log[strings.LastIndexByte(log, '\n')+1:]
}
