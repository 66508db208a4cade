package record

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/measure"
)

// CaseRefresh records a run in the case files.
type CaseRefresh struct {
	Request
	Initial bool // renew initial_time_s as well
}

// Run writes the times of a run, measured or read, into the case files, unless the gate
// failed. It returns the exit code.
func (r *CaseRefresh) Run(ctx context.Context, e *measure.Env) (int, error) {
	if err := CheckReason("accelgate cases refresh", r.Reason); err != nil {
		return 0, err
	}
	file, _, err := r.Read()
	if err != nil {
		return 0, exit.AsUsage(err)
	}
	known := suitesOfCases(file)
	if len(known) == 0 {
		return 0, exit.Usagef("%s has no suite of kind cases: add one, or record the host's baseline with 'accelgate baseline update'",
			r.Config)
	}
	for _, name := range r.Suites {
		if !slices.Contains(known, name) {
			return 0, exit.Usagef("--suite: %s has no suite of kind cases called %q: it has %s", r.Config, name, strings.Join(known, ", "))
		}
	}
	if r.From == "" && len(r.Suites) == 0 {
		r.Suites = known
	}
	o := r.options()
	run, ref, accepted, err := r.judged(ctx, e, o)
	if err != nil || !accepted {
		return exit.GateFailed, err
	}
	policy, err := e.Policy(o, file)
	if err != nil {
		return 0, err
	}
	edits, err := EditCases(e, file, []*bench.Run{run}, CaseEdits{
		Reason:   r.Reason,
		Initial:  r.Initial,
		Revision: run.Revision,
		Suites:   r.Suites,
		Only:     r.Only,
		Policy:   UnlessForced(r.Force, &policy),
	})
	if err != nil {
		return 0, err
	}
	if edits.Matched == 0 {
		return 0, exit.Usagef("the run has no case that --suite and --only choose: list its cases with 'accelgate report %s'",
			cmp.Or(r.From, "RUN.json"))
	}
	if !r.Dry {
		if err := edits.Save(); err != nil {
			return 0, err
		}
	}
	e.WarnAll(edits.Left)
	edits.Tell(e.Stdout, r.Dry, ref.Typed.Commands(e.Getenv, run).Run)
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
