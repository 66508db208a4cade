package measure

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/reference/worktree"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/worker"
)

// checkout is a temporary worktree of the base.
type checkout struct {
	*worktree.Repository
	prefix string // of the configuration's folder, from the root; "" where it is the root
	commit string
	what   string // the commit in words
	folder *worktree.Folder
	dir    string // the configuration's folder in it
	kept   bool   // the folder stays for the next run once the base is built
	built  bool   // by an earlier run, and whole
	record keptBase
	// untracked files are all that differs from the base: what a build left, or new files.
	untracked []string
	heads     *worktree.Overlay
	laid      *worktree.Laid // those of heads that differed
	files     []string       // of the commit
}

func (k *checkout) String() string { return k.what }

// baseOf opens the base in a worktree of its own: a commit, or where it is "" the
// merge base with the default branch. Errors of type [noBase] say why there is none.
func (s *Session) baseOf(ctx context.Context, commit string, tried bool) (b *base, err error) {
	k, err := s.findBase(ctx, commit)
	if err != nil {
		return nil, err
	}
	if k.heads, err = fromHead(ctx, s, k.Repository); err != nil {
		return nil, err
	}
	if err := k.add(ctx, s); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, k.remove(context.WithoutCancel(ctx)))
		}
	}()
	if err = k.verify(ctx, s.Env); err != nil {
		return nil, err
	}
	if k.laid, err = lay(ctx, s, k.Repository, k.heads, k.dir, false); err != nil {
		return nil, err
	}
	if k.built && k.laid != nil {
		k.laid.Names = k.record.FromHead // they are there already
	}
	if err := k.build(ctx, s); err != nil {
		return nil, err
	}
	b, err = s.openIn(ctx, k, tried, k.laid)
	if err == nil && k.sameOutputs() {
		b.session.Close()
		err = k.nothing(s)
	}
	if k.kept && ctx.Err() == nil && (!k.built || b != nil && len(b.session.Plan.builds(everySuite)) > 0) {
		k.keep()
	}
	return b, err
}

// findBase finds out which commit the base is.
func (s *Session) findBase(ctx context.Context, commit string) (*checkout, error) {
	dir, err := filepath.Abs(s.Plan.File.Dir)
	if err != nil {
		return nil, err
	}
	r := &worktree.Repository{Worker: s.worker, Dir: dir, Now: s.Now}
	head, err := r.Git(ctx, dir, "rev-parse", "--verify", "--quiet", "HEAD")
	if err != nil && commit != "" {
		return nil, noBase{text.OneLine(commit) + " is not a folder, and " + dir + " is in no git repository with a commit"}
	} else if err != nil {
		return nil, nothingToPair{noBase{dir + " is in no git repository with a commit"}}
	}
	k := &checkout{Repository: r}
	if k.prefix, err = r.Git(ctx, dir, "rev-parse", "--show-prefix"); err != nil {
		return nil, noBase{err.Error()}
	}
	if commit != "" {
		if k.commit, err = r.Git(ctx, dir, "rev-parse", "--verify", "--quiet", "--end-of-options", commit+"^{commit}"); err != nil {
			return nil, noBase{text.OneLine(commit) + " is neither a folder nor a commit"}
		}
		k.what = "commit " + ShortRevision(k.commit)
		return k, nil
	}
	return k, k.findMergeBase(ctx, s, head)
}

// findMergeBase settles where the branch under test left the default branch.
func (k *checkout) findMergeBase(ctx context.Context, s *Session, head string) (err error) {
	branch := k.defaultBranch(ctx)
	if branch == "" {
		k.commit, k.what = head, "HEAD "+ShortRevision(head)
	} else if k.commit, err = k.Git(ctx, k.Dir, "merge-base", "HEAD", branch); err != nil || k.commit == "" {
		return noBase{"git finds no merge base of HEAD and " + branch + ", as in a shallow checkout"}
	}
	if k.what == "" {
		k.what = fmt.Sprintf("the merge base with %s, %s", strings.TrimPrefix(strings.TrimPrefix(branch, "refs/heads/"), "refs/remotes/"),
			ShortRevision(k.commit))
	}
	if len(s.Plan.Options.EngineArgs()) > 0 {
		return nil
	}
	changed, untracked, err := k.changed(ctx, s)
	switch {
	case err == nil && !changed && len(untracked) == 0:
		return k.nothing(s)
	case !changed:
		k.untracked = untracked
	}
	return err
}

