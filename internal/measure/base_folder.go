package measure

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/reference/worktree"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/worker"
)

// BuildResult is what [Env.Build] left, for [Config.Use].
type BuildResult struct {
	folder   *folderBase // that --ab names, checked; nil without one
	unpaired string      // why the base was left out
	unbuilt  string      // why the code under test could not be built
	void     string      // why nothing that is measured will count
}

// folderBase is a base in a checkout that a workflow has made, and --ab names.
type folderBase struct {
	root   string // real path
	commit string
	files  []string // of the commit, sorted
	guard  *guard   // the folder before the code under test was built; nil where nothing has been built since
}

// record makes the guard of the folder as it is now.
func (f *folderBase) record() (err error) {
	if f.guard, err = newGuard(f.root, "commit "+ShortRevision(f.commit), f.files); err == nil {
		f.guard.recording.Strict = true
	}
	return err
}

// checkFolder demands of the folder that --ab names that it is a checkout of its own, outside
// of the head's folder, and holds what its commit has. On a desk that is the user's
// affair. Files that differ are a [notEvidence].
func (e *Env) checkFolder(ctx context.Context, w worker.Worker, ab, head string) (*folderBase, error) {
	root, err := filepath.Abs(ab)
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		return nil, exit.Usagef("--ab: %s: %w: name the folder of a checkout of the base", text.OneLine(ab), err)
	}
	if _, err := worker.Find("git", e.Environ); err != nil {
		return nil, exit.Usagef("--ab: there is no git, so the commit of %s is not known: "+
			"install git, or measure on the host with accelgate/accelgate/native", text.OneLine(ab))
	}
	r := &worktree.Repository{Worker: w, Dir: root, Now: e.Now}
	top, err := r.Git(ctx, root, "rev-parse", "--show-toplevel")
	if err != nil || !sameFolder(top, root) {
		return nil, exit.Usagef("--ab: %s is not a checkout of its own, so the base has no known commit: check the base out there with git",
			text.OneLine(ab))
	}
	if around, err := r.Git(ctx, head, "rev-parse", "--show-toplevel"); err == nil {
		head = around
	}
	if within(head, root) || within(root, head) {
		return nil, exit.Usagef("--ab: %s and the code under test lie in one folder, where that code can change the base: "+
			`move the base first, as in mv %[1]s "$RUNNER_TEMP/base"`, text.OneLine(ab))
	}
	f := &folderBase{root: root}
	if f.commit, err = r.Git(ctx, root, "rev-parse", "--verify", "--quiet", "HEAD"); err != nil {
		return nil, exit.Usagef("--ab: %s has no commit: check the base out there with git", text.OneLine(ab))
	}
	var changed []string
	if f.files, changed, err = r.Differences(ctx, root, f.commit); err != nil {
		return nil, fmt.Errorf("compare the base with its commit: %w", err)
	}
	if len(changed) > 0 {
		return nil, notEvidence{fmt.Sprintf("the base in %s is not commit %s, because %s differs: "+
			"check it out in the same job, and give its build command as the input build",
			text.OneLine(ab), ShortRevision(f.commit), files(changed))}
	}
	return f, nil
}

// settleFolder checks the folder in CI, where [Env.Build] has not, and compares it with what
// that left before the builds of the configuration change it.
func (w *workplace) settleFolder(ctx context.Context) (err error) {
	switch {
	case w.folder == nil && w.inCI():
		w.folder, err = w.checkFolder(ctx, w.worker, w.config.Options.AB, w.config.File.Dir)
	case w.folder != nil && w.folder.guard != nil:
		if err = w.folder.guard.look("while the code under test was built", false); err == nil {
			err = w.folder.guard.end()
		}
		err = errors.Join(err, w.folder.guard.release())
		w.folder.guard = nil
	}
	return err
}

