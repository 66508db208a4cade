// Package bisect finds the commit that made a cell slower, by git bisect, with the
// good commit and each candidate measured in pairs.
package bisect

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/atomicfile"
	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/worker"
)

// Options is what the command was asked for.
type Options struct {
	measure.HostOptions
	measure.MeasureOptions
	Good, Bad, Only, Metric string
	Attempts                int
	Build                   []string
}

func (b *Options) check() error {
	const maxAttempts = 10
	switch {
	case b.Good == "":
		return exit.Usagef("bisect: name a commit before the slow-down with --good")
	case b.Only == "":
		return exit.Usagef("bisect: name a cell with --only: 'accelgate plan --list' prints the ids")
	case b.Attempts < 1 || b.Attempts > maxAttempts:
		return exit.Usagef("--attempts is %d: use 1 to %d", b.Attempts, maxAttempts)
	}
	return nil
}

// Run finds the commit.
func Run(ctx context.Context, e *measure.Env, o *Options) (err error) {
	if err := o.check(); err != nil {
		return err
	}
	b, r, err := newBisection(ctx, e, o)
	if err != nil {
		return err
	}
	lock, err := r.lock(ctx)
	if err != nil {
		return err
	}
	defer lock.Release()
	worker.EndStale()
	if stale, err := r.RemoveStale(ctx, treesPrefix); err != nil {
		return err
	} else if stale > 0 {
		fmt.Fprintln(e.Stderr, "accelgate: worktrees that a killed bisect had left were removed")
	}
	t, err := r.trees(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Remove(context.WithoutCancel(ctx))) }()
	return search(ctx, e, b, t)
}

// newBisection settles what is searched for, as far as that is known before
// anything is built.
func newBisection(ctx context.Context, e *measure.Env, o *Options) (*bisection, *repository, error) {
	c, err := e.Configure(&measure.Options{HostOptions: o.HostOptions, MeasureOptions: o.MeasureOptions})
	if err != nil {
		return nil, nil, err
	}
	dir, err := filepath.Abs(c.File.Dir)
	if err != nil {
		return nil, nil, err
	}
	r, err := openRepository(ctx, &worker.Isolated{Environ: e.Environ}, dir, e.Now)
	if err != nil {
		return nil, nil, err
	}
	b := &bisection{
		Only:      o.Only,
		Metric:    o.Metric,
		Build:     o.Build,
		Attempts:  o.Attempts,
		Prefix:    r.prefix,
		HostLabel: e.Label(&c),
		Devices:   e.DeviceIDs(&c),
	}
	for path, to := range map[string]*string{o.Config: &b.Config, c.OutPath("bisect"): &b.State, o.ModelDir: &b.ModelDir} {
		if path == "" {
			continue
		}
		if *to, err = filepath.Abs(path); err != nil {
			return nil, nil, err
		}
	}
	return b, r, findEnds(ctx, o, r, b)
}

// findEnds resolves both commits. The good one must be an ancestor of the other:
// git bisect would otherwise test where they parted, and mean something else by
// "good".
func findEnds(ctx context.Context, o *Options, r *repository, b *bisection) (err error) {
	if b.Good, err = r.commit(ctx, "--good", o.Good); err != nil {
		return err
	}
	if b.Bad, err = r.commit(ctx, "--bad", o.Bad); err != nil {
		return err
	}
	if b.Good == b.Bad {
		return exit.Usagef("--good and --bad are the same commit: name one before the slow-down with --good")
	}
	if _, err := r.Git(ctx, r.Dir, "merge-base", "--is-ancestor", b.Good, b.Bad); err != nil {
		return exit.Usagef(
			"%s is not an ancestor of %s: use one, as 'git merge-base %s %s' finds; where the checkout is shallow, fetch the whole history first",
			measure.ShortRevision(b.Good), measure.ShortRevision(b.Bad), measure.ShortRevision(b.Good), measure.ShortRevision(b.Bad))
	}
	return nil
}

