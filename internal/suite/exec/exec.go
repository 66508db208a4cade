// Package exec is the suite kind for benchmarks that a harness runs, such as Go's or
// Google Benchmark; formats.Harnesses has all. Each benchmark is a cell, and each
// measurement one process of the harness that measures this benchmark, or all that were chosen.
package exec

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/formats"
	"github.com/accelgate/accelgate/internal/matrix"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/worker"
)

// Suite is an opened list of benchmarks.
type Suite struct {
	body      *body
	name      string
	env       suite.Env
	dir       string
	cells     []bench.Cell
	skipped   []bench.Result
	warnings  []string
	unset     []string
	contents  suite.Contents
	inherited []string
	sessions  suite.Sessions[*session]
	chosen    []bench.Cell // that are measured next; nil for all
}

var _ suite.Suite = (*Suite)(nil)

// key is the parameter that names a cell's benchmark.
const key = "benchmark"

// open decodes and checks the suite's part of the configuration. It starts nothing.
func open(c *config.Suite, env suite.Env) (suite.Suite, error) {
	b, err := load(c)
	if err != nil {
		return nil, err
	}
	if len(env.EngineArgs) > 0 {
		return nil, c.Errorf("command",
			"suite %s does not run the embedded engine, so its injected slowdown has no effect: leave it out, or select another suite with --suite",
			c.Name)
	}
	s := &Suite{body: b, name: c.Name, env: env, dir: filepath.Join(env.Dir, b.Dir), inherited: suite.Inherited(env.Environ),
		unset: suite.Unset(b.Unset, env.Environ)}
	if filepath.IsAbs(b.Dir) {
		s.dir = b.Dir
	}
	s.contents = suite.Contents{Dir: s.dir, Environ: env.Environ}
	if !b.all() {
		for _, name := range b.Benchmarks {
			s.cells = append(s.cells, s.cell(name))
		}
	}
	return s, nil
}

// cell is that of a benchmark.
func (s *Suite) cell(name string) bench.Cell {
	return bench.Cell{Suite: s.name, Params: []bench.Param{{Key: key, Value: s.body.Prefix + name}}}
}

// benchmark is the name that the harness has for a cell.
func (s *Suite) benchmark(c bench.Cell) string {
	return strings.TrimPrefix(c.Params[0].Value, s.body.Prefix)
}

// Plan returns the benchmarks in the order of the configuration, or of the harness.
func (s *Suite) Plan() suite.Plan {
	p := suite.Plan{Metrics: slices.Clone(formats.BenchmarkMetrics), Cells: s.cells, Skipped: s.skipped, Repeats: s.body.Repeats,
		Warnings: s.warnings, Starts: true, Programs: s.programs, Tags: slices.Sorted(maps.Keys(s.body.Tags)), TagsOf: s.tagsOf,
		Profiles: make(map[string]func(bench.Cell) bool, len(s.body.Profiles))}
	for name, patterns := range s.body.Profiles {
		p.Profiles[name] = func(c bench.Cell) bool { return matrix.GlobAny(patterns, s.benchmark(c)) }
	}
	if !s.body.chooses() {
		p.Sharing = &suite.Sharing{Process: s.process, Choose: s.choose, Ready: s.ready}
	}
	if s.body.all() {
		p.Listing = &suite.Listing{List: s.list, Named: s.named}
	}
	return p
}

func (s *Suite) tagsOf(c bench.Cell) (tags []string) {
	for tag, globs := range s.body.Tags {
		if matrix.GlobAny(globs, s.benchmark(c)) {
			tags = append(tags, tag)
		}
	}
	return tags
}

// Release does nothing: each measurement is a process of its own.
func (s *Suite) Release(bench.Device) error { return nil }

// Close does nothing: each measurement is a process of its own.
func (s *Suite) Close() error { return nil }

// programs implements Programs of [suite.Plan].
func (s *Suite) programs() (all []suite.Program) {
	for _, command := range [][]string{s.body.Command, s.body.List} {
		if len(command) > 0 && !strings.Contains(command[0], "{") {
			all = append(all, suite.Program{Name: command[0], Env: suite.Entries(s.body.Env)})
		}
	}
	return all
}

// Measure runs the harness once for one benchmark, or takes its result from a process that measured all chosen ones.
func (s *Suite) Measure(ctx context.Context, cell bench.Cell, d bench.Device) (bench.Result, error) {
	run := func() (*session, bool, error) { return s.run(ctx, cell, d) }
	taken, fresh, err := s.sessions.Take(s.process(cell), cell, d, run)
	result := bench.Result{Cell: cell}
	if err != nil {
		return result, err
	}
	name := s.benchmark(cell)
	if result.Command, err = s.body.arguments(s.body.Command, []string{name}, taken.output); err != nil {
		return result, err
	}
	result.Env = taken.env
	if suite.Conclude(&result, taken.response); result.Outcome == bench.Passed {
		taken.read(&result, name)
	}
	result.WallMS /= float64(taken.cells)
	if result.Cause == bench.CauseExit || result.Cause == bench.CauseCrash {
		result.Reason = ended(taken.response)
	}
	if result.Outcome != bench.Passed && fresh { // one log of a process is enough
		result.Log = taken.response.Log
	}
	return result, nil
}

