// Package cases is the suite kind for msmodeling's case files: one cell per
// file, run by a command template per type of case, with a total and operators
// read from what the program prints or writes. The times and operators that a
// file records are what its cell is judged by, see [Expect]. What is known of a
// program is data, see preset.
package cases

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/formats/optrace"
	"github.com/accelgate/accelgate/internal/matrix"
	"github.com/accelgate/accelgate/internal/suite"
)

// Suite is an opened folder of cases, or an opened list of pairs.
type Suite struct {
	body     *body
	env      suite.Env
	dir      string // children start there
	inputs   []*input
	byID     map[string]*input
	cells    []bench.Cell
	unset    []string
	contents suite.Contents
	warnings []string
	// inherited identifies the environment that children inherit.
	inherited []string
	// program is what the first cell starts; its absence ends the run, unless
	// there are manyPrograms.
	program      *string
	manyPrograms bool
}

var (
	_ suite.Suite  = (*Suite)(nil)
	_ suite.Open   = Open
	_ suite.Expect = Expect
	_ suite.Demand = demand
)

// Total is the metric that cases are judged by: the sum over all operators and
// streams.
var Total = bench.Metric{Name: "total_time_s", Unit: "s", Better: bench.Lower}

// Open decodes and checks the suite's part of the configuration and reads the
// folder of cases. Every command is filled in once, so that a misspelt
// placeholder is found before anything is measured. What is wrong with one
// case, such as a setting that no option is known for, fails that cell when it
// is measured and hides no other.
func Open(c *config.Suite, env suite.Env) (suite.Suite, error) {
	b, err := load(c)
	if err != nil {
		return nil, err
	}
	if err := b.checkDir(c, env.Dir); err != nil {
		return nil, err
	}
	inputs, err := b.read(c, env.Dir)
	if err != nil {
		return nil, err
	}
	s := open(c, env, b, inputs)
	return s, errors.Join(b.tag(c, inputs), b.checkUnused(c, inputs), b.checkEngineArgs(c, env.EngineArgs, inputs))
}

// open makes a suite of inputs that may have problems.
func open(c *config.Suite, env suite.Env, b *body, inputs []*input) *Suite {
	s := &Suite{body: b, env: env, inputs: inputs, dir: resolve(env.Dir, b.Dir), byID: make(map[string]*input, len(inputs))}
	s.contents = suite.Contents{Dir: s.dir, Environ: env.Environ}
	s.inherited = suite.Inherited(env.Environ)
	s.unset = suite.Unset(b.Unset, env.Environ)
	for _, in := range inputs {
		in.cell.Suite = c.Name
		b.choose(in)
		s.prepare(in)
		s.cells = append(s.cells, in.cell)
		s.byID[in.cell.ID()] = in
	}
	s.warn()
	s.warnings = append(s.warnings, impliedTolerances(inputs)...)
	return s
}

// prepare fills in the command of an input once, and notes what is wrong with
// the case.
func (s *Suite) prepare(in *input) {
	if in.problem != "" {
		return
	}
	f, err := s.fill(in, "output")
	if err == nil && f.args[0] == "" {
		err = errors.New("the first item of command is empty for this case, so there is no program: correct it")
	}
	if err != nil {
		in.fail(err.Error())
		return
	}
	if s.program == nil {
		s.program = &f.args[0]
	}
	s.manyPrograms = s.manyPrograms || *s.program != f.args[0]
}

// warn sums up the cells that will fail without being run: a plan shows it.
func (s *Suite) warn() {
	var names []string
	first := ""
	for _, in := range s.inputs {
		if in.problem != "" {
			names = append(names, in.name)
			first, _, _ = strings.Cut(cmp.Or(first, in.problem), "\n")
		}
	}
	if len(names) > 0 {
		s.warnings = append(s.warnings, cannotRun(names, first))
	}
}

