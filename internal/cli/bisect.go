package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/atomicfile"
	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/worker"
)

const bisectHelp = `Find the commit that made one cell slower, by git bisect. Nothing happens in your
checkout: two temporary worktrees hold the good commit and the one under test, and
the cell is measured in both alternately, by the configuration as it is here.

  accelgate bisect --good v1.2.0 --bad HEAD --only 'tiny__cpu__short_text__baseline' -- make
  accelgate bisect --good HEAD~20 --only '*tg128*' --metric decode_tps

What stands after -- builds a checkout, in the folder that the configuration has in
it; commands of the configuration must name what is built by relative paths. First
the bad commit must be slower than the good one, beyond noise. Then a commit is bad
if it has more than half of that slow-down, good if that can be excluded, and
skipped if it cannot be built, does not pass, or stays open after --attempts times
ten pairs.

Exit codes: 0 the commit was found, 2 wrong usage, 3 the bad commit is not slower,
or skipped commits are in the way.`

// bisect is what the command was asked for.
type bisect struct {
	options
	good, bad, only, metric string
	attempts                int
	build                   []string
}

func (c *Command) bisectCommand() *cobra.Command {
	var b bisect
	cmd := &cobra.Command{
		Use:   "bisect --good REV --only CELL [-- BUILD...]",
		Short: "Find the commit that made a cell slower",
		Long:  bisectHelp,
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if n := cmd.ArgsLenAtDash(); len(args) > 0 && n != 0 {
				return usagef("bisect takes no argument %q: write the build command after --", oneLine(args[0]))
			}
			b.build = args
			return c.bisect(cmd.Context(), &b)
		},
	}
	f := cmd.Flags()
	b.addConfig(f)
	f.StringVar(&b.good, "good", "", "`commit` before the slow-down (required)")
	f.StringVar(&b.bad, "bad", "HEAD", "`commit` that has it")
	f.StringVar(&b.only, "only", "", "the case `id`, or a glob that matches one (required)")
	f.StringVar(&b.metric, "metric", "", "the `metric` to compare (default: the cell's only gated one)")
	f.IntVar(&b.attempts, "attempts", 3, "up to `n` times ten pairs for a commit, before it is skipped")
	f.StringVar(&b.hostLabel, "host-label", "", "`label` of this host (default: as for run)")
	f.StringSliceVar(&b.devices, "devices", nil, "`ids` of accelerators, of which the first is used (default: as for run)")
	f.StringVar(&b.out, "out", "", "`folder` for the log of the bisection (default: "+defaultOut+"/bisect beside the configuration)")
	b.addModels(f)
	return cmd
}

func (b *bisect) check() error {
	const mostAttempts = 10
	switch {
	case b.good == "":
		return usagef("bisect: name a commit before the slow-down with --good")
	case b.only == "":
		return usagef("bisect: name a cell with --only: 'accelgate plan --list' prints the ids")
	case b.attempts < 1 || b.attempts > mostAttempts:
		return usagef("--attempts is %d: use 1 to %d", b.attempts, mostAttempts)
	}
	return b.options.check()
}

// bisect finds the commit.
func (c *Command) bisect(ctx context.Context, o *bisect) (err error) {
	if err := o.check(); err != nil {
		return err
	}
	b, r, err := c.newBisection(ctx, o)
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
		fmt.Fprintln(c.Stderr, "accelgate: worktrees that a killed bisect had left were removed")
	}
	t, err := r.trees(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Remove(context.WithoutCancel(ctx))) }()
	return c.search(ctx, b, t)
}

