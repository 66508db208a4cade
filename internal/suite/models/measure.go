package models

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/formats"
	"github.com/accelgate/accelgate/internal/matrix"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/text/lazyregexp"
	"github.com/accelgate/accelgate/internal/worker"
)

// Measure runs the cell once and judges what it printed, or takes a row from a process that has run for another one.
func (s *Suite) Measure(ctx context.Context, cell bench.Cell, d bench.Device) (bench.Result, error) {
	at := s.processOf(cell)
	ran, fresh, err := s.sessions.Take(s.share(cell), cell, d, func() (*process, bool, error) { return s.run(ctx, at, d) })
	result := bench.Result{Cell: cell, AAPartner: s.aaPartner(cell)}
	if err != nil {
		return result, err
	}
	result.Env = ran.env
	if result.Command, err = s.commandOf(at, cell, ran); err != nil {
		return result, err
	}
	if ran.missing != "" {
		result.Outcome, result.Cause, result.Reason = bench.Failed, bench.CauseInput, ran.missing
		return result, nil
	}
	row := at.ID() != cell.ID()
	keys := s.reader.conclude(&result, ran.response, ran.printed, func(printed formats.Output) {
		if row {
			s.readRow(&result, ran)
		} else {
			s.reader.read(&result, printed, s.expected(cell))
		}
	})
	if result.Outcome == bench.Passed && len(s.rows) > 0 {
		s.unbounded(&result)
	}
	if !fresh {
		result.Log = "" // one log of a process is enough
	}
	result.WallMS /= float64(max(1, len(s.chosen[at.ID()])))
	s.absent(&result, keys)
	return result, nil
}

// process is one process of a cell of the matrix, and what it yielded.
type process struct {
	command, env []string
	missing      string // why it was not started
	response     worker.Response
	output       formats.Output
	outputErr    error
	cells        []bench.Cell                  // its rows, in their order
	values       map[string]map[string]float64 // of rows, by id and metric
	rowErr       error
}

// commandOf measures a cell alone, as far as the program can choose.
func (s *Suite) commandOf(at, cell bench.Cell, ran *process) ([]string, error) {
	if name, row := strings.CutPrefix(cell.ID(), at.ID()+"__"); row && strings.Contains(strings.Join(s.body.Command, " "), "{rows}") {
		f, _, err := s.fill(at, s.placeholderOutput(), name)
		return f.args, err
	}
	return ran.command, nil
}

// printed returns what the numbers are read from.
func (p *process) printed() (formats.Output, error) { return p.output, p.outputErr }

// run runs a cell of the matrix once, and reads its rows. It reports whether the process passed.
func (s *Suite) run(ctx context.Context, cell bench.Cell, d bench.Device) (*process, bool, error) {
	output, err := s.resultFile()
	if err != nil {
		return nil, false, err
	}
	defer output.remove()
	var rows []string
	if chosen := s.chosen[cell.ID()]; len(chosen) < s.counts[cell.ID()] {
		rows = chosen
	}
	f, _, err := s.fill(cell, output.path, rows...)
	if err != nil {
		return nil, false, err
	}
	p := &process{command: output.typable(f.args), env: f.env}
	if p.missing = missing(f.files); p.missing != "" {
		return p, false, nil
	}
	w, err := s.workers.of(d)
	if err != nil {
		return nil, false, err
	}
	if p.response, err = w.Do(ctx, suite.Watch(ctx, s.request(f, d))); err != nil {
		return nil, false, err
	}
	if err := suite.NoProgram(p.response); err != nil && !s.manyPrograms && s.body.Worker.Container == nil {
		return nil, false, err
	}
	if !p.response.OK() {
		return p, false, nil
	}
	if p.output, p.outputErr = s.reader.printed(p.response, output.path); p.outputErr == nil && len(s.rows) > 0 {
		p.rowErr = s.readRows(p, cell, p.output.Document())
	}
	return p, p.outputErr == nil && p.rowErr == nil, nil
}

// filled is everything of a cell that is a template, filled in.
type filled struct {
	choice choice
	args   []string
	env    []string
	files  []string // that the cell needs, as paths
	params json.RawMessage
	// artifacts are globs of the files that are what is measured.
	artifacts []string
}

// fill fills in the templates of a cell; output stands for {output}. With an
// error comes the key of the configuration that is to blame.
func (s *Suite) fill(cell bench.Cell, output string, rows ...string) (f filled, key string, err error) {
	sc := s.scope(cell, output)
	f.choice = sc.choice
	sc.rows = rows
	if f.args, err = sc.arguments(s.body.Command); err != nil {
		return f, "command", err
	}
	f.args = append(f.args, s.env.EngineArgs...)
	f.env = s.environment(cell, sc.choice)
	if f.files, err = s.files(sc); err != nil {
		return f, "files", err
	}
	if f.artifacts, err = suite.FillAll(s.body.Artifacts, sc.lookup); err != nil {
		return f, "artifacts", err
	}
	f.params, err = s.params(sc)
	return f, "worker.persistent.params", err
}

// placeholderOutput is {output} where nothing is run; "" where the suite reads
// no file.
func (s *Suite) placeholderOutput() string {
	if s.body.writes() {
		return "output"
	}
	return ""
}

