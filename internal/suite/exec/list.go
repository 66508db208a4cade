package exec

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/formats"
	"github.com/accelgate/accelgate/internal/matrix"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/worker"
)

// named returns the cell that has an id.
func (s *Suite) named(id string) bench.Cell {
	return s.cell(strings.TrimPrefix(id, s.body.Prefix))
}

// wide is how wide a terminal a harness may take for granted: pytest cuts reasons to it.
const wide = "COLUMNS=400"

// list has the harness run every benchmark once, and returns the plan with these.
func (s *Suite) list(ctx context.Context) (p suite.Plan, why string, err error) {
	why, err = s.findCells(ctx)
	return s.Plan(), why, err
}

// findCells adds the cells that the harness lists, and returns why some may be unknown.
func (s *Suite) findCells(ctx context.Context) (why string, err error) {
	output, err := os.MkdirTemp("", "exec-")
	if err != nil {
		return "", fmt.Errorf("make a folder for the program's result: %w: name another temporary folder with TMPDIR", err)
	}
	defer os.RemoveAll(output)
	args, err := s.body.listing(output)
	if err != nil {
		return "", err
	}
	request := worker.Request{Args: args, Dir: s.dir, Env: append(suite.Entries(s.body.Env), wide), Unset: s.unset, Timeout: s.body.Timeout}
	response, err := s.env.Worker.Do(ctx, request)
	if err != nil {
		return "", err
	}
	listed, err := s.listing(response, output)
	s.add(listed.Benchmarks)
	switch {
	case err != nil && response.OK():
		return err.Error(), nil
	case !listed.Whole || err != nil:
		return ended(response) + cutAt(listed), nil
	case len(listed.Benchmarks) == 0:
		return "the command lists no benchmark: correct list, or command", nil
	}
	return "", nil
}

// listing reads which benchmarks there are.
func (s *Suite) listing(response worker.Response, output string) (formats.Listing, error) {
	data, err := s.result(response, output)
	if _, none := errors.AsType[noFile](err); none {
		data, err = nil, nil
	}
	if err != nil {
		return formats.Listing{}, err
	}
	listed, err := formats.List(s.body.Read.Format, data, response.Stdout, response.ExitCode)
	if s.packages(listed.Benchmarks) {
		for i := range listed.Benchmarks {
			if b := &listed.Benchmarks[i]; b.Full != "" {
				b.Name = b.Full
			}
		}
	}
	return listed, err
}

// packages reports whether benchmarks of several packages of Go are listed, or might be:
// the name of one must not depend on what another package has.
func (s *Suite) packages(all []formats.Benchmark) bool {
	args := s.body.List
	if len(args) == 0 {
		args = s.body.Command
	}
	if slices.ContainsFunc(args, func(arg string) bool { return arg == "..." || strings.HasSuffix(arg, "/...") }) {
		return true
	}
	pkg := func(b formats.Benchmark) string { p, _ := formats.GoName(b.Full); return p }
	return slices.ContainsFunc(all, func(b formats.Benchmark) bool { return pkg(b) != pkg(all[0]) })
}

// add makes cells of the benchmarks, and skipped ones of those that are not measured.
func (s *Suite) add(all []formats.Benchmark) {
	used := map[string]bool{}
	for _, b := range all {
		cell := s.cell(b.Name)
		why := ""
		for _, glob := range s.body.Exclude {
			if matrix.Glob(glob, b.Name) {
				why, used[glob] = "left out by exclude: "+glob, true
			}
		}
		if why == "" && b.Skipped {
			why = strings.TrimPrefix(b.Failed, "skipped: ")
		}
		if why == "" {
			s.cells = append(s.cells, cell)
			continue
		}
		s.skipped = append(s.skipped, bench.Result{Cell: cell, Outcome: bench.Skipped, Reason: why})
	}
	for _, glob := range s.body.Exclude {
		if !used[glob] && len(all) > 0 {
			s.warnings = append(s.warnings, fmt.Sprintf("suite %s: exclude names %s, and no benchmark matches: correct or remove it",
				s.name, text.Quote(glob, 80)))
		}
	}
}

// cutAt names the benchmark that ran when the harness ended.
func cutAt(listed formats.Listing) string {
	name := listed.CutAt()
	if name == "" {
		return ""
	}
	return fmt.Sprintf("; it ended while %s ran: correct that benchmark, or keep list from running it", text.Quote(name, 200))
}

// ended returns how the harness ended, with the line of its output that says why.
func ended(response worker.Response) string {
	reason := response.Reason()
	line := text.Meaningful(strings.Split(response.Log, "\n"))
	if line == "" {
		return reason
	}
	return reason + ": " + text.Clip(text.OneLine(line), maxLine)
}

const maxLine = 300
