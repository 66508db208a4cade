package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/baseline"
	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/report"
)

const baselineHelp = `Baselines are committed files, one a host, and reviewed like code.

  accelgate baseline update --reason "first"                    measure and record
  accelgate baseline update --from run.json --reason "faster"   record a finished run
  accelgate baseline show                                       print this host's
  accelgate baseline lint                                       check all files
  accelgate baseline prune --dry-run                            what the configuration no longer has`

func (c *Command) baselineCommand(code *int) *cobra.Command {
	parent := &cobra.Command{
		Use:   "baseline",
		Short: "Record, show, check and prune baselines",
		Long:  baselineHelp,
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return usagef("accelgate baseline: name a command: update, show, lint or prune; see 'accelgate baseline --help'")
		},
	}
	parent.AddCommand(c.updateCommand(code), c.showCommand(), c.lintCommand(code), c.pruneCommand())
	return parent
}

// update is what baseline update was asked for.
type update struct {
	options
	from, reason string
	force        bool
}

func (c *Command) updateCommand(code *int) *cobra.Command {
	var u update
	cmd := &cobra.Command{
		Use:   "update",
		Short: "Record this host's baseline from a run",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if strings.TrimSpace(u.reason) == "" {
				return usagef("accelgate baseline update: a reason is required, because reviewers will ask for it: add --reason \"...\"")
			}
			*code, err = c.update(cmd.Context(), &u)
			return err
		},
	}
	f := cmd.Flags()
	u.addConfig(f)
	u.addHost(f)
	u.addPolicy(f)
	u.addMeasure(f)
	f.StringVar(&u.from, "from", "", "record this `run.json` in place of measuring")
	f.StringVar(&u.reason, "reason", "", "why the baseline moves; kept in the file (required)")
	f.BoolVar(&u.force, "force", false, "record even though the gate failed; cells that did not pass are never recorded")
	return cmd
}

func (c *Command) update(ctx context.Context, u *update) (int, error) {
	run, ref, policy, err := c.updateRun(ctx, u)
	if err != nil {
		return 0, err
	}
	j := c.judge([]*bench.Run{run}, []reference{ref}, policy, report.Input{Config: u.config, Revision: run.Revision})
	if !u.force && j.decision.Status == gate.StatusFailed {
		fmt.Fprintf(c.Stderr, "accelgate: not recorded, because the gate failed; mend it, or add --force to record the cells that passed\n")
		return ExitGateFailed, c.render(c.Stdout, "terminal", j)
	}
	recorded, err := c.record(ref, run, u.reason)
	if err != nil {
		return 0, err
	}
	_, err = fmt.Fprintf(c.Stdout, "%s: %d cells recorded, %d metrics new or changed\nNext: review it with 'git diff', commit it, and judge with 'accelgate run'\n",
		ref.path, recorded.cells, len(recorded.changes))
	return ExitPassed, err
}

// updateRun gets the run: measured now, or from a file.
func (c *Command) updateRun(ctx context.Context, u *update) (*bench.Run, reference, gate.Policy, error) {
	if u.from != "" {
		file, policy, err := u.load()
		if err != nil {
			return nil, reference{}, policy, err
		}
		runs, refs, err := u.readRuns(file, []string{u.from})
		if err != nil {
			return nil, reference{}, policy, err
		}
		return runs[0], refs[0], policy, nil
	}
	p, err := c.plan(ctx, &u.options)
	if err != nil {
		return nil, reference{}, gate.Policy{}, err
	}
	defer p.close()
	ref, err := loadReference(p.baselinePath(), p.host.Label)
	if err != nil {
		return nil, reference{}, p.policy, err
	}
	run, err := c.measure(ctx, p)
	return run, ref, p.policy, err
}

// recorded is what a refresh wrote.
type recorded struct {
	before  *baseline.File // nil where the file is new
	file    *baseline.File
	changes []baseline.Change
	cells   int
}

// record merges a run into its host's baseline and saves it.
func (c *Command) record(ref reference, run *bench.Run, reason string) (r recorded, err error) {
	if args, ok := run.Context[demonstration]; ok {
		return r, usagef("the run was told to be slow or wrong (%s), so it cannot become a baseline: measure without that", oneLine(args))
	}
	r.before = ref.file
	if r.file, r.changes, err = baseline.Update(ref.file, run, baseline.UpdateOptions{Reason: reason, Now: c.Now()}); err != nil {
		return r, err
	}
	for i := range run.Results {
		if run.Results[i].Outcome == bench.Passed {
			r.cells++
		}
	}
	return r, baseline.Save(ref.path, r.file)
}

// forReport says what changed in the words of the report.
func (r recorded) forReport(host, path string) report.HostChanges {
	h := report.HostChanges{Host: host, Path: path}
	if r.before != nil {
		h.Before = r.before.Fingerprint
	}
	if r.file.Fingerprint != nil {
		h.After = *r.file.Fingerprint
	}
	for _, c := range r.changes {
		if c.Kind != baseline.Removed {
			h.Changes = append(h.Changes, report.Change{Cell: c.CaseID, Metric: c.Metric, Unit: c.Unit, Better: c.Better, Old: c.Old, New: c.New, HasOld: c.HasOld})
		}
	}
	return h
}

