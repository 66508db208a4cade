package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/reference/baseline"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/worker"
)

// update is what baseline update was asked for.
type update struct {
	options
	from, reason string
	force, all   bool
}

func (c *Command) updateCommand(code *int) *cobra.Command {
	var u update
	cmd := &cobra.Command{
		Use:   "update",
		Short: "Record this host's baseline from a run",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if err := u.recordable("accelgate baseline update", u.reason); err != nil {
				return err
			}
			*code, err = c.update(cmd.Context(), &u)
			return err
		},
	}
	u.addFlags(cmd.Flags())
	return cmd
}

// addFlags adds the flags of what is recorded, and why.
func (u *update) addFlags(f *pflag.FlagSet) {
	u.addConfig(f)
	u.addHost(f)
	u.addHistory(f)
	u.addPolicy(f)
	u.addMeasure(f)
	f.StringVar(&u.from, "from", "", "record this `run.json` in place of measuring")
	f.StringVar(&u.reason, "reason", "", "why the numbers move; kept with them (required)")
	f.BoolVar(&u.all, "all", false, "rewrite numbers that moved within their noise, too")
	f.BoolVar(&u.force, "force", false, "record even though the gate failed; cells that did not pass are never recorded")
}

// recordable refuses what must not be recorded, before anything is measured:
// numbers without a reason, and demonstrations.
func (o *options) recordable(command, reason string) error {
	if strings.TrimSpace(reason) == "" {
		return usagef("%s: a reason is required, because reviewers will ask for it: add --reason \"...\"", command)
	}
	if args := o.engineArgs(); len(args) > 0 {
		return usagef("a run that is made slow or wrong (%s) cannot be recorded: leave that out", strings.Join(args, " "))
	}
	return nil
}

func (c *Command) update(ctx context.Context, u *update) (int, error) {
	run, ref, accepted, err := c.toRecord(ctx, u)
	if err != nil || !accepted {
		return ExitGateFailed, err
	}
	c.warnUnwell(run, "measure")
	c.warnAll(c.ofAnotherCommit(ctx, u, run))
	recorded, err := c.record(ref, run, u.reason, u.all)
	if err != nil {
		return 0, err
	}
	if n := recorded.still(); n > 0 {
		fmt.Fprintf(c.Stdout, "%s moved within the noise and stay as they were; --all rewrites them too\n", text.Plural(n, "number"))
	}
	fmt.Fprintf(c.Stdout, "%s: %s recorded, %s new or changed\n", ref.path, text.Plural(recorded.cells, "cell"), text.Plural(len(recorded.changes)-recorded.still(), "metric"))
	err = next(c.Stdout, "review it, commit it, and judge", reviewed(ref.path), ref.typed.commands(c.Getenv, run.Host).Run)
	return ExitPassed, err
}

// ofAnotherCommit warns that the run to be recorded is of another commit than the
// one that is checked out. Where either is unknown there is no warning.
func (c *Command) ofAnotherCommit(ctx context.Context, u *update, run *bench.Run) []string {
	if u.from == "" || run.Revision == "" {
		return nil
	}
	response, err := (&worker.Isolated{Environ: os.Environ()}).Do(ctx, worker.Request{
		Args: []string{"git", "rev-parse", "HEAD"}, Dir: filepath.Dir(u.config), Timeout: 10 * time.Second})
	head := strings.TrimSpace(string(response.Stdout))
	if err != nil || !response.OK() || head == "" || strings.HasPrefix(head, run.Revision) {
		return nil
	}
	return []string{fmt.Sprintf("the run in %s is of commit %.12s, and %.12s is checked out: its numbers may not be those of this code; measure again, or record it on purpose",
		oneLine(u.from), oneLine(run.Revision), head)}
}