// newBisection settles what is searched for, as far as that is known before
// anything is built.
func (c *Command) newBisection(ctx context.Context, o *bisect) (*bisection, *repository, error) {
	file, _, err := o.read()
	if err != nil {
		return nil, nil, usageError{err}
	}
	dir, err := filepath.Abs(file.Dir)
	if err != nil {
		return nil, nil, err
	}
	r, err := openRepository(ctx, &worker.Isolated{Environ: os.Environ()}, dir, c.Now)
	if err != nil {
		return nil, nil, err
	}
	p := &plan{options: &o.options, file: file}
	b := &bisection{Only: o.only, Metric: o.metric, Build: o.build, Attempts: o.attempts, Prefix: r.prefix, HostLabel: c.label(p), Devices: c.deviceIDs(p)}
	for path, to := range map[string]*string{o.config: &b.Config, o.outPath(file, "bisect"): &b.State, o.modelDir: &b.ModelDir} {
		if path == "" {
			continue
		}
		if *to, err = filepath.Abs(path); err != nil {
			return nil, nil, err
		}
	}
	return b, r, c.findEnds(ctx, o, r, b)
}

// findEnds resolves both commits. The good one must be an ancestor of the other:
// git bisect would otherwise test where they parted, and mean something else by
// "good".
func (c *Command) findEnds(ctx context.Context, o *bisect, r *repository, b *bisection) (err error) {
	if b.Good, err = r.commit(ctx, "--good", o.good); err != nil {
		return err
	}
	if b.Bad, err = r.commit(ctx, "--bad", o.bad); err != nil {
		return err
	}
	if b.Good == b.Bad {
		return usagef("--good and --bad are the same commit: name one before the slow-down with --good")
	}
	if _, err := r.Git(ctx, r.Dir, "merge-base", "--is-ancestor", b.Good, b.Bad); err != nil {
		return usagef("%s is no ancestor of %s: use one, as 'git merge-base %s %s' finds; where the checkout is shallow, fetch the whole history first", shortRevision(b.Good), shortRevision(b.Bad), shortRevision(b.Good), shortRevision(b.Bad))
	}
	return nil
}

// search checks both ends, lets git bisect between them, and reports.
func (c *Command) search(ctx context.Context, b *bisection, t *trees) (err error) {
	if err := b.discardOld(); err != nil {
		return err
	}
	if b.GoodDir, err = t.Add(ctx, "good", b.Good); err != nil {
		return err
	}
	if b.HeadDir, err = t.Add(ctx, "head", b.Bad); err != nil {
		return err
	}
	if err := b.build(ctx, t.Worker, b.GoodDir); err != nil {
		return endError("--good", b.Good, err)
	}
	ends, metric, err := c.ends(ctx, b, t)
	if err != nil {
		return err
	}
	left, err := c.drive(ctx, b, t)
	if err != nil {
		return err
	}
	steps, err := readSteps(b.stepsPath())
	if err != nil {
		return err
	}
	steps[b.Bad] = step{Commit: b.Bad, Answer: stepBad, Evidence: &ends}
	return c.tellFound(ctx, b, t, left, steps, metric)
}

// endError says which end cannot be built.
func endError(flag, commit string, err error) error {
	var u unusable
	if errors.As(err, &u) {
		return fmt.Errorf("%s %s: %w; name another commit, or correct what stands after --", flag, shortRevision(commit), u.error)
	}
	return fmt.Errorf("%s %s: %w", flag, shortRevision(commit), err)
}

