package cases

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/formats/optrace"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/suite/cases/casefile"
	"github.com/accelgate/accelgate/internal/worker"
)

// Measure runs the case once and reads its profile.
func (s *Suite) Measure(ctx context.Context, cell bench.Cell, d bench.Device) (bench.Result, error) {
	in := s.byID[cell.ID()]
	result := bench.Result{Cell: cell}
	if in.problem != "" {
		suite.Fail(&result, bench.CauseInput, in.problem)
		return result, nil
	}
	output, err := os.MkdirTemp("", "case-")
	if err != nil {
		return result, fmt.Errorf(
			"make a folder for the program's result: %w: make the folder writable, or name another temporary folder with TMPDIR", err)
	}
	defer os.RemoveAll(output) // a leftover does no harm
	f, err := s.fill(in, output)
	if err != nil {
		suite.Fail(&result, bench.CauseInput, err.Error())
		return result, nil
	}
	result.Command, result.Env = f.args, f.env
	response, err := s.env.Worker.Do(ctx, suite.Watch(ctx, s.request(in, f, d)))
	if err != nil {
		return result, err
	}
	if err := suite.NoProgram(response); err != nil && !s.manyPrograms {
		return result, err
	}
	if suite.Conclude(&result, response); result.Outcome == bench.Passed {
		in.judge(&result, response, output)
	}
	if result.Outcome != bench.Passed {
		result.Log = response.Log
	}
	return result, nil
}

// filled is everything of an input that is a template, filled in.
type filled struct {
	args, env []string
}

// fill fills in the templates of an input; output stands for {output}. Errors
// are of the case: those of the configuration were found before.
func (s *Suite) fill(in *input, output string) (f filled, err error) {
	sc := scope{in: in, vars: s.body.Vars, executable: s.env.Executable, output: output}
	flags, err := s.body.flags(in)
	if err != nil {
		return f, err
	}
	if f.args, err = sc.arguments(in.command.Command, flags); err != nil {
		return f, err
	}
	if in.command.embedded() {
		f.args = append(f.args, s.env.EngineArgs...)
	}
	own, err := sc.environment(in.command)
	f.env = append(suite.Entries(s.body.Env), own...)
	return f, err
}

func (s *Suite) request(in *input, f filled, d bench.Device) worker.Request {
	env := f.env
	if s.env.Pin != nil {
		env = append(env, s.env.Pin(d)...)
	}
	return worker.Request{Args: f.args, Dir: s.dir, Env: env, Unset: s.unset, Timeout: s.timeout(in)}
}

// timeout is the case's own, the command's, or the suite's.
func (s *Suite) timeout(in *input) time.Duration {
	for _, t := range []time.Duration{in.timeout, in.command.Timeout} {
		if t > 0 {
			return t
		}
	}
	return s.body.Timeout
}

// judge reads the profile of a child that succeeded.
func (in *input) judge(result *bench.Result, response worker.Response, output string) {
	p, err := in.command.profile(response, output, casefile.Model(in.typ, in.settings))
	if err != nil {
		suite.Unusable(result, err)
		return
	}
	p.Operators = bench.AddUp(p.Operators)
	read := Result(result.Cell, p)
	result.Outcome, result.Cause, result.Reason = read.Outcome, read.Cause, read.Reason
	result.Samples, result.Breakdowns = read.Samples, read.Breakdowns
}

// Digest identifies what Measure runs for the cell: arguments, environment,
// folder, and the contents of the program and of all files that an argument
// names, also behind a "=". What a program loads besides, such as libraries and
// modules, is not seen.
func (s *Suite) Digest(cell bench.Cell) (string, error) {
	in := s.byID[cell.ID()]
	parts := []any{in.problem}
	if in.problem == "" {
		f, err := s.fill(in, "output") // the real path differs each time and does not matter
		if err != nil {
			return "", err
		}
		contents := append(s.contents.Named(f.args[1:]), s.contents.Program(f.args[0], f.env))
		parts = []any{f.args, f.env, s.dir, contents, s.unset, s.inherited, in.command.Read}
	}
	data, err := json.Marshal(parts)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

// programs implements Programs of [suite.Plan].
func (s *Suite) programs() (all []suite.Program) {
	for _, in := range s.inputs {
		if in.problem != "" {
			continue
		}
		f, err := s.fill(in, "output")
		if err == nil && !slices.ContainsFunc(all, func(p suite.Program) bool { return p.Name == f.args[0] }) {
			all = append(all, suite.Program{Name: f.args[0], Env: f.env})
		}
	}
	return all
}

// maxFile bounds a file that a program writes. Traces of large models have some
// ten MiB.
const maxFile = 64 << 20

// profile reads the sources in order. The first that is there gives total and
// operators, and the others what it lacks. A source that is there and broken is
// an error: half of a result must not look like a whole one, nor may a poorer
// source stand in for it without a word.
func (k *command) profile(response worker.Response, output, model string) (*optrace.Profile, error) {
	var p *optrace.Profile
	var tried []string
	for _, s := range k.Read {
		found, err := s.read(response, output, model)
		switch {
		case errors.Is(err, optrace.ErrNone):
			tried = append(tried, err.Error())
		case err != nil:
			return nil, err
		case p == nil:
			p = found
		default:
			complete(p, found)
		}
	}
	if p == nil {
		return nil, fmt.Errorf("no total was found: %s: look at read in the configuration, and at what the program printed",
			strings.Join(tried, "; "))
	}
	return p, nil
}

// read reads one source. The error is a [optrace.ErrNone] where it is not there:
// where standard output holds nothing of the format, or the file does not exist.
func (s source) read(response worker.Response, output, model string) (*optrace.Profile, error) {
	data := response.Stdout
	if s.File != "" {
		var err error
		data, err = suite.ReadResult(filepath.Join(output, s.File), s.where(), maxFile)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s was not written: %w", s.where(), optrace.ErrNone)
		}
		if err != nil {
			return nil, err
		}
	}
	p, err := optrace.Of(s.Format, model)(data)
	if s.File == "" && response.StdoutTruncated {
		return nil, errors.New(suite.Truncated)
	}
	switch {
	case s.File != "" && errors.Is(err, optrace.ErrNone):
		return nil, fmt.Errorf("%s was written and holds nothing that can be read as %s: %v", s.where(), s.Format, err)
	case err != nil:
		return nil, fmt.Errorf("%s, read as %s: %w", s.where(), s.Format, err)
	}
	return p, nil
}