// impliedTolerances warns of groups whose cases have different tolerances, of which the smallest counts.
func impliedTolerances(inputs []*input) (warnings []string) {
	for i, in := range inputs {
		g := in.group
		if g != nil && g.Implied() && (i == 0 || inputs[i-1].group != g) {
			warnings = append(warnings, fmt.Sprintf(
				"%s: group_tolerance is absent, so the smallest baseline_tolerance of its cases counts, %.4g %%: write it down", in.file,
				g.Tolerance*100))
		}
	}
	return warnings
}

// checkEngineArgs refuses arguments for the embedded engine where no case runs
// it.
func (b *body) checkEngineArgs(c *config.Suite, args []string, inputs []*input) error {
	if len(args) == 0 || slices.ContainsFunc(inputs, func(in *input) bool { return in.command.embedded() }) {
		return nil
	}
	return c.Errorf("commands",
		"suite %s does not run the embedded engine, so %s has no effect: leave it out, or select another suite with --suite", c.Name,
		strings.Join(args, " "))
}

// embedded reports whether the command runs the embedded engine.
func (k *command) embedded() bool {
	return k != nil && len(k.Command) > 1 && k.Command[0] == "{accelgate}" && k.Command[1] == "engine"
}

// metrics describes everything that readers of profiles report. Only the total
// is gated, and what the configuration lists.
func (b *body) metrics() []bench.Metric {
	metrics := []bench.Metric{Total}
	metrics[0].Exact = b.Exact
	for _, m := range optrace.Metrics {
		if m.Name != Total.Name {
			m.Informational = true
			metrics = append(metrics, m)
		}
	}
	for _, own := range b.Metrics {
		m := &metrics[slices.IndexFunc(metrics, func(m bench.Metric) bool { return m.Name == own.Name })]
		m.Informational, m.Exact, m.Optional = own.Informational, own.Exact || m.Exact, own.Optional
	}
	return metrics
}

func metricNames() []string {
	names := []string{Total.Name}
	for _, m := range optrace.Metrics {
		if m.Name != Total.Name {
			names = append(names, m.Name)
		}
	}
	return names
}

// Plan returns one cell per case file, in the order of the files' names. Every host can run every case, or fails it.
func (s *Suite) Plan() suite.Plan {
	p := suite.Plan{Metrics: s.body.metrics(), Cells: s.cells, Repeats: s.body.Repeats, Warnings: s.warnings,
		Starts: true, Programs: s.programs,
		Embedded: map[string]bool{}, Profiles: make(map[string]func(bench.Cell) bool, len(s.body.Profiles)),
		TagsOf: func(c bench.Cell) []string { return s.byID[c.ID()].tags }}
	for id, in := range s.byID {
		p.Embedded[id] = in.command.embedded()
		p.Tags = append(p.Tags, in.tags...)
	}
	slices.Sort(p.Tags)
	p.Tags = slices.Compact(p.Tags)
	for name, patterns := range s.body.Profiles {
		p.Profiles[name] = func(c bench.Cell) bool { return matrix.GlobAny(patterns, s.byID[c.ID()].name) }
	}
	return p
}

// Release does nothing: each measurement is a process of its own.
func (s *Suite) Release(bench.Device) error { return nil }

// Close does nothing: each measurement is a process of its own.
func (s *Suite) Close() error { return nil }

// tag gives the cases the configuration's tags. It refuses patterns of tags and
// profiles that match no case: coverage must not shrink by a misspelling.
func (b *body) tag(c *config.Suite, inputs []*input) error {
	check := func(path string, table map[string][]string) error {
		for _, name := range slices.Sorted(maps.Keys(table)) {
			for i, p := range table[name] {
				if !slices.ContainsFunc(inputs, func(in *input) bool { return matrix.Glob(p, in.name) }) {
					return c.Errorf(index(path+"."+name, i), "%q matches the name of no case: correct it or remove it", p)
				}
			}
		}
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(b.Tags)) {
		for _, in := range inputs {
			if matrix.GlobAny(b.Tags[name], in.name) {
				in.tags = append(in.tags, name)
			}
		}
	}
	return errors.Join(check("tags", b.Tags), check("profiles", b.Profiles))
}