func (k *checkout) nothing(s *Session) error {
	s.NextBase, s.sameAs = abHead, k.what
	return nothingToPair{noBase{"nothing differs from " + k.what}}
}

// sameOutputs reports whether the built base has the untracked files that are all that
// differs from it, so that a build made them.
func (k *checkout) sameOutputs() bool {
	return len(k.untracked) > 0 && !slices.ContainsFunc(k.untracked, func(name string) bool {
		_, err := os.Lstat(filepath.Join(k.dir, filepath.FromSlash(name)))
		return err != nil
	})
}

// defaultBranch is the branch that work goes back to; "" if git does not say.
func (k *checkout) defaultBranch(ctx context.Context) string {
	dir := k.Dir
	if ref, err := k.Git(ctx, dir, "symbolic-ref", "--quiet", "refs/remotes/origin/HEAD"); err == nil {
		if _, err := k.Git(ctx, dir, "rev-parse", "--verify", "--quiet", ref); err == nil {
			return ref
		}
	}
	for _, ref := range []string{"refs/remotes/origin/main", "refs/remotes/origin/master", "refs/heads/main", "refs/heads/master"} {
		if _, err := k.Git(ctx, dir, "rev-parse", "--verify", "--quiet", ref); err == nil {
			return ref
		}
	}
	return ""
}

// changed reports whether files of git differ from the base's commit, and which files git
// neither has nor ignores, relative to the configuration's folder. Those that accelgate
// writes do not count: baselines, histories and results.
func (k *checkout) changed(ctx context.Context, s *Session) (changed bool, untracked []string, err error) {
	paths := []string{"--", ":/"}
	file := s.Plan.File
	for _, own := range []string{s.Plan.Options.Reference(file).Folder(), s.Plan.OutPath(""), file.Resolve(file.Policy.History)} {
		abs, err := filepath.Abs(own)
		if err != nil {
			return false, nil, err
		}
		if rel, err := filepath.Rel(k.Dir, abs); err == nil && filepath.IsLocal(rel) && rel != "." {
			paths = append(paths, ":(exclude)"+filepath.ToSlash(rel))
		}
	}
	names, err := k.Git(ctx, k.Dir, append([]string{"diff", "--name-only", "--no-ext-diff", k.commit}, paths...)...)
	if err != nil {
		return false, nil, noBase{err.Error()}
	}
	others, err := k.Git(
		ctx,
		k.Dir,
		append([]string{"-c", "core.quotePath=off", "ls-files", "--others", "--exclude-standard"}, paths...)...)
	if err != nil {
		return false, nil, noBase{err.Error()}
	}
	return names != "", strings.FieldsFunc(others, func(r rune) bool { return r == '\n' }), nil
}

const (
	checkoutPrefix = "accelgate-base-"
	checkoutTree   = "base"
)

