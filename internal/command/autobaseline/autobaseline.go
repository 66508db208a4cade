// Package autobaseline runs model cases repeatedly and compares them with
// themselves or with another input.
package autobaseline

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/command/record"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/matrix"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/suite/cases"
	"github.com/accelgate/accelgate/internal/text"
)

// Options is what auto-baseline was asked for.
type Options struct {
	measure.HostOptions
	measure.SelectOptions
	measure.MeasureOptions
	measure.DemonstrationOptions
	Aa        bool
	Tolerance string
	Promote   bool
	Reason    string
	Force     bool
	Json      bool
}

// defaultAA is how often an A/A case is measured.
const defaultAA = 5

// Run measures the pairs, compares, records where that was asked for, and returns
// the exit code.
func Run(ctx context.Context, e *measure.Env, a *Options, files []string) (int, error) {
	if a.Promote {
		if err := record.CheckReason("accelgate auto-baseline --promote", a.Reason); err != nil {
			return 0, err
		}
		if args := a.EngineArgs(); len(args) > 0 {
			return 0, exit.Usagef("a run that is made slow or wrong (%s) cannot be recorded: leave that out", strings.Join(args, " "))
		}
	}
	if a.Aa && a.Repeats == 1 {
		return 0, exit.Usagef("--aa: one measurement shows no noise: use --repeats 2 or more")
	}
	if a.Aa && a.Repeats == 0 {
		a.Repeats = defaultAA
	}
	session, pairs, err := openPairs(ctx, e, a, files)
	if err != nil {
		return 0, err
	}
	defer session.Close()
	run, err := session.Measure(ctx, nil)
	if err != nil {
		return 0, err
	}
	list := comparePairs(pairs, run, a.Aa)
	if err := showPairs(e, list, a); err != nil {
		return 0, err
	}
	if a.Promote {
		out := e.Stdout
		if a.Json {
			out = e.Stderr // what is on standard output is one document
		}
		if err := promote(e, out, session.Plan, list, run, a); err != nil {
			return 0, err
		}
	}
	if slices.ContainsFunc(list, func(p compared) bool { return !p.Passed }) {
		return exit.GateFailed, nil
	}
	return exit.Passed, nil
}

// openPairs plans the cells of pairs.
func openPairs(ctx context.Context, e *measure.Env, a *Options, files []string) (*measure.Session, []cases.Pair, error) {
	c, err := e.Configure(&measure.Options{HostOptions: a.HostOptions, SelectOptions: a.SelectOptions, MeasureOptions: a.MeasureOptions,
		DemonstrationOptions: a.DemonstrationOptions})
	if err != nil {
		return nil, nil, err
	}
	if c.Options.Out == "" { // the last run's document stays
		c.Options.Out = c.File.Resolve(filepath.Join(measure.DefaultOut, "auto-baseline"))
	}
	s, err := casesSuite(&c)
	if err != nil {
		return nil, nil, err
	}
	pairs, err := a.pairs(s, c.File.Dir, files)
	if err != nil {
		return nil, nil, err
	}
	if err := e.Detect(ctx, &c); err != nil {
		return nil, nil, err
	}
	session, err := e.OpenSuite(ctx, &c, s, func(env suite.Env) (suite.Suite, error) { return cases.OpenPairs(s, env, pairs, a.Aa) })
	return session, pairs, err
}

// casesSuite is the one suite of kind cases, or the one that --suite names.
func casesSuite(c *measure.Config) (*config.Suite, error) {
	var found []*config.Suite
	var names []string
	for i := range c.File.Suites {
		if s := &c.File.Suites[i]; s.Kind == "cases" && (len(c.Options.Suites) == 0 || slices.Contains(c.Options.Suites, s.Name)) {
			found, names = append(found, s), append(names, s.Name)
		}
	}
	switch len(found) {
	case 0:
		return nil, exit.Usagef("%s has no such suite of kind cases: add one, or correct --suite", c.Options.Config)
	case 1:
		return found[0], nil
	}
	return nil, exit.Usagef("%s has several suites of kind cases (%s): choose one with --suite", c.Options.Config,
		strings.Join(names, ", "))
}

// pairs reads the files, or pairs the suite's cases with themselves.
func (a *Options) pairs(s *config.Suite, dir string, files []string) (pairs []cases.Pair, err error) {
	if len(files) == 0 {
		pairs, err = cases.OwnPairs(s, dir)
	}
	for _, path := range files {
		data, readErr := measure.ReadBounded(path)
		if readErr != nil {
			return nil, exit.Usagef("read the pairs: %w: name a YAML or JSON file", readErr)
		}
		more, pairsErr := cases.ReadPairs(path, data)
		if pairsErr != nil {
			return nil, exit.AsUsage(pairsErr)
		}
		pairs = append(pairs, more...)
	}
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, p := range pairs {
		if seen[p.Name] {
			return nil, exit.Usagef("%s is the name of two cases: give each a name of its own", text.OneLine(p.Name))
		}
		seen[p.Name] = true
	}
	return a.narrow(pairs)
}

// narrow applies --only, --skip and --tolerance.
func (a *Options) narrow(pairs []cases.Pair) ([]cases.Pair, error) {
	pairs = slices.DeleteFunc(pairs, func(p cases.Pair) bool {
		return len(a.Only) > 0 && !matrix.GlobAny(a.Only, p.Name) || matrix.GlobAny(a.Skip, p.Name)
	})
	if len(pairs) == 0 {
		return nil, exit.Usagef("--only and --skip leave no case: correct them; they are globs on the names of cases")
	}
	if a.Tolerance == "" {
		return pairs, nil
	}
	var percent config.Percent
	if err := percent.UnmarshalText([]byte(a.Tolerance)); err != nil {
		return nil, exit.Usagef("--tolerance: %w", err)
	}
	for i := range pairs {
		pairs[i].Tolerance = float64(percent) / 100
	}
	return pairs, nil
}