// search checks both ends, lets git bisect between them, and reports.
func search(ctx context.Context, e *measure.Env, b *bisection, t *trees) (err error) {
	if err := b.discardOld(); err != nil {
		return err
	}
	if b.GoodDir, err = t.Add(ctx, "good", b.Good); err != nil {
		return err
	}
	if b.HeadDir, err = t.Add(ctx, "head", b.Bad); err != nil {
		return err
	}
	end := e.Progress.Begin("build " + measure.ShortRevision(b.Good))
	err = b.build(ctx, t.Worker, b.GoodDir)
	end()
	if err != nil {
		return endError("--good", b.Good, err)
	}
	ends, metric, err := ends(ctx, e, b, t)
	if err != nil {
		return err
	}
	end = e.Progress.Begin("git bisect, " + measure.ShortRevision(b.Good) + " to " + measure.ShortRevision(b.Bad))
	left, err := drive(ctx, e, b, t)
	end()
	if err != nil {
		return err
	}
	steps, err := readSteps(b.stepsPath())
	if err != nil {
		return err
	}
	steps[b.Bad] = step{Commit: b.Bad, Answer: stepBad, Evidence: &ends}
	return printFound(ctx, e, b, t, left, steps, metric)
}

// endError returns which end cannot be built.
func endError(flag, commit string, err error) error {
	var u unusable
	if errors.As(err, &u) {
		return fmt.Errorf("%s %s: %w; name another commit, or correct what stands after --", flag, measure.ShortRevision(commit), u.error)
	}
	return fmt.Errorf("%s %s: %w", flag, measure.ShortRevision(commit), err)
}

// ends demands that the bad commit is slower than the good one, and settles from
// which slow-down on a commit is bad.
func ends(ctx context.Context, env *measure.Env, b *bisection, t *trees) (e detect.Evidence, metric bench.Metric, err error) {
	end := env.Progress.Begin("build and measure " + measure.ShortRevision(b.Bad) + " and " + measure.ShortRevision(b.Good))
	defer end()
	if err := b.build(ctx, t.Worker, b.HeadDir); err != nil {
		return e, metric, endError("--bad", b.Bad, err)
	}
	pairs, err := newPairRun(ctx, env, b)
	if err != nil {
		return e, metric, fmt.Errorf("compare %s with %s: %w", measure.ShortRevision(b.Bad), measure.ShortRevision(b.Good), err)
	}
	defer pairs.close()
	metric, b.Cell, b.Metric = pairs.metric, pairs.base.cell.ID(), pairs.metric.Name
	env.WarnAll(pairs.head.session.Plan.Warnings)
	if e, err = pairs.judge(ctx, detect.Options{}, b.Attempts); err != nil {
		return e, metric, fmt.Errorf("compare %s with %s: %w", measure.ShortRevision(b.Bad), measure.ShortRevision(b.Good), err)
	}
	end() // what follows is on standard output
	fmt.Fprintf(env.Stdout, "%s: bad %s against good %s: %s\n", text.OneLine(b.Cell), measure.ShortRevision(b.Bad),
		measure.ShortRevision(b.Good), pairs.change(&e))
	switch {
	case e.Verdict == detect.Regressed:
	case decided(e.Verdict):
		return e, metric, fmt.Errorf(
			"%s is not slower than %s (%s), so there is nothing to find: name an earlier commit with --good, another --metric, or a build command "+
				"after -- if programs must be built; commands of the configuration that name programs by absolute paths run the same ones in every checkout",
			measure.ShortRevision(b.Bad), measure.ShortRevision(b.Good), e.Verdict)
	default:
		return e, metric, fmt.Errorf(
			"noise hides whether %s is slower than %s; as many pairs find slow-downs from %.1f %% on: quieten the host, or raise --attempts",
			measure.ShortRevision(b.Bad), measure.ShortRevision(b.Good), 100*e.MDE)
	}
	b.Limit = half(e.Estimate)
	return e, metric, errors.Join(t.Tidy(ctx, b.HeadDir), b.save())
}