// add makes the worktree, or takes the one that an earlier run built.
func (k *checkout) add(ctx context.Context, s *Session) (err error) {
	if _, err := k.RemoveStale(ctx, checkoutPrefix); err != nil {
		s.WarnAll([]string{err.Error()}) // the next run tries again
	}
	if k.reuse(ctx, s); k.folder == nil {
		if k.folder, err = k.Temporary(ctx, checkoutPrefix, "accelgate run"); err != nil {
			return err
		}
	}
	tree := filepath.Join(k.folder.Root, checkoutTree)
	if !k.built {
		tree, err = k.folder.Add(ctx, checkoutTree, k.commit)
	}
	if k.dir = filepath.Join(tree, filepath.FromSlash(k.prefix)); err == nil && !isDir(k.dir) {
		err = nothingToPair{noBase{"the base has no folder " + text.OneLine(k.prefix)}}
	}
	if err != nil {
		return errors.Join(err, k.discard(context.WithoutCancel(ctx)))
	}
	return nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// tree is the root of the worktree.
func (k *checkout) tree() string { return filepath.Join(k.folder.Root, checkoutTree) }

// verify lists the files of the commit. In CI, where the head has been built already, it refuses a worktree that is not
// its commit: git reads objects without a look at their ids.
func (k *checkout) verify(ctx context.Context, e *Env) (err error) {
	if !e.inCI() {
		k.files, err = k.Files(ctx, k.tree(), k.commit)
		return err
	}
	var changed []string
	if k.files, changed, err = k.Differences(ctx, k.tree(), k.commit); err != nil {
		return fmt.Errorf("compare the base with its commit: %w", err)
	}
	if len(changed) > 0 {
		return notEvidence{fmt.Sprintf("the worktree of %s is not that commit, because %s differs: clone the repository again",
			k.what, files(changed))}
	}
	return nil
}

// remove removes the worktree, or leaves a built one for the next run.
func (k *checkout) remove(ctx context.Context) error {
	if k.folder != nil && k.kept && k.built {
		k.folder.Release()
		return nil
	}
	return k.discard(ctx)
}

func (k *checkout) discard(ctx context.Context) error {
	if k.folder == nil {
		return nil
	}
	folder := k.folder
	k.folder = nil
	return folder.Remove(ctx)
}

// config is the base's own configuration; "" if it has none.
func (k *checkout) config(heads string) string {
	if piped(heads) {
		return ""
	}
	own := filepath.Join(k.dir, filepath.Base(heads))
	if _, err := os.Stat(own); err != nil {
		return ""
	}
	return own
}

// build builds both sides by the commands of the suites that are measured, so that
// one is not built in another way than the other.
func (k *checkout) build(ctx context.Context, s *Session) error {
	file, dir := s.Plan.File, s.Plan.File.Dir
	if _, err := build(ctx, s, file, dir, "the code under test"); err != nil {
		return unbuilt{err}
	}
	if k.built {
		return nil
	}
	if own := k.config(s.Plan.Options.Config); own != "" {
		loaded, err := config.Load(own)
		if err == nil {
			if file, err = s.placeBase(ctx, loaded); err != nil {
				return noBase{err.Error()}
			}
		}
	}
	commands, err := build(ctx, s, file, k.dir, "the base")
	if _, missing := os.Stat(filepath.Join(k.tree(), ".gitmodules")); err == nil && commands+len(s.Plan.builds(everySuite)) == 0 &&
		missing == nil {
		err = noBase{"the base has submodules, which no build command of a suite fetches"}
	}
	return err
}

// unbuilt says that the code under test cannot be built: there is nothing to measure,
// in pairs or without.
type unbuilt struct{ error }

// build runs the build commands of the suites that are measured, each once, and
// counts them.
func build(ctx context.Context, session *Session, file *config.File, dir, what string) (int, error) {
	var done [][]string
	for i := range file.Suites {
		s := &file.Suites[i]
		measured := slices.ContainsFunc(session.Plan.Suites, func(one Planned) bool { return one.Name == s.Name })
		if s.Build == nil || !s.Build.OnlyPairs || !measured ||
			slices.ContainsFunc(done, func(b []string) bool { return slices.Equal(b, s.Build.Command) }) {
			continue
		}
		response, err := session.worker.Do(ctx, worker.Request{Args: s.Build.Command, Dir: dir})
		if err != nil {
			return len(done), err
		}
		if !response.OK() {
			return len(done), noBase{
				fmt.Sprintf("%s cannot be built by %q: %s: %s", what, strings.Join(s.Build.Command, " "), response.Reason(),
					text.OneLine(text.Meaningful(strings.Split(response.Log, "\n")))),
			}
		}
		done = append(done, s.Build.Command)
	}
	return len(done), nil
}