// ends demands that the bad commit is slower than the good one, and settles from
// which slow-down on a commit is bad.
func (c *Command) ends(ctx context.Context, b *bisection, t *trees) (e detect.Evidence, metric bench.Metric, err error) {
	if err := b.build(ctx, t.Worker, b.HeadDir); err != nil {
		return e, metric, endError("--bad", b.Bad, err)
	}
	contest, err := c.newContest(ctx, b)
	if err != nil {
		return e, metric, fmt.Errorf("compare %s with %s: %w", shortRevision(b.Bad), shortRevision(b.Good), err)
	}
	defer contest.close()
	metric, b.Cell, b.Metric = contest.metric, contest.base.cell.ID(), contest.metric.Name
	c.warnAll(contest.head.plan.warnings)
	if e, err = contest.judge(ctx, detect.Options{}, b.Attempts); err != nil {
		return e, metric, fmt.Errorf("compare %s with %s: %w", shortRevision(b.Bad), shortRevision(b.Good), err)
	}
	fmt.Fprintf(c.Stdout, "%s: bad %s against good %s: %s\n", oneLine(b.Cell), shortRevision(b.Bad), shortRevision(b.Good), contest.change(&e))
	switch {
	case e.Verdict == detect.Regressed:
	case decided(e.Verdict):
		return e, metric, fmt.Errorf("%s is not slower than %s (%s), so there is nothing to find: name an earlier commit with --good, another --metric, or a build command "+
			"after -- if programs must be built; commands of the configuration that name programs by absolute paths run the same ones in every checkout",
			shortRevision(b.Bad), shortRevision(b.Good), e.Verdict)
	default:
		return e, metric, fmt.Errorf("noise hides whether %s is slower than %s; as many pairs find slow-downs from %.1f %% on: quieten the host, or raise --attempts",
			shortRevision(b.Bad), shortRevision(b.Good), 100*e.MDE)
	}
	b.Limit = half(e.Estimate)
	return e, metric, errors.Join(t.Tidy(ctx, b.HeadDir), b.save())
}

// drive runs git bisect and returns the commits that may be the first bad one:
// one, unless skipped ones are in the way.
func (c *Command) drive(ctx context.Context, b *bisection, t *trees) (left []string, err error) {
	if _, err := t.Git(ctx, b.HeadDir, "bisect", "start", b.Bad, b.Good); err != nil {
		return nil, err
	}
	if left, err = t.suspects(ctx, b); err == nil && len(left) > 1 {
		err = c.bisectRun(ctx, b, t)
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
func (c *Command) bisectRun(ctx context.Context, b *bisection, t *trees) error {
	executable, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	isolated := &worker.Isolated{Environ: os.Environ()}
	process, err := isolated.Start(t.Request(b.HeadDir, "bisect", "run", executable, "bisect-step", b.path()))
	if err != nil {
		return err
	}
	follow(ctx, c.Stderr, process)
	response, err := process.Wait(ctx, 0)
	const onlySkipped = 2 // "There are only 'skip'ped commits left to test"
	if err == nil && !response.OK() && response.ExitCode != onlySkipped {
		err = fmt.Errorf("git bisect run: %s: %s", response.Reason(), oneLine(strings.TrimSpace(process.Log())))
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

// tellFound says what was found and what to type next.
func (c *Command) tellFound(ctx context.Context, b *bisection, t *trees, left []string, steps map[string]step, metric bench.Metric) error {
	subject := func(commit string) string {
		s, err := t.Git(ctx, t.Dir, "show", "--no-patch", "--format=%s", commit)
		if err != nil {
			return shortRevision(commit)
		}
		return shortRevision(commit) + " " + oneLine(s)
	}
	var skipped []step
	for _, s := range steps {
		if s.Answer == stepSkip {
			skipped = append(skipped, s)
		}
	}
	slices.SortFunc(skipped, func(a, b step) int { return strings.Compare(a.Commit, b.Commit) })
	fmt.Fprintf(c.Stdout, "%s in between, %d skipped; the answers to git are in %s\n", text.Plural(len(steps)-1, "step"), len(skipped), b.logPath())
	for _, s := range skipped {
		fmt.Fprintf(c.Stdout, "  skipped %s: %s\n", subject(s.Commit), oneLine(s.Reason))
	}
	if len(left) != 1 {
		for _, commit := range left {
			fmt.Fprintf(c.Stdout, "  may be it: %s\n", subject(commit))
		}
		return fmt.Errorf("the first bad commit is one of %d, of which those between could not be judged: mend what kept them from being built or measured, or raise --attempts", len(left))
	}
	found := steps[left[0]]
	if found.Evidence == nil {
		return fmt.Errorf("git bisect names %s, which no step judged: look at %s", shortRevision(left[0]), b.stepsPath())
	}
	_, err := fmt.Fprintf(c.Stdout, "First bad commit: %s\n  against %s: %s\nNext: git show %s\n", subject(left[0]), shortRevision(b.Good), bisected(found.Evidence, metric), left[0])
	return err
}
