// Package models is the suite kind for model matrices: models x backends x
// features x sweeps of environment variables, with metrics and the answer taken
// from what a program prints. The matrix and the case ids are those of
// TensorSharp.TestMatrix; what is known of a program is data, see preset.
package models

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/matrix"
	"github.com/accelgate/accelgate/internal/suite"
)

// Suite is an opened model matrix.
type Suite struct {
	indexed
	config  *config.Suite
	env     suite.Env
	metrics []bench.Metric
	matrix  []bench.Cell             // one for each process
	cells   []bench.Cell             // those of the matrix; with rows, those that the program has listed
	points  map[string]*matrix.Point // of cells, by id
	skipped []bench.Result
	reader  reader
	unset   []string
	// inherited identifies the environment that children inherit.
	inherited []string
	workers   workers
	contents  suite.Contents
	warnings  []string
	// program is what the first cell starts; its absence ends the run, unless
	// there are manyPrograms.
	program      *string
	manyPrograms bool

	rows      []rowMetric
	processes map[string]bench.Cell // of rows, by id
	sessions  suite.Sessions[*process]
	chosen    map[string][]string // names of the rows that are measured next, by process
	counts    map[string]int      // cells of each process
	rowless   []string            // metrics of rows of which the program has listed none
	first     string              // the cell that is measured first, by id
}

var (
	_ suite.Suite  = (*Suite)(nil)
	_ suite.Demand = demand
)

// Open decodes and checks the suite's part of the configuration and expands
// the matrix. Every command is filled in once, so that a misspelt placeholder
// is found before anything is measured.
func Open(c *config.Suite, env suite.Env) (suite.Suite, error) {
	b, err := load(c)
	if err != nil {
		return nil, err
	}
	s := &Suite{config: c, env: env, indexed: indexed{body: b}, contents: suite.Contents{Dir: env.Dir, Environ: env.Environ}}
	s.workers.suite = s
	if err := s.discover(c); err != nil {
		return nil, err
	}
	all := s.body.dimensions() // a predicate may name what is not selected
	if err := s.body.checkPatterns(c); err != nil {
		return nil, err
	}
	if err := s.body.applySelection(c); err != nil {
		return nil, err
	}
	if err := s.body.check(c); err != nil {
		return nil, err
	}
	if err := errors.Join(s.body.checkProvided(c), s.body.checkVars(c, all), s.body.checkDefaults(c), s.body.checkExcludes(c,
		all)); err != nil {
		return nil, err
	}
	if env.Base && len(s.body.BaseCommand) > 0 {
		s.body.Command = s.body.BaseCommand
	}
	s.index()
	s.metrics = s.body.metrics()
	if err := s.expand(c, all); err != nil {
		return nil, err
	}
	s.unset = s.unsetNames()
	s.inherited = suite.Inherited(env.Environ)
	if s.reader, err = s.body.reader(c); err != nil {
		return nil, err
	}
	return s, s.record(c)
}

// discover adds the models that are found in a folder.
func (s *Suite) discover(c *config.Suite) error {
	d := &s.body.Discover
	if s.env.ModelDir != "" {
		d.Dir = s.env.ModelDir
	}
	if d.Dir == "" {
		return nil
	}
	if d.Glob == "" {
		return c.Errorf("discover", "has no glob: add glob, such as '*.gguf', or remove the folder of models")
	}
	found, warnings, err := d.models(s.resolve, s.body.Models)
	if err != nil {
		return c.Errorf("discover.dir", "%v", err)
	}
	if len(found) == 0 {
		return c.Errorf("discover.dir", "%s holds no model that matches %s: name another folder with --model-dir", d.Dir, d.Glob)
	}
	s.body.Models, s.warnings = found, warnings
	return nil
}

// resolve returns the path relative to the configuration's folder.
func (s *Suite) resolve(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(s.env.Dir, path)
}