// shield checks and records the folder that --ab names where no input build has done so, before
// the build of the code under test lists its cells. [workplace.settleFolder] looks whether that changed
// the base, and [Session.Close] ends it where nothing is measured. On a desk that is the user's affair.
func (w *workplace) shield(ctx context.Context) (err error) {
	o := w.config.Options
	if w.config.isBase || w.folder != nil || w.void != "" || !o.abFolder() || !w.inCI() {
		return nil
	}
	f, err := w.checkFolder(ctx, w.worker, o.AB, w.config.File.Dir)
	if err != nil {
		w.void, err = voids(err)
		return err
	}
	if err = f.record(); err == nil {
		w.folder = f
	}
	return err
}

// unshield gives the folder its modes back where no base was opened in it.
func (w *workplace) unshield() {
	if w.folder != nil && w.folder.guard != nil {
		_ = w.folder.guard.release()
		w.folder = nil
	}
}

// within reports whether a path lies in a folder, or is it.
func within(folder, path string) bool {
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

// Build builds the base in the folder that --ab names and then the code under test in this
// one, by a command of bash, before a plan is made. A base that cannot be built is left out.
// What its build left is recorded before anything of the head runs, and nothing that a
// build started is left.
func (e *Env) Build(ctx context.Context, o *Options, command string) (b BuildResult, err error) {
	w := &worker.Isolated{Environ: e.Environ}
	defer w.Close()
	if err := worker.Conceal(); err != nil {
		e.WarnAll([]string{err.Error() + ": programs under test may read this process's environment"})
	}
	if o.AB != "" {
		if b, err = e.buildBase(ctx, w, o, command); err != nil || b.void != "" {
			return b, err
		}
	}
	if b.unbuilt, err = e.buildIn(ctx, w, o, "", "the code under test", command); err != nil {
		return b, err
	}
	if b.folder != nil && b.folder.guard != nil {
		b.void, err = voids(b.folder.guard.look("while the code under test was built", false))
	}
	return b, err
}

func (e *Env) buildBase(ctx context.Context, w worker.Worker, o *Options, command string) (b BuildResult, err error) {
	f, err := e.checkFolder(ctx, w, o.AB, ".")
	if err != nil {
		b.void, err = voids(err)
		return b, err
	}
	why, err := e.buildIn(ctx, w, o, f.root, "the base", command)
	if err != nil {
		return b, err
	}
	if why != "" {
		e.WarnAll([]string{why + ": correct the input build, or merge a base that builds"})
		b.unpaired = "no suite was measured in pairs, because " + why
		return b, nil
	}
	b.folder = f
	return b, f.record()
}

// voids returns why nothing will be evidence, for the run that says so, or another error.
func voids(err error) (why string, other error) {
	if why, ok := errors.AsType[notEvidence](err); ok {
		return why.why, nil
	}
	return "", err
}

// buildIn runs a command in a folder and prints what it printed. It returns why it failed, "" if
// it did not.
func (e *Env) buildIn(ctx context.Context, w worker.Worker, o *Options, dir, what, command string) (why string, err error) {
	defer e.Progress.Begin("build " + what)()
	fmt.Fprintf(e.Stderr, "accelgate: building %s: %s\n", what, text.OneLine(command))
	const maximum = 4 << 20 // bytes of its output
	response, err := w.Do(ctx,
		worker.Request{Args: []string{bash(e.Getenv), "-euo", "pipefail", "-c", command}, Dir: dir, Transcript: maximum})
	if out := strings.TrimSpace(Secrets{o.Secret}.Hide(response.Transcript)); out != "" {
		fmt.Fprintln(e.Stderr, out)
	}
	if err != nil || response.OK() {
		return "", err
	}
	why = fmt.Sprintf("%s cannot be built by %q: %s", what, text.OneLine(command), response.Reason())
	if line := text.Meaningful(strings.Split(response.Log, "\n")); line != "" {
		why += ": " + text.Line(text.OneLine(line), 300)
	}
	return why, nil
}

// bash is the shell of the workflow's steps. On Windows the one in PATH may be that of another system.
func bash(getenv func(string) string) string {
	if own := filepath.Join(getenv("ProgramFiles"), "Git", "bin", "bash.exe"); runtime.GOOS == "windows" {
		if _, err := os.Stat(own); err == nil {
			return own
		}
	}
	return "bash"
}
