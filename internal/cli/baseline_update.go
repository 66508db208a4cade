package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/record"
	"github.com/accelgate/accelgate/internal/reference/baseline"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/verdict"
	"github.com/accelgate/accelgate/internal/worker"
)

// update is what baseline update was asked for.
type update struct {
	measure.Options
	from, reason string
	force, all   bool
	dry          bool
}

func (c *Command) updateCommand(code *int) *cobra.Command {
	var u update
	cmd := &cobra.Command{
		Use:   "update",
		Short: "Record this host's baseline from a run",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if err := record.Recordable(&u.Options, "accelgate baseline update", u.reason); err != nil {
				return err
			}
			*code, err = c.update(cmd.Context(), &u)
			return err
		},
	}
	u.addFlags(cmd.Flags())
	return cmd
}

// addFlags adds the flags of the recording and its reason.
func (u *update) addFlags(f *pflag.FlagSet) {
	addConfig(&u.Options, f)
	addHost(&u.Options, f)
	addHistory(&u.Options, f)
	addPolicy(&u.Options, f)
	addMeasure(&u.Options, f)
	f.StringVar(&u.from, "from", "", "record this `run.json` in place of measuring")
	f.StringVar(&u.reason, "reason", "", "why the numbers move; kept with them (required)")
	f.BoolVar(&u.all, "within-noise", false, "rewrite numbers that moved within their noise, too")
	f.BoolVar(&u.force, "force", false, "record even though the gate failed; cells that did not pass are never recorded")
	f.BoolVar(&u.dry, "dry-run", false, "print what would be recorded and write nothing but the run")
}

func (c *Command) update(ctx context.Context, u *update) (int, error) {
	run, ref, accepted, err := c.toRecord(ctx, u)
	if err != nil || !accepted {
		return exit.GateFailed, err
	}
	c.env().WarnUnwell(run, "measure")
	c.warnAll(c.ofAnotherCommit(ctx, u, run))
	write, done := record.Record, "recorded"
	if u.dry {
		write, done = record.Preview, "would be recorded"
	}
	recorded, err := write(c.env(), ref, run, u.reason, u.all)
	if err != nil {
		return 0, err
	}
	if n := recorded.Still(); n > 0 {
		fmt.Fprintf(c.Stdout, "%s moved within the noise and stay as they were; --within-noise rewrites them too\n", text.Plural(n, "number"))
	}
	fmt.Fprintf(c.Stdout, "%s: %s %s, %s new or changed\n", ref.Path, text.Plural(recorded.Cells, "cell"), done, text.Plural(len(recorded.Changes)-recorded.Still(), "metric"))
	if u.dry {
		return exit.Passed, c.printChanges(recorded.Changes)
	}
	err = verdict.Next(c.Stdout, "review it, commit it, and judge", verdict.Reviewed(ref.Path), ref.Typed.Commands(c.Getenv, run.Host).Run)
	return exit.Passed, err
}

// printChanges prints the numbers that a dry run would write.
func (c *Command) printChanges(changes []baseline.Change) error {
	for i := range changes {
		if of := &changes[i]; of.Kind != baseline.Still {
			if _, err := fmt.Fprintf(c.Stdout, "%s  %s  %s\n", text.OneLine(of.CaseID), text.OneLine(of.Metric), moved(of)); err != nil {
				return err
			}
		}
	}
	return nil
}

// ofAnotherCommit warns that the run to be recorded is of another commit than the
// one that is checked out. Where either is unknown there is no warning.
func (c *Command) ofAnotherCommit(ctx context.Context, u *update, run *bench.Run) []string {
	if u.from == "" || run.Revision == "" {
		return nil
	}
	response, err := (&worker.Isolated{Environ: os.Environ()}).Do(ctx, worker.Request{
		Args: []string{"git", "rev-parse", "HEAD"}, Dir: filepath.Dir(u.Config), Timeout: 10 * time.Second})
	head := strings.TrimSpace(string(response.Stdout))
	if err != nil || !response.OK() || head == "" || strings.HasPrefix(head, run.Revision) {
		return nil
	}
	return []string{fmt.Sprintf("the run in %s is of commit %.12s, and %.12s is checked out: its numbers may not be those of this code; measure again, or record it on purpose",
		text.OneLine(u.from), text.OneLine(run.Revision), head)}
}

// toRecord gets a run and judges it. One that the gate failed is shown and not
// accepted, unless that was forced.
func (c *Command) toRecord(ctx context.Context, u *update) (run *bench.Run, ref verdict.Reference, accepted bool, err error) {
	run, ref, policy, err := c.updateRun(ctx, u)
	if err != nil {
		return nil, ref, false, err
	}
	if err := record.Genuine(run); err != nil {
		return nil, ref, false, err
	}
	j := verdict.Judge(c.env(), []*bench.Run{run}, []verdict.Reference{ref}, policy, report.Input{Config: u.Config, Revision: run.Revision})
	if j.Decision.Status != gate.StatusFailed { // what only warns must not become the measure by itself
		fixed := policy
		fixed.Method = gate.MethodThreshold
		j = verdict.Judge(c.env(), []*bench.Run{run}, []verdict.Reference{ref}, fixed, report.Input{Config: u.Config, Revision: run.Revision})
	}
	if u.force || j.Decision.Status != gate.StatusFailed {
		return run, ref, true, nil
	}
	fmt.Fprintf(c.Stderr, "accelgate: not recorded, because the gate failed; fix it, or add --force to record what passed\n")
	return run, ref, false, verdict.Render(c.env(), c.Stdout, "terminal", j)
}

// updateRun gets the run: measured now, or from a file.
func (c *Command) updateRun(ctx context.Context, u *update) (*bench.Run, verdict.Reference, gate.Policy, error) {
	if u.from != "" {
		return u.readRun(c.env())
	}
	p, err := c.env().Plan(ctx, &u.Options)
	if err != nil {
		return nil, verdict.Reference{}, gate.Policy{}, err
	}
	defer p.Close()
	ref, err := verdict.RecordedFor(&u.Options, p.File, p.Host.Label)
	if err != nil {
		return nil, verdict.Reference{}, p.Policy, err
	}
	run, err := c.env().Measure(ctx, p, nil)
	return run, ref, p.Policy, err
}

// readRun gets the run and its host's baseline from files.
func (u *update) readRun(env *measure.Env) (*bench.Run, verdict.Reference, gate.Policy, error) {
	file, policy, err := env.Load(&u.Options)
	if err != nil {
		return nil, verdict.Reference{}, policy, err
	}
	run, err := measure.ReadRun(u.from)
	if err != nil {
		return nil, verdict.Reference{}, policy, err
	}
	ref, err := verdict.RecordedFor(&u.Options, file, run.Host.Label)
	return run, ref, policy, err
}
