package cli

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/record"
)

const refreshCasesHelp = `Write measured times and operators back to the case files. Only numbers change
(and the name of an operator where another one now stands): order, layout and
every other byte of a file stay. The reason is kept in history.jsonl beside them.

  accelgate cases refresh --reason "new attention kernel" --only 'qwen3-*'
  accelgate cases refresh --reason "new attention kernel" --from .accelgate/run.json

baseline_time_s and operators are renewed; initial_time_s, the base of drift,
only with --initial-times or where a case has no time at all. Cases that did not
pass are never recorded.`

// caseRefresh is what cases refresh was asked for.
type caseRefresh struct {
	update
	initial bool
}

func (c *Command) refreshCasesCommand(code *int) *cobra.Command {
	var r caseRefresh
	cmd := &cobra.Command{
		Use:   "refresh",
		Short: "Write measured times back to the case files",
		Long:  refreshCasesHelp,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if err := record.Recordable(&r.update.Options, "accelgate cases refresh", r.reason); err != nil {
				return err
			}
			*code, err = c.refreshCases(cmd.Context(), &r)
			return err
		},
	}
	f := cmd.Flags()
	r.addFlags(f)
	f.BoolVar(&r.initial, "initial-times", false, "renew initial_time_s as well, so that drift is measured from here on")
	return cmd
}

func (c *Command) refreshCases(ctx context.Context, r *caseRefresh) (int, error) {
	file, _, err := r.Read()
	if err != nil {
		return 0, exit.AsUsage(err)
	}
	if r.from != "" && (len(r.Skip)+len(r.Tags)+len(r.SkipTags) > 0 || r.Profile != "" || r.Shard != "") {
		return 0, exit.Usagef("--from takes the run as it is: choose cases by --suite and --only, and leave other selections out")
	}
	known := suitesOfCases(file)
	if len(known) == 0 {
		return 0, exit.Usagef("%s has no suite of kind cases: add one, or record the host's baseline with 'accelgate baseline update'", r.Config)
	}
	for _, name := range r.Suites {
		if !slices.Contains(known, name) {
			return 0, exit.Usagef("--suite: %s has no suite of kind cases called %q: it has %s", r.Config, name, strings.Join(known, ", "))
		}
	}
	if r.from == "" && len(r.Suites) == 0 {
		r.Suites = known
	}
	run, ref, accepted, err := c.toRecord(ctx, &r.update)
	if err != nil || !accepted {
		return exit.GateFailed, err
	}
	policy, err := c.env().Policy(&r.Options, file)
	if err != nil {
		return 0, err
	}
	edits, err := record.EditCases(c.env(), file, []*bench.Run{run},
		record.CaseEdits{Reason: r.reason, Initial: r.initial, Revision: run.Revision, Suites: r.Suites, Only: r.Only, Policy: record.UnlessForced(r.force, &policy)})
	if err != nil {
		return 0, err
	}
	if edits.Matched == 0 {
		return 0, exit.Usagef("the run has no case that --suite and --only choose: list its cases with 'accelgate report %s'", cmp.Or(r.from, "RUN.json"))
	}
	if !r.dry {
		if err := edits.Save(); err != nil {
			return 0, err
		}
	}
	c.warnAll(edits.Left)
	edits.Tell(c.Stdout, r.dry, ref.Typed.Commands(c.Getenv, run.Host).Run)
	return exit.Passed, nil
}

// suitesOfCases names the suites whose cases can be refreshed, so that nothing
// else is measured for it.
func suitesOfCases(file *config.File) (names []string) {
	for i := range file.Suites {
		if file.Suites[i].Kind == "cases" {
			names = append(names, file.Suites[i].Name)
		}
	}
	return names
}
