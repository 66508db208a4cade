package bisect

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
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/reference/worktree"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/worker"
)

// repository is the git repository around the configuration.
type repository struct {
	*worktree.Repository
	prefix string // of the configuration's folder, from the root; "" where it is the root
	state  string // folder of ours in git's own, which all worktrees share
}

// openRepository finds the repository of a folder.
func openRepository(ctx context.Context, w worker.Worker, dir string, now func() time.Time) (*repository, error) {
	r := &repository{Repository: &worktree.Repository{Worker: w, Dir: dir, Now: now}}
	var err error
	if r.prefix, err = r.Git(ctx, dir, "rev-parse", "--show-prefix"); err != nil {
		return nil, exit.Usagef("%w: bisect needs the configuration in a git repository", err)
	}
	common, err := r.Git(ctx, dir, "rev-parse", "--git-common-dir")
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
	sha, err := r.Git(ctx, r.Dir, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if err != nil {
		return "", exit.Usagef("%s: %q is not a commit of this repository: name one, and fetch it first where the checkout is shallow",
			flag, text.OneLine(name))
	}
	return sha, nil
}

// lock keeps a second bisect out of the repository.
func (r *repository) lock(ctx context.Context) (*device.Lease, error) {
	return device.Acquire(ctx, device.LeaseOptions{
		Dir:     r.state,
		Devices: []bench.Device{{Vendor: "bisect", ID: "repository"}},
		Job:     "accelgate bisect in " + r.Dir,
		Now:     r.Now,
	})
}

// trees are the two worktrees of a bisection, in a temporary folder.
type trees struct {
	*repository
	*worktree.Folder
}

const treesPrefix = "accelgate-bisect-"

// trees makes the folder for worktrees.
func (r *repository) trees(ctx context.Context) (*trees, error) {
	folder, err := r.Temporary(ctx, treesPrefix, "accelgate bisect")
	return &trees{r, folder}, err
}

// bisection is the state for the steps, which are separate processes.
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
	State     string   `json:"state"`  // folder of temporary files
	Build     []string `json:"build,omitempty"`
	Limit     float64  `json:"limit"` // relative slow-down from which a commit is bad
	Attempts  int      `json:"attempts"`
}

func (b *bisection) options() measure.Options {
	o := measure.Options{
		HostOptions:    measure.HostOptions{Config: b.Config, HostLabel: b.HostLabel, ModelDir: b.ModelDir},
		MeasureOptions: measure.MeasureOptions{Devices: b.Devices},
		SelectOptions:  measure.SelectOptions{Only: []string{b.Only}},
	}
	if b.Cell != "" {
		o.Only = []string{b.Cell}
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
	data, err := measure.ReadBounded(path)
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
		return exit.Usagef("build command: %w: correct what stands after --", response.StartErr)
	}
	if !response.OK() {
		words := "it cannot be built: " + response.Reason() + ": " + text.OneLine(text.Meaningful(strings.Split(response.Log, "\n")))
		return unusable{errors.New(strings.TrimSuffix(words, ": "))}
	}
	return nil
}