// toRecord gets a run and judges it. One that the gate failed is shown and not
// accepted, unless that was forced.
func (c *Command) toRecord(ctx context.Context, u *update) (run *bench.Run, ref reference, accepted bool, err error) {
	run, ref, policy, err := c.updateRun(ctx, u)
	if err != nil {
		return nil, ref, false, err
	}
	if err := genuine(run); err != nil {
		return nil, ref, false, err
	}
	j := c.judge([]*bench.Run{run}, []reference{ref}, policy, report.Input{Config: u.config, Revision: run.Revision})
	if j.decision.Status != gate.StatusFailed { // what only warns must not become the measure by itself
		fixed := policy
		fixed.Method = gate.MethodThreshold
		j = c.judge([]*bench.Run{run}, []reference{ref}, fixed, report.Input{Config: u.config, Revision: run.Revision})
	}
	if u.force || j.decision.Status != gate.StatusFailed {
		return run, ref, true, nil
	}
	fmt.Fprintf(c.Stderr, "accelgate: not recorded, because the gate failed; mend it, or add --force to record what passed\n")
	return run, ref, false, c.render(c.Stdout, "terminal", j)
}

// genuine refuses the run of a demonstration.
func genuine(run *bench.Run) error {
	if args, ok := run.Context[demonstration]; ok {
		return usagef("the run was made slow or wrong (%s), so it cannot be recorded: measure without that", oneLine(args))
	}
	return nil
}

// updateRun gets the run: measured now, or from a file.
func (c *Command) updateRun(ctx context.Context, u *update) (*bench.Run, reference, gate.Policy, error) {
	if u.from != "" {
		return u.readRun()
	}
	p, err := c.plan(ctx, &u.options)
	if err != nil {
		return nil, reference{}, gate.Policy{}, err
	}
	defer p.close()
	ref, err := u.recorded(p.file, p.host.Label)
	if err != nil {
		return nil, reference{}, p.policy, err
	}
	run, err := c.measure(ctx, p, nil)
	return run, ref, p.policy, err
}

// readRun gets the run and its host's baseline from files.
func (u *update) readRun() (*bench.Run, reference, gate.Policy, error) {
	file, policy, err := u.load()
	if err != nil {
		return nil, reference{}, policy, err
	}
	run, err := readRun(u.from)
	if err != nil {
		return nil, reference{}, policy, err
	}
	ref, err := u.recorded(file, run.Host.Label)
	return run, ref, policy, err
}

// recorded is what a refresh wrote.
type recorded struct {
	before  *baseline.File // nil where the file is new
	file    *baseline.File
	changes []baseline.Change
	cells   int
}

// record merges a run into its host's baseline and saves it.
func (c *Command) record(ref reference, run *bench.Run, reason string, all bool) (r recorded, err error) {
	if err := genuine(run); err != nil {
		return r, err
	}
	r.before = ref.file
	if r.file, r.changes, err = baseline.Update(ref.file, run, baseline.UpdateOptions{Reason: reason, Now: c.Now(), All: all}); err != nil {
		return r, err
	}
	for i := range run.Results {
		switch one := &run.Results[i]; {
		case one.Outcome != bench.Passed:
		case run.Impossible(one) != "":
			c.warnAll([]string{oneLine(one.Cell.ID()) + " is not recorded: " + oneLine(run.Impossible(one))})
		case one.Doubt != "":
			c.warnAll([]string{oneLine(one.Cell.ID()) + " is not recorded, because its numbers are doubtful: " + oneLine(one.Doubt)})
		default:
			r.cells++
		}
	}
	return r, baseline.Save(ref.path, r.file)
}

// still counts the numbers that stay because they moved within their noise.
func (r recorded) still() (n int) {
	for _, c := range r.changes {
		if c.Kind == baseline.Still {
			n++
		}
	}
	return n
}

// unchanged reports whether the file would say the same again, but for when.
func (r recorded) unchanged() bool {
	return r.before != nil && len(r.changes) == r.still() && r.before.Fingerprint != nil && r.file.Fingerprint != nil && reflect.DeepEqual(*r.before.Fingerprint, *r.file.Fingerprint)
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
		if c.Kind == baseline.Added || c.Kind == baseline.Changed {
			h.Changes = append(h.Changes, report.Change{Cell: c.CaseID, Metric: c.Metric, Unit: c.Unit, Better: c.Better, Old: c.Old, New: c.New, HasOld: c.HasOld,
				Noise: c.Noise, OldN: c.OldN, NewN: c.NewN})
		}
	}
	h.Still = r.still()
	return h
}