func (c *Command) showCommand() *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "show [FILE]",
		Short: "Print a baseline",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := c.choosePath(cmd.Context(), &o, args)
			if err != nil {
				return err
			}
			file, err := baseline.Load(path)
			if err != nil {
				return missingBaseline(err)
			}
			return show(c.Stdout, path, file)
		},
	}
	o.addConfig(cmd.Flags())
	o.addHost(cmd.Flags())
	return cmd
}

// choosePath is the file named, or the one of this host.
func (c *Command) choosePath(ctx context.Context, o *options, args []string) (string, error) {
	if len(args) == 1 {
		return args[0], nil
	}
	p, err := c.plan(ctx, o)
	if err != nil {
		return "", err
	}
	defer p.close()
	return p.baselinePath(), nil
}

func missingBaseline(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w; record one with 'accelgate baseline update --reason TEXT'", err)
	}
	return err
}

func show(w io.Writer, path string, file *baseline.File) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	ref := file.Run()
	fmt.Fprintf(t, "%s\nhost\t%s\ndevice\t%s\ncaptured\t%s\ncommit\t%s\n", path, oneLine(ref.Host.Label), oneLine(ref.Host.Device()),
		file.CapturedAt.Format("2006-01-02 15:04 MST"), oneLine(ref.Revision))
	if file.Notes != nil {
		fmt.Fprintf(t, "notes\t%s\n", oneLine(*file.Notes))
	}
	fmt.Fprintf(t, "\ncase\toutcome\tmetric\tmedian\tMAD\tn\tunit\n")
	for i := range ref.Results {
		r := &ref.Results[i]
		if len(r.Samples) == 0 {
			fmt.Fprintf(t, "%s\t%s\n", oneLine(r.Cell.ID()), r.Outcome)
		}
		for _, s := range r.Samples {
			unit := ""
			if m := ref.Metric(s.Metric); m != nil {
				unit = m.Unit
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%.5g\t%.3g\t%d\t%s\n", oneLine(r.Cell.ID()), r.Outcome, oneLine(s.Metric), s.Summary.Median, s.Summary.MAD, s.Summary.N, oneLine(unit))
		}
	}
	return t.Flush()
}

func (c *Command) lintCommand(code *int) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "lint [FILE...]",
		Short: "Check baselines for what goes wrong in them",
		RunE: func(_ *cobra.Command, args []string) (err error) {
			*code, err = c.lint(&o, args)
			return err
		},
	}
	o.addConfig(cmd.Flags())
	return cmd
}

// lint checks the files named, or all in the configuration's folder. Errors
// make it fail; warnings are printed only.
func (c *Command) lint(o *options, paths []string) (int, error) {
	if len(paths) == 0 {
		file, _, err := o.load()
		if err != nil {
			return 0, err
		}
		dir := filepath.Dir(o.baselinePath(file, "x"))
		if paths, err = filepath.Glob(filepath.Join(dir, "baseline-*.json")); err != nil || len(paths) == 0 {
			return 0, fmt.Errorf("%s holds no baseline: record one with 'accelgate baseline update --reason TEXT'", dir)
		}
	}
	code := ExitPassed
	for _, path := range paths {
		file, err := baseline.Load(path)
		if err != nil {
			return 0, missingBaseline(err)
		}
		problems := baseline.Lint(path, file, c.Now())
		for _, p := range problems {
			fmt.Fprintln(c.Stdout, p)
			if p.Severity == baseline.SeverityError {
				code = ExitGateFailed
			}
		}
		fmt.Fprintf(c.Stdout, "%s: %d entries, %d problems\n", path, len(file.Entries), len(problems))
	}
	return code, nil
}

func (c *Command) pruneCommand() *cobra.Command {
	var o options
	var dry bool
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Remove entries of cells that the configuration no longer has",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return c.prune(cmd.Context(), &o, dry) },
	}
	o.addConfig(cmd.Flags())
	o.addHost(cmd.Flags())
	cmd.Flags().BoolVar(&dry, "dry-run", false, "print what would be removed and write nothing")
	return cmd
}

func (c *Command) prune(ctx context.Context, o *options, dry bool) error {
	p, err := c.plan(ctx, o)
	if err != nil {
		return err
	}
	defer p.close()
	file, err := baseline.Load(p.baselinePath())
	if err != nil {
		return missingBaseline(err)
	}
	has := map[string]bool{}
	for _, s := range p.suites {
		for _, cell := range s.cells {
			has[cell.ID()] = true
		}
	}
	kept, removed := baseline.Prune(file, func(id string) bool { return has[id] })
	for _, id := range removed {
		fmt.Fprintf(c.Stdout, "remove %s\n", oneLine(id))
	}
	fmt.Fprintf(c.Stdout, "%s: %d of %d entries removed\n", p.baselinePath(), len(removed), len(file.Entries))
	if dry || len(removed) == 0 {
		return nil
	}
	return baseline.Save(p.baselinePath(), kept)
}