// request is what a worker runs for the cell.
func (s *Suite) request(f filled, d bench.Device) worker.Request {
	env := f.env
	if s.env.Pin != nil && s.body.Worker.Container == nil {
		env = append(env, s.env.Pin(d)...)
	}
	return worker.Request{Args: f.args, Dir: s.env.Dir, Env: env, Unset: s.unset, Timeout: s.timeout(f.choice), Params: f.params}
}

// resultFile is where a program writes its result, in a folder of its own.
type resultFile struct{ path string }

func (s *Suite) resultFile() (*resultFile, error) {
	if !s.body.writes() {
		return &resultFile{}, nil
	}
	parent := "" // the system's
	if s.body.Worker.Container != nil {
		// A container sees the configuration's folder, and may run as anybody.
		parent = filepath.Join(s.env.Dir, ".accelgate")
		if err := os.MkdirAll(parent, 0o755); err != nil {
			return &resultFile{}, fmt.Errorf("make a folder for the program's result: %w: make the folder writable", err)
		}
	}
	dir, err := os.MkdirTemp(parent, "result-")
	if err == nil && parent != "" {
		err = os.Chmod(dir, 0o777)
	}
	if err != nil {
		return &resultFile{}, fmt.Errorf(
			"make a folder for the program's result: %w: make the folder writable, or name another temporary folder with TMPDIR", err)
	}
	return &resultFile{filepath.Join(dir, "result.json")}, nil
}

// typable is the command with a file in place of one that is gone afterwards.
func (r *resultFile) typable(args []string) []string {
	if r.path == "" {
		return args
	}
	return suite.Replaced(args, r.path, filepath.Join(os.TempDir(), "accelgate-result.json"))
}

func (r *resultFile) remove() {
	if r.path != "" {
		_ = os.RemoveAll(filepath.Dir(r.path)) // a leftover does no harm
	}
}

// params are what a persistent process gets with each request.
func (s *Suite) params(sc *scope) (json.RawMessage, error) {
	p := s.body.Worker.Persistent
	if p == nil {
		return nil, nil
	}
	filled := make(map[string]any, len(p.Params))
	for _, name := range slices.Sorted(maps.Keys(p.Params)) {
		text, err := suite.Fill(p.Params[name], sc.lookup)
		if err != nil {
			return nil, fmt.Errorf("worker.persistent.params.%s: %w", name, err)
		}
		filled[name] = param(text)
	}
	return json.Marshal(filled)
}

// param is what a filled-in parameter is in JSON: a number or a truth value if
// it reads like one, else text.
func param(text string) any {
	if text == "true" || text == "false" || number.MatchString(text) {
		return json.RawMessage(text)
	}
	return text
}

var number = lazyregexp.New(`^-?(0|[1-9][0-9]{0,14})(\.[0-9]{1,15})?$`)

// files lists the files that the cell needs, as paths.
func (s *Suite) files(sc *scope) ([]string, error) {
	templates := slices.Clone(s.body.Files)
	for _, a := range s.axes {
		templates = append(templates, sc.choice[a.Name].Files...)
	}
	paths, err := suite.FillAll(templates, sc.lookup)
	for i, p := range paths {
		paths[i] = s.resolve(p)
	}
	return paths, err
}

// missing returns which of the files that a cell needs is not there. A program
// might skip what it cannot open and report a success.
func missing(files []string) string {
	for _, p := range files {
		if _, err := os.Stat(p); err != nil {
			return fmt.Sprintf("needs the file %s, which cannot be opened: put it there, or exclude the cell", p)
		}
	}
	return ""
}

// timeout is the longest that a value of the cell asks for, or the suite's.
func (s *Suite) timeout(c choice) time.Duration {
	var longest time.Duration
	for _, v := range c {
		longest = max(longest, v.Timeout)
	}
	if longest > 0 {
		return longest
	}
	return s.body.Timeout
}

// unsetNames lists the variables that no child inherits: those that only a
// sweep may set, because one that is left over in our own environment would
// silently change the plain cells, and those that the suite names.
func (s *Suite) unsetNames() []string {
	var names []string
	for _, sw := range s.body.Sweeps {
		names = append(names, sw.Env)
	}
	return suite.Unset(slices.Concat(names, s.body.Unset), s.env.Environ)
}

// expected lists what the cell must answer.
func (b *indexed) expected(cell bench.Cell) []expectation {
	var all []expectation
	for _, e := range b.body.Expect {
		if e.selects(cell) {
			all = append(all, e)
		}
	}
	for _, a := range b.axes {
		if v := b.values[a.Name][cell.Get(a.Name)]; v != nil && v.Expect != nil {
			all = append(all, *v.Expect)
		}
	}
	return all
}

func (e *expectation) selects(c bench.Cell) bool {
	return len(e.When) == 0 || matrix.Match(e.When).Selects(c)
}

// cause names the cause of a failure by the suite's patterns.
func cause(failures []failure, texts ...[]byte) bench.Cause {
	for _, f := range failures {
		for _, text := range texts {
			if f.Regexp.Match(text) {
				return bench.Cause(f.Cause)
			}
		}
	}
	return ""
}