// drive runs git bisect and returns the commits that may be the first bad one:
// one, unless skipped ones are in the way.
func drive(ctx context.Context, e *measure.Env, b *bisection, t *trees) (left []string, err error) {
	if _, err := t.Git(ctx, b.HeadDir, "bisect", "start", b.Bad, b.Good); err != nil {
		return nil, err
	}
	if left, err = t.suspects(ctx, b); err == nil && len(left) > 1 {
		err = bisectRun(ctx, e, b, t)
	}
	if err != nil {
		return nil, err
	}
	log, err := t.Git(ctx, b.HeadDir, "bisect", "log")
	if err == nil {
		err = atomicfile.Write(b.logPath(), []byte(log+"\n"))
	}
	if err != nil {
		return nil, err
	}
	return t.suspects(ctx, b)
}

// bisectRun lets git choose commits and this program judge them.
func bisectRun(ctx context.Context, e *measure.Env, b *bisection, t *trees) error {
	executable, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	isolated := &worker.Isolated{Environ: e.Environ}
	process, err := isolated.Start(t.Request(b.HeadDir, "bisect", "run", executable, "bisect-step", b.path()))
	if err != nil {
		return err
	}
	follow(ctx, e.Stderr, process)
	response, err := process.Wait(ctx, 0)
	const onlySkipped = 2 // "There are only 'skip'ped commits left to test"
	if err == nil && !response.OK() && response.ExitCode != onlySkipped {
		err = fmt.Errorf("git bisect run: %s: %s", response.Reason(), text.OneLine(strings.TrimSpace(process.Log())))
	}
	return err
}

// suspects lists the commits that are reachable from what is known to be bad and
// from nothing that is known to be good, the newest first.
func (t *trees) suspects(ctx context.Context, b *bisection) ([]string, error) {
	refs, err := t.Git(ctx, b.HeadDir, "for-each-ref", "--format=%(refname) %(objectname)", "refs/bisect/")
	if err != nil {
		return nil, err
	}
	args := []string{"rev-list", "--topo-order"}
	for line := range strings.Lines(refs) {
		switch name, sha, _ := strings.Cut(strings.TrimSpace(line), " "); {
		case name == "refs/bisect/bad":
			args = append(args, sha)
		case strings.HasPrefix(name, "refs/bisect/good-"):
			args = append(args, "^"+sha)
		}
	}
	list, err := t.Git(ctx, b.HeadDir, args...)
	return strings.Fields(list), err
}

// printFound prints what was found and what to type next.
func printFound(ctx context.Context, e *measure.Env, b *bisection, t *trees, left []string, steps map[string]step,
	metric bench.Metric) error {
	subject := func(commit string) string {
		s, err := t.Git(ctx, t.Dir, "show", "--no-patch", "--format=%s", commit)
		if err != nil {
			return measure.ShortRevision(commit)
		}
		return measure.ShortRevision(commit) + " " + text.OneLine(s)
	}
	var skipped []step
	for _, s := range steps {
		if s.Answer == stepSkip {
			skipped = append(skipped, s)
		}
	}
	slices.SortFunc(skipped, func(a, b step) int { return strings.Compare(a.Commit, b.Commit) })
	fmt.Fprintf(e.Stdout, "%s in between, %d skipped; the answers to git are in %s\n", text.Plural(len(steps)-1, "step"), len(skipped),
		b.logPath())
	for _, s := range skipped {
		fmt.Fprintf(e.Stdout, "  skipped %s: %s\n", subject(s.Commit), text.OneLine(s.Reason))
	}
	if len(left) != 1 {
		for _, commit := range left {
			fmt.Fprintf(e.Stdout, "  may be it: %s\n", subject(commit))
		}
		return fmt.Errorf(
			"the first bad commit is one of %d, of which those between could not be judged: fix what kept them from being built or measured, or raise --attempts",
			len(left))
	}
	found := steps[left[0]]
	if found.Evidence == nil {
		return fmt.Errorf("git bisect names %s, which no step judged: look at %s", measure.ShortRevision(left[0]), b.stepsPath())
	}
	_, err := fmt.Fprintf(e.Stdout, "First bad commit: %s\n  against %s: %s\nNext: git show %s\n", subject(left[0]),
		measure.ShortRevision(b.Good), bisected(found.Evidence, metric), left[0])
	return err
}
