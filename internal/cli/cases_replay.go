package cli

import (
	"errors"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/gate/compat"
	"github.com/accelgate/accelgate/internal/judge"
	"github.com/accelgate/accelgate/internal/matrix"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/suite/cases"
	"github.com/accelgate/accelgate/internal/suite/cases/casefile"
)

const replayHelp = `Judge recorded tables of msmodeling's simulator without running anything: the
table of case NAME is TABLES/NAME.txt, and of a case in a group GROUP__NAME.txt.

  accelgate cases replay --compat msmodeling --cases cases --tables tables

With --compat msmodeling, rules, output and exit code are those of msmodeling's
own checker: 0 if no case fails, else 1. Without it, a case is judged as
'accelgate run' does. A case that cannot be read is an error (2), after the
others were judged.`

// replay is what cases replay was asked for.
type replay struct {
	cases, tables string
	compat        string
	format        string
	json          bool
	only          []string
}

func (c *Command) replayCommand(code *int) *cobra.Command {
	var r replay
	cmd := &cobra.Command{
		Use:   "replay --cases FOLDER --tables FOLDER",
		Short: "Judge recorded simulator tables",
		Long:  replayHelp,
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) (err error) {
			*code, err = c.replay(&r)
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&r.cases, "cases", "", "`folder` of the case files (required)")
	f.StringVar(&r.tables, "tables", "", "`folder` of the recorded tables, NAME.txt (required)")
	f.StringVar(&r.compat, "compat", "",
		"judge and print as another `tool` does: msmodeling, or "+string(compat.MSModeling84)+" for its rules before groups")
	f.StringVar(&r.format, "format", "",
		"`format`: test or check (msmodeling's two layouts), cases (Markdown tables), "+judge.Formats()+" (default: test with --compat, else terminal)")
	f.BoolVar(&r.json, "json", false, "short for --format json, which holds every row")
	f.StringArrayVar(&r.only, "only", nil, "judge only this case or glob; may be repeated")
	return cmd
}

// check settles the flags.
func (r *replay) check() error {
	switch {
	case r.cases == "" || r.tables == "":
		return exit.Usagef("accelgate cases replay: give both folders: add --cases FOLDER --tables FOLDER")
	case r.compat != "" && compat.Tool(r.compat).Rules().Totals.Judge == nil:
		return exit.Usagef("--compat: unknown tool %q: write msmodeling, %s for its rules before groups, or leave it out",
			r.compat, compat.MSModeling84)
	case r.json && r.format != "" && r.format != "json":
		return exit.Usagef("--json is --format json: leave one of the two out")
	case r.json:
		r.format = "json"
	case r.format == "" && r.compat != "":
		r.format = "test"
	case r.format == "":
		r.format = "terminal"
	}
	return nil
}

func (c *Command) replay(r *replay) (int, error) {
	if err := r.check(); err != nil {
		return 0, err
	}
	render, err := judge.Renderer(c.env(), r.format)
	if err != nil {
		return 0, err
	}
	all, unreadable := casefile.Load(r.cases)
	list, err := r.wanted(all)
	if len(list) == 0 {
		return 0, exit.AsUsage(errors.Join(unreadable, err))
	}
	j := c.replayed(r, list)
	if err := render(c.Stdout, j.Report); err != nil {
		return 0, err
	}
	if r.compat != "" {
		if err := cases.Anomalies(c.Stderr, j.Report); err != nil {
			return 0, err
		}
	}
	if unreadable != nil {
		return 0, exit.AsUsage(unreadable)
	}
	return j.Exit(), nil
}

// wanted returns the cases that --only names.
func (r *replay) wanted(all []*casefile.Case) ([]*casefile.Case, error) {
	if len(r.only) == 0 {
		return all, nil
	}
	kept := slices.DeleteFunc(slices.Clone(all), func(c *casefile.Case) bool {
		return !matrix.GlobAny(r.only, cases.CellOf(c).ID())
	})
	if len(kept) == 0 {
		return nil, exit.Usagef("--only: no case in %s matches: list them with 'ls'", r.cases)
	}
	return kept, nil
}

// replayed makes a run of the tables and judges it.
func (c *Command) replayed(r *replay, list []*casefile.Case) judge.Judged {
	run := &bench.Run{Schema: bench.RunSchema, Tool: measure.Tool(), Host: bench.Host{Label: "replay"},
		Started: c.Now().UTC().Truncate(time.Second), Metrics: []bench.Metric{cases.Total},
		Results: cases.ReadTables(list, r.tables, !compat.Tool(r.compat).Rules().Totals.Groups)}
	policy := gate.DefaultPolicy()
	policy.Compat, policy.Recorded, policy.Expected = compat.Tool(r.compat), true, make(map[string]bench.Expected, len(list))
	policy.Operators = map[string]gate.OperatorJudge{"": cases.Kind.Operators} // its cells are of no suite
	for _, e := range cases.Expected(list) {
		policy.Expected[e.Cell] = e
	}
	return judge.Judge(c.env(), []*bench.Run{run}, []judge.Reference{{}}, policy, report.Input{})
}