// session is one process of the harness, and what it measured.
type session struct {
	response worker.Response
	output   string // folder of the result, which is gone
	env      []string
	cells    int // that share the process
	found    []formats.Benchmark
	err      error          // why nothing was found
	at       map[string]int // in found, by name
}

// run runs the harness once, for a benchmark or for all chosen ones. It reports whether the harness passed.
func (s *Suite) run(ctx context.Context, cell bench.Cell, d bench.Device) (*session, bool, error) {
	output, err := os.MkdirTemp("", "exec-")
	if err != nil {
		return nil, false, fmt.Errorf("make a folder for the program's result: %w: name another temporary folder with TMPDIR", err)
	}
	defer os.RemoveAll(output)
	of := &session{output: output, env: suite.Entries(s.body.Env), cells: 1}
	names := []string{s.benchmark(cell)}
	if s.process(cell) != "" {
		names, of.cells = s.selected()
	}
	args, err := s.body.arguments(s.body.Command, names, output)
	if err != nil {
		return nil, false, err
	}
	if s.env.Pin != nil {
		of.env = append(of.env, s.env.Pin(d)...)
	}
	request := worker.Request{Args: args, Dir: s.dir, Env: of.env, Unset: s.unset, Timeout: s.body.Timeout}
	if of.response, err = s.env.Worker.Do(ctx, suite.Watch(ctx, request)); err != nil {
		return nil, false, err
	}
	if err := suite.NoProgram(of.response); err != nil {
		return nil, false, err
	}
	if !of.response.OK() {
		return of, false, nil
	}
	data, err := s.result(of.response, output)
	if err == nil {
		of.found, err = formats.Harnesses[s.body.Read.Format](data)
	}
	of.err, of.at = err, formats.BenchmarkIndex(of.found)
	return of, err == nil, nil
}

// maxFile bounds what a harness writes.
const maxFile = 64 << 20

// read takes the benchmark's values out of the session's.
func (s *session) read(result *bench.Result, name string) {
	if s.err != nil {
		suite.Unusable(result, s.err)
		return
	}
	i, ok := s.at[name]
	switch {
	case !ok:
		suite.Fail(result, bench.CauseOutput, absent(name, s.found))
	case s.found[i].Failed != "":
		suite.Fail(result, bench.CauseOutput, s.found[i].Failed)
	default:
		for _, v := range s.found[i].Values {
			result.Samples = append(result.Samples, bench.Sample{Metric: v.Metric, Values: []float64{v.Value}})
		}
	}
}

// result is what the harness printed or wrote.
func (s *Suite) result(response worker.Response, output string) ([]byte, error) {
	if s.body.Read.File == "" {
		if response.StdoutTruncated {
			return nil, errors.New(suite.Truncated + ", or write a file that read.file names")
		}
		return response.Stdout, nil
	}
	data, err := suite.ReadResult(filepath.Join(output, s.body.Read.File), "{output}/"+s.body.Read.File, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		err = noFile{s.body.Read.File}
	}
	return data, err
}

// noFile means that the harness wrote no result.
type noFile struct{ name string }

func (e noFile) Error() string {
	return "the program wrote no {output}/" + e.name + ": see its log"
}

// absent returns which benchmarks there were.
func absent(name string, all []formats.Benchmark) string {
	names := make([]string, 0, len(all))
	for _, b := range all {
		names = append(names, text.Quote(b.Name, 100))
	}
	why := "the harness measured no benchmark " + text.Quote(name, 100)
	if near := text.Nearest(name, namesOf(all)); near != "" {
		return why + " (did you mean " + text.Quote(near, 100) + "?): correct benchmarks, or the command"
	}
	if len(names) == 0 {
		return why + ", and no other: see its log"
	}
	return fmt.Sprintf("%s, but %v: correct benchmarks, or the command", why, text.First(names, 5))
}

func namesOf(all []formats.Benchmark) (names []string) {
	for _, b := range all {
		names = append(names, b.Name)
	}
	return names
}

// Digest identifies what Measure runs for a benchmark: arguments, environment, folder,
// and the contents of the program and of all files that an argument names.
func (s *Suite) Digest(cell bench.Cell) (string, error) {
	args, err := s.body.arguments(s.body.Command, []string{s.benchmark(cell)}, "output") // the real folder differs each time
	if err != nil {
		return "", err
	}
	env := suite.Entries(s.body.Env)
	contents := append(s.contents.Named(args[1:]), s.contents.Program(args[0], env))
	data, err := json.Marshal([]any{args, env, s.dir, contents, s.unset, s.inherited, s.body.Read})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

func unknownPlaceholder(name string) error {
	return fmt.Errorf("{%s} is not a placeholder: use {benchmark}, {regexp}, {benchmarks}, {regexps} or {output}, and {{ for a brace",
		text.Plain(name, 80))
}