// indexed is a body with its axes, and their values by id: what finds the expectations of a cell.
type indexed struct {
	body   body
	axes   []axis
	values map[string]map[string]*value // axis -> id -> value
}

func (b *indexed) index() {
	b.axes = b.body.dimensions()
	b.values = map[string]map[string]*value{}
	for _, axis := range b.axes {
		byID := make(map[string]*value, len(axis.Values))
		for i := range axis.Values {
			byID[axis.Values[i].ID] = &axis.Values[i]
		}
		b.values[axis.Name] = byID
	}
}

func (s *Suite) expand(c *config.Suite, all []axis) error {
	if len(s.env.EngineArgs) > 0 && !s.embedded() {
		return c.Errorf("command",
			"suite %s does not run the embedded engine, so %s has no effect: leave it out, or select another suite with --suite", c.Name,
			strings.Join(s.env.EngineArgs, " "))
	}
	if err := s.checkIncludes(c); err != nil {
		return err
	}
	spec, err := s.spec(c, all)
	if err != nil {
		return err
	}
	points, err := spec.Expand()
	if err != nil {
		return c.Errorf("", "%v", err)
	}
	if s.env.RawIDs {
		if err := raw(points); err != nil {
			return c.Errorf("", "%v", err)
		}
	}
	s.sort(points)
	s.warnings = append(s.warnings, s.idle(points)...)
	for _, cell := range s.matrix {
		if key, err := s.tryTemplates(cell); err != nil {
			return c.Errorf(key, "%v", err)
		}
	}
	return errors.Join(s.checkWhens(c), s.checkProfiles(c))
}

// raw names the cells as TensorSharp does. The known values of the axes say how
// an id is split, so two cells of one id are an error.
func raw(points []matrix.Point) error {
	ids, cells := make(map[string]string, len(points)), make(map[string]bench.Cell, len(points))
	for i := range points {
		cell := &points[i].Cell
		escaped, id := cell.ID(), cell.TensorSharpID()
		if other, twice := cells[id]; twice {
			return fmt.Errorf(
				"the id %q of TensorSharp is ambiguous: it is (%s) and (%s); rename a value so that the ids differ, or remove policy.compat",
				id, other.Reading(), cell.Reading())
		}
		ids[escaped], cells[id] = id, *cell
		cell.Raw = id
	}
	for i := range points {
		if partner := points[i].Partner; partner != "" {
			points[i].Partner = ids[partner]
		}
	}
	return nil
}

// idle warns of sweeps of the suite's own that apply to no cell here: that of a
// preset may be for other models and hosts.
func (s *Suite) idle(points []matrix.Point) (warnings []string) {
	if s.body.Preset != "" {
		return nil
	}
	used := map[string]bool{}
	for i := range points {
		for _, p := range points[i].Cell.Params {
			used[p.Key] = true
		}
	}
	for _, sw := range s.body.Sweeps {
		if sw.When != "" && !used[bench.EnvPrefix+sw.Env] {
			warnings = append(warnings,
				fmt.Sprintf("the sweep of %s applies to no cell on this host: look at its when (%s)", sw.Env, sw.When))
		}
	}
	return warnings
}

// sort distinguishes the cells that this host can run from those that it cannot.
func (s *Suite) sort(points []matrix.Point) {
	s.points = make(map[string]*matrix.Point, len(points))
	s.matrix = make([]bench.Cell, 0, len(points))
	for i := range points {
		p := &points[i]
		s.points[p.Cell.ID()] = p
		if p.Skip != "" {
			s.skipped = append(s.skipped, bench.Result{Cell: p.Cell, Outcome: bench.Skipped, Reason: p.Skip, Cause: bench.CauseCapacity})
			continue
		}
		s.matrix = append(s.matrix, p.Cell)
	}
	if s.rows = s.body.rows; len(s.rows) == 0 {
		s.cells = s.matrix
		return
	}
	s.processes, s.counts = map[string]bench.Cell{}, map[string]int{}
}

