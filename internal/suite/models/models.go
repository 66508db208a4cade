// Package models is the suite kind for model matrices: models x backends x
// features x one-at-a-time sweeps of environment variables, one process per
// cell, with metrics and the answer taken from what it prints. The matrix and
// the case ids are those of TensorSharp.TestMatrix.
package models

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/matrix"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/worker"
)

// Suite is an opened model matrix.
type Suite struct {
	body    body
	env     suite.Env
	metrics []bench.Metric
	cells   []bench.Cell
	values  map[string]map[string]value // axis -> id -> value
	reader  reader
}

var _ suite.Suite = (*Suite)(nil)

// Open decodes and checks the suite's part of the configuration and expands
// the matrix. Every command is filled in once, so that a misspelt placeholder
// is found before anything is measured.
func Open(c *config.Suite, env suite.Env) (suite.Suite, error) {
	s := &Suite{env: env, body: defaults()}
	if err := c.Decode(&s.body); err != nil {
		return nil, err
	}
	if err := s.body.check(c); err != nil {
		return nil, err
	}
	s.index()
	if err := errors.Join(s.checkValues(c), s.expand(c)); err != nil {
		return nil, err
	}
	var err error
	s.reader, err = s.body.reader(c)
	return s, err
}

func (s *Suite) index() {
	s.values = map[string]map[string]value{}
	for _, axis := range s.body.axes() {
		byID := make(map[string]value, len(axis.values))
		for _, v := range axis.values {
			byID[v.ID] = v
		}
		s.values[axis.name] = byID
	}
	for _, m := range s.body.Metrics {
		s.metrics = append(s.metrics, m.describe())
	}
}

func (s *Suite) checkValues(c *config.Suite) error {
	for _, axis := range s.body.axes() {
		for i, v := range axis.values {
			path := fmt.Sprintf("%ss[%d]", axis.name, i)
			if v.ID == "" {
				return c.Errorf(path, "the value has no id: add id")
			}
			for _, word := range v.Needs {
				if _, ok := needs[word]; !ok {
					return c.Errorf(path+".needs", "unknown need %q: use one of %s", word, needWords())
				}
			}
		}
	}
	for i, m := range s.body.Include {
		for _, axis := range s.body.axes() {
			if _, ok := s.values[axis.name][m[axis.name]]; !ok {
				return c.Errorf(fmt.Sprintf("include[%d]", i), "%s %q is not in %ss: add it there, and exclude the cells you do not want", axis.name, m[axis.name], axis.name)
			}
		}
	}
	return nil
}

func (s *Suite) expand(c *config.Suite) error {
	if len(s.body.Command) == 0 {
		return c.Errorf("", "the suite has no command: add command, a list of arguments; no shell sees it")
	}
	if len(s.env.EngineArgs) > 0 && !s.embedded() {
		return c.Errorf("command", "suite %s does not run the embedded engine, so %s has no effect: leave it out, or select another suite with --suite",
			c.Name, strings.Join(s.env.EngineArgs, " "))
	}
	cells, err := s.body.spec(c.Name).Expand()
	if err != nil {
		return c.Errorf("", "%v", err)
	}
	for _, cell := range cells {
		if _, err := s.command(cell); err != nil {
			return c.Errorf("command", "%v", err)
		}
	}
	for i, e := range s.body.Expect {
		if !slices.ContainsFunc(cells, func(c bench.Cell) bool { return e.selects(c) }) {
			return c.Errorf(fmt.Sprintf("expect[%d].when", i), "selects no cell: compare it with 'accelgate run --list'")
		}
	}
	s.cells = cells
	return nil
}

// embedded reports whether the command runs the embedded engine.
func (s *Suite) embedded() bool {
	return len(s.body.Command) > 1 && s.body.Command[0] == "{accelgate}" && s.body.Command[1] == "engine"
}

func (s *Suite) choose(cell bench.Cell) choice {
	c := make(choice, len(s.values))
	for axis, byID := range s.values {
		c[axis] = byID[cell.Get(axis)]
	}
	return c
}

func (s *Suite) command(cell bench.Cell) ([]string, error) {
	args, err := arguments(s.body.Command, s.env.Executable, s.choose(cell))
	return append(args, s.env.EngineArgs...), err
}

// Metrics describes the configured metrics.
func (s *Suite) Metrics() []bench.Metric { return s.metrics }

// Cells returns the matrix in the order of TensorSharp: model, backend,
// feature, and per combination the plain cell before the sweeps.
func (s *Suite) Cells() []bench.Cell { return s.cells }

// Repeats is the configured number of processes per cell.
func (s *Suite) Repeats() int { return s.body.Repeats }

// Close has nothing to release: every cell was a process of its own.
func (s *Suite) Close() error { return nil }

// Measure runs one process for the cell and judges what it printed.
func (s *Suite) Measure(ctx context.Context, cell bench.Cell) (bench.Result, error) {
	result := bench.Result{Cell: cell}
	chosen := s.choose(cell)
	for _, axis := range s.body.axes() {
		if why := unmet(axis.name, chosen[axis.name], s.env.Host); why != "" {
			result.Outcome, result.Reason = bench.Skipped, why
			return result, nil
		}
	}
	args, err := s.command(cell)
	if err != nil {
		return result, err
	}
	result.Command = args
	response, err := s.env.Worker.Do(ctx, worker.Request{
		Args: args, Dir: s.env.Dir, Env: s.environment(cell, chosen), Unset: s.swept(), Timeout: s.body.Timeout,
	})
	if err != nil {
		return result, err
	}
	if errors.Is(response.StartErr, worker.ErrNotFound) && s.constantProgram() {
		return result, fmt.Errorf("%w: correct the first argument of command, or install it (the container action holds nothing but accelgate: use accelgate/native on a host that has it)", response.StartErr)
	}
	s.reader.judge(&result, response, s.expected(cell))
	return result, nil
}

// constantProgram reports whether all cells start the same program, so that
// its absence ends the run and not only this cell.
func (s *Suite) constantProgram() bool {
	return s.body.Command[0] == "{accelgate}" || !strings.Contains(s.body.Command[0], "{")
}

// swept lists the variables that only a sweep may set: one that is left over
// in our own environment would silently change the plain cells.
func (s *Suite) swept() []string {
	names := make([]string, 0, len(s.body.Sweeps))
	for _, sw := range s.body.Sweeps {
		names = append(names, sw.Env)
	}
	return names
}

// expected lists what the cell must answer.
func (s *Suite) expected(cell bench.Cell) []expectation {
	var all []expectation
	for _, e := range s.body.Expect {
		if e.selects(cell) {
			all = append(all, e)
		}
	}
	return all
}

func (e *expectation) selects(c bench.Cell) bool {
	return len(e.When) == 0 || matrix.Match(e.When).Selects(c)
}