func (s *Suite) checkIncludes(c *config.Suite) error {
	for i, m := range s.body.Include {
		for _, axis := range s.axes {
			if _, ok := s.values[axis.Name][m[axis.Name]]; !ok {
				return c.Errorf(fmt.Sprintf("include[%d]", i), "%s %q is not in %s: add it there, and exclude the cells you do not want",
					axis.Name, m[axis.Name], axis.path)
			}
		}
	}
	return nil
}

func (s *Suite) checkWhens(c *config.Suite) error {
	for i, e := range s.body.Expect {
		if !slices.ContainsFunc(s.matrix, e.selects) &&
			!slices.ContainsFunc(s.skipped, func(r bench.Result) bool { return e.selects(r.Cell) }) {
			return c.Errorf(fmt.Sprintf("expect[%d].when", i), "selects no cell: compare it with 'accelgate plan --list'")
		}
	}
	for i, m := range s.body.Metrics {
		selects := matrix.Match(m.When).Selects
		if len(m.When) > 0 && !slices.ContainsFunc(s.matrix, selects) &&
			!slices.ContainsFunc(s.skipped, func(r bench.Result) bool { return selects(r.Cell) }) {
			return c.Errorf(fmt.Sprintf("metrics[%d].when", i), "selects no cell: compare it with 'accelgate plan --list'")
		}
	}
	return nil
}

// checkProfiles refuses a profile of the suite's own that selects no cell: that
// of a preset may name what this suite has replaced.
func (s *Suite) checkProfiles(c *config.Suite) error {
	for _, name := range slices.Sorted(maps.Keys(s.body.profiles)) {
		p := s.body.Profiles[name]
		if s.body.Discover.Dir == "" && !slices.ContainsFunc(s.matrix, p.wanted) &&
			!slices.ContainsFunc(s.skipped, func(r bench.Result) bool { return p.wanted(r.Cell) }) {
			return c.Errorf("profiles."+name, "selects no cell: compare it with 'accelgate plan --list'")
		}
	}
	return nil
}

// embedded reports whether the command runs the embedded engine.
func (s *Suite) embedded() bool {
	return len(s.body.Command) > 1 && s.body.Command[0] == "{accelgate}" && s.body.Command[1] == "engine"
}

func (s *Suite) valuesOf(cell bench.Cell) choice {
	c := make(choice, len(s.axes))
	for _, a := range s.axes {
		c[a.Name] = s.values[a.Name][cell.Get(a.Name)]
	}
	return c
}

func (s *Suite) scope(cell bench.Cell, output string) *scope {
	return &scope{choice: s.valuesOf(cell), vars: s.body.Vars, executable: s.env.Executable, output: output}
}

// tryTemplates fills in everything that is a template once, and says which one
// is wrong. It finds out whether all cells start the same program.
func (s *Suite) tryTemplates(cell bench.Cell) (key string, err error) {
	f, key, err := s.fill(cell, s.placeholderOutput())
	if err != nil {
		return key, err
	}
	if s.program == nil {
		s.program = &f.args[0]
	}
	s.manyPrograms = s.manyPrograms || *s.program != f.args[0]
	return "", nil
}

// aaPartner returns the id of the cell that is measured under the same conditions.
func (s *Suite) aaPartner(c bench.Cell) string {
	if p := s.points[c.ID()]; p != nil {
		return p.Partner
	}
	return "" // of a row
}

// Release ends the process that is kept for a device.
func (s *Suite) Release(d bench.Device) error { return s.workers.rest(d) }

// Close ends the processes that are kept.
func (s *Suite) Close() error { return s.workers.close() }

func (s *Suite) tags() (tags []string) {
	for _, a := range s.axes {
		for _, v := range a.Values {
			tags = append(tags, v.Tags...)
		}
	}
	for _, sw := range s.body.Sweeps {
		tags = append(tags, sw.Tags...)
	}
	slices.Sort(tags)
	return slices.Compact(tags)
}
